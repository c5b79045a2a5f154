"""The litellm embedder over real HTTP against a local server."""

from __future__ import annotations

import json

import numpy as np
import pytest
from werkzeug import Response

from strata.embedding.litellm import LitellmEmbedder
from strata.embedding.wordllama import WordLlama
from strata.errors import BackboneRefused, TransientBackboneError, UsageError

TEXTS = [f"put object {number} into drawer {number % 3}" for number in range(10)]


class Server:
    """Serves WordLlama's vectors, doubled in length and out of order, as an embedding API may."""

    def __init__(self):
        self.asked, self.faults, self.dimension = [], [], 256

    def __call__(self, request):
        body = request.get_json()
        self.asked.append(body)
        if self.faults:
            status, answer = self.faults.pop(0)
            return Response(json.dumps(answer), status=status, content_type="application/json")
        rows = WordLlama().embed(body["input"])[:, : self.dimension] * 2
        data = [{"object": "embedding", "index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
        answer = {"object": "list", "model": "e", "data": data[::-1], "usage": {"prompt_tokens": 5, "total_tokens": 5}}
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def server(httpserver):
    script = Server()
    httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(script)
    return script


@pytest.fixture
def build(httpserver):
    def make(**config):
        config = {"model": "openai/e1", "dimension": 256, "api_base": httpserver.url_for("/v1")} | config
        return LitellmEmbedder.build(config)

    return make


def test_vectors_come_in_the_order_of_the_texts_with_length_one(server, build):
    rows = build(batch_size=4).embed([*TEXTS, "", " "])
    assert np.abs(rows[:10] - WordLlama().embed(TEXTS)).max() < 1e-6
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0] * 10 + [0, 0], abs=1e-6)
    assert [len(body["input"]) for body in server.asked] == [4, 4, 2]


def test_cached_texts_are_not_paid_again(server, build, tmp_path):
    first = build(cache_dir=str(tmp_path)).embed(TEXTS)
    again = build(cache_dir=str(tmp_path)).embed(TEXTS[::-1])[::-1]
    assert first.tobytes() == again.tobytes()
    assert sum(len(body["input"]) for body in server.asked) == len(TEXTS)


@pytest.mark.usefixtures("server")
def test_vectors_of_another_length_are_refused_with_the_right_number(build):
    with pytest.raises(BackboneRefused, match=r"Set embedder\.dimension=256"):
        build(dimension=1536).embed(TEXTS)


def test_passing_failure_is_retried(server, build):
    server.faults = [(500, {"error": {"message": "oops"}})]
    embedder = build()
    embedder._caller._sleep = lambda _: None
    assert embedder.embed(TEXTS[:1]).any()
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": "no"}],
        [{"embedding": [1.0]}],
        [{"index": 0}],
        [],
        [{"index": 0, "embedding": [None] * 256}],
        [{"index": at, "embedding": [1.0] * 256} for at in (0, 1)],
    ],
)
def test_answer_without_vectors_is_a_passing_failure(server, build, data):
    wrong = {"object": "list", "model": "e", "data": data, "usage": {"prompt_tokens": 1}}
    server.faults = [(200, wrong)] * 9
    embedder = build(max_retries=1)
    embedder._caller._sleep = lambda _: None
    with pytest.raises(TransientBackboneError):
        embedder.embed(TEXTS[:1])


def test_wrong_key_names_the_group(server, build):
    server.faults = [(401, {"error": {"message": "no"}})]
    with pytest.raises(BackboneRefused, match=r"does not accept the key.*embedder\.api_key_env"):
        build().embed(TEXTS)


def test_model_must_be_named():
    with pytest.raises(UsageError, match=r"embedder.*model is not set"):
        LitellmEmbedder.build({})
