"""Whole runs with backbone=litellm: the simulated agent served over HTTP must act as it does in the process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from werkzeug import Response

from strata.backbone.simulated import SimulatedBackbone
from strata.types import Message, Sampling

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-" + "planted-0123456789abcdef0123456789"
CELL = ["env=alfworld", "env.per_category=1", "embedder=wordllama", "progress=plain", "env.max_steps=15"]
KNOWN = ["backbone.price.kind=known", "backbone.price.input=1", "backbone.price.output=2"]


class SimulatedServer:
    """An OpenAI-compatible server with the simulated agent behind it."""

    def __init__(self):
        self.agent = SimulatedBackbone.build({"preset": "sim_pro"}, seed=0)
        self.calls = 0

    def __call__(self, request):
        self.calls += 1
        body = request.get_json()
        messages = [Message(message["role"], message["content"]) for message in body["messages"]]
        sampling = Sampling(temperature=body.get("temperature"), max_tokens=body.get("max_tokens"))
        reply = self.agent.complete(messages, sampling=sampling, purpose="act")
        usage = {"prompt_tokens": reply.usage.input_tokens, "completion_tokens": reply.usage.output_tokens}
        message = {"role": "assistant", "content": reply.text}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "served-sim",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def served(httpserver):
    server = SimulatedServer()
    server.config = ["backbone=litellm", "backbone.model=openai/sim", f"backbone.api_base={httpserver.url_for('/v1')}"]
    server.config += ["backbone.api_key_env=SERVED_KEY"]
    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(server)
    return server


def script(name, *words):
    kept = {key: value for key, value in os.environ.items() if key != "ALFWORLD_DATA"}
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / name), *words],
        cwd=ROOT,
        env={**kept, "SERVED_KEY": SECRET, "OPENAI_API_KEY": SECRET[::-1]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def episodes(results):
    (path,) = results.glob("*/episodes.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_run_over_http_equals_the_run_in_the_process(served, tmp_path):
    """Also when a cap on money has paused it in between; and no key is written or printed anywhere."""
    cell = [*CELL, "memory=strata", "limit=3"]
    near = script("run.py", *cell, f"results_dir={tmp_path / 'near'}")
    assert near.returncode == 0, near.stderr
    cell += [*served.config, *KNOWN, f"results_dir={tmp_path / 'far'}"]
    capped = script("run.py", *cell, "budget.run_cost=0.02")
    assert capped.returncode == 3, capped.stderr
    assert "budget.run_cost" in capped.stderr
    done = script("run.py", *cell, "budget.run_cost=5")
    assert done.returncode == 0, done.stderr
    pairs = list(zip(episodes(tmp_path / "near"), episodes(tmp_path / "far"), strict=True))
    for one, other in pairs:
        assert one["files"]["steps"]["sha256"] == other["files"]["steps"]["sha256"]
        assert one["files"]["delta"]["sha256"] == other["files"]["delta"]["sha256"]
        for purpose, usage in other["usage"].items():
            expected = one["usage"][purpose]
            assert (usage["calls"], usage["input_tokens"]) == (expected["calls"], expected["input_tokens"])
            assert usage["cost"] == pytest.approx((usage["input_tokens"] + usage["output_tokens"] * 2) / 1e6)
    committed = sum(usage["calls"] for _, line in pairs for usage in line["usage"].values())
    assert committed <= served.calls < 2 * committed
    (manifest,) = (tmp_path / "far").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["simulated"] is False
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for key in (SECRET, SECRET[::-1]):
        assert key.encode() not in written
        assert key not in done.stdout + done.stderr + capped.stdout + capped.stderr


def test_first_comparison_shows_an_estimate_and_ends_with_a_table(served, tmp_path):
    words = ["model=openai/sim", *served.config[2:], *CELL[1:], "hydra/launcher=basic", f"results_dir={tmp_path}"]
    unknown = script("first_real.py", "budget=1", "tasks=1", *words)
    assert unknown.returncode == 2
    assert "price" in unknown.stderr
    assert served.calls == 0
    done = script("first_real.py", "budget=1", "tasks=1", *words, *KNOWN)
    assert done.returncode == 0, done.stdout + done.stderr
    estimate = re.search(r"With openai/sim that costs \$([\d.]+), and up to \$([\d.]+)", done.stdout)
    assert estimate is not None
    assert served.calls > 0
    assert "No-Memory" in done.stdout
    assert "STRATA" in done.stdout
    assert SECRET not in done.stdout + done.stderr
