"""A run killed with SIGKILL at any point and started again ends byte-identical to one never killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from harness_doubles import Said, promised_bytes, run_settings

from strata.runner import run_pass

ROOT = Path(__file__).resolve().parents[2]
KILLING = Path(__file__).parent / "killing.py"


def kill_everywhere(folder: Path, **settings: Any) -> dict[str, int]:
    """Run the killing program. Its own assertions fail the test."""
    (folder / "settings.json").write_text(
        json.dumps({"folder": str(folder), "start": None, "stride": 1, **settings}), encoding="utf-8"
    )
    command = [sys.executable, str(KILLING), str(folder / "settings.json")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    summary: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return summary


def test_a_hard_killed_run_resumes_from_every_write_point(tmp_path: Path) -> None:
    summary = kill_everywhere(tmp_path, points=["system"], changes={"limit": 5, "snapshot_every": 2})
    assert summary["kills"] > 100
    assert summary["files"] >= 3 + 5 + 5 + 2 + 1


def test_a_run_killed_between_retrieval_and_commit_resumes(tmp_path: Path) -> None:
    summary = kill_everywhere(tmp_path, points=["parts"], changes={"limit": 4, "snapshot_every": 2})
    assert summary["kills"] > 40


def test_an_extension_killed_anywhere_ends_like_a_run_started_longer(tmp_path: Path) -> None:
    summary = kill_everywhere(
        tmp_path,
        points=["system"],
        start={"limit": 2, "snapshot_every": 2},
        changes={"limit": 4, "snapshot_every": 2},
    )
    assert summary["kills"] > 50


@pytest.mark.parametrize("protocol", ["online", "frozen"])
def test_a_run_that_starts_with_another_runs_memory_keeps_the_promise(tmp_path: Path, protocol: str) -> None:
    source = run_pass(run_settings(tmp_path / "source", limit=4), show=Said()).folder
    changes = {"limit": 4, "protocol": protocol, "memory": {"init_from": str(source)}, "env": {"split": "other"}}
    assert kill_everywhere(tmp_path, points=["system", "parts"], changes=changes, stride=7)["kills"] > 10


@pytest.mark.parametrize("memory", ["flat", "strata"])
def test_the_real_parts_keep_the_promise(tmp_path: Path, memory: str) -> None:
    parts = [f"memory={memory}", "env=alfworld", "backbone=simulated", "embedder=wordllama", "env.data=null"]
    changes = {"overrides": [*parts, "env.per_category=1", "limit=3", "snapshot_every=2"]}
    assert kill_everywhere(tmp_path, points=["system"], changes=changes, stride=29)["kills"] > 3


def command(results: Path, *overrides: str) -> list[str]:
    configs = ROOT / "tests" / "core" / "configs"
    parts = ["memory=lessons", "env=counting", "backbone=hashed", "embedder=length"]
    script = [sys.executable, str(ROOT / "scripts" / "run.py"), "--config-dir", str(configs)]
    return [*script, *parts, f"results_dir={results}", *overrides]


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "core" / "doubles")}


def only_run(results: Path) -> Path:
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return folder


def test_a_command_killed_at_many_random_moments_ends_like_one_never_killed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    slow = ["env.tasks=60", "env.seconds=0.004", "snapshot_every=7", "order=shuffled"]
    subprocess.run(command(tmp_path / "whole", *slow), env=environment, check=True, capture_output=True, cwd=tmp_path)
    chance = random.Random(20)
    kills = 0
    while not list((tmp_path / "killed").glob("*/complete.json")):
        begun = committed_bytes(tmp_path / "killed")
        process = subprocess.Popen(
            command(tmp_path / "killed", *slow), env=environment, stderr=subprocess.DEVNULL, cwd=tmp_path
        )
        wait_for(lambda: committed_bytes(tmp_path / "killed") > begun or process.poll() is not None)  # noqa: B023
        time.sleep(0.3 * chance.random())
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills >= 3
    assert promised_bytes(only_run(tmp_path / "killed")) == promised_bytes(only_run(tmp_path / "whole"))


def committed_bytes(results: Path) -> int:
    return sum(path.stat().st_size for path in results.glob("*/episodes.jsonl"))


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_a_second_process_on_the_same_run_is_refused_and_a_dead_one_is_no_obstacle(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    slow = ["env.tasks=30", "env.seconds=0.05"]
    first = subprocess.Popen(command(tmp_path, *slow), env=environment, stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        wait_for(lambda: list(tmp_path.glob("*/episodes.jsonl")))
        second = subprocess.run(
            command(tmp_path, *slow), env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=60
        )
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert second.returncode == 1
    assert "another process is working on this run" in second.stderr
    assert "Traceback" not in second.stderr
    committed = only_run(tmp_path).joinpath("episodes.jsonl").read_bytes()
    third = subprocess.run(
        command(tmp_path, *slow, "limit=2"), env=environment, capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert third.returncode == 0, third.stderr
    assert only_run(tmp_path).joinpath("episodes.jsonl").read_bytes().startswith(committed.rpartition(b"\n")[0])


def test_an_interrupted_command_ends_with_130_and_goes_on(tmp_path: Path, environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        command(tmp_path, "env.tasks=10", "env.seconds=0.05"),
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    wait_for(lambda: list(tmp_path.glob("*/episodes.jsonl")))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "start the same command again" in said
    assert "Traceback" not in said
