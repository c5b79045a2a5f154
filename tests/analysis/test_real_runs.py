"""What the runner really writes is read back: guards against the two sides drifting apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strata.analysis.load import load_events, load_runs, load_trajectory
from strata.analysis.report.command import make_report
from strata.analysis.tables.command import make_table

PARTS = ("memory=lessons", "env=counting", "backbone=hashed", "embedder=length")


@pytest.fixture(scope="module")
def real(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with a run that was made, then extended, by scripts/run.py."""
    core, results = repository / "tests" / "core", tmp_path_factory.mktemp("real") / "results"
    for limit in (2, 4):
        command = [
            *(sys.executable, str(repository / "scripts" / "run.py"), "--config-dir", str(core / "configs")),
            *(*PARTS, f"limit={limit}", f"results_dir={results}", "hydra/launcher=basic"),
        ]
        environment = {**os.environ, "PYTHONPATH": str(core / "doubles")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    return results


def test_a_real_run_is_read_in_full(real: Path) -> None:
    (run,) = load_runs(real)
    lines = [json.loads(line) for line in (run.folder / "episodes.jsonl").read_text().splitlines()]
    assert run.complete
    assert not run.torn
    assert (run.manifest.planned, len(run.episodes), run.open) == (4, 4, 0)
    assert [episode.raw_score for episode in run.episodes] == [line["raw_score"] for line in lines]
    assert [episode.success for episode in run.episodes] == [line["success"] for line in lines]
    assert run.episodes[0].usage["act"].calls == lines[0]["usage"]["act"]["calls"] > 0
    assert run.folder.name == run.manifest.run_id
    assert {"seed", "protocol", "memory.name", "env.name"} <= set(run.manifest.identity)
    assert "python" in run.manifest.versions


def test_the_texts_and_decisions_of_a_real_run_are_read(real: Path) -> None:
    (run,) = load_runs(real)
    for episode in run.episodes:
        trajectory = load_trajectory(run, episode)
        assert trajectory.instruction
        assert len(trajectory.turns) == episode.steps
    assert len(load_events(run)) == sum(json.loads(line)["events"] for line in _lines(run.folder))


def test_table_and_report_are_made_of_a_real_run(real: Path, repository: Path) -> None:
    (run,) = load_runs(real)
    mean = 100 * sum(episode.success for episode in run.episodes) / 4
    table = make_table([f"results_dir={real}"], repository)
    assert f"{mean:.1f} (sd n/a)<br>4/4, seed 0" in table
    make_report([f"results_dir={real}"], repository)
    assert run.manifest.run_id in (real / "report" / "index.html").read_text(encoding="utf-8")


def _lines(folder: Path) -> list[str]:
    return (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
