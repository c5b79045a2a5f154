"""From a command line to runs, a table and charts; again at once; without a secret in any file."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Sweep = Any
Call = Any

MEMORIES = {"no_memory": "No-Memory", "flat": "Flat-Memory", "strata": "STRATA"}


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Hash and modification time of every file."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_sweep_ends_with_three_finished_runs_of_three_episodes(sweep: Sweep) -> None:
    assert sweep.first.returncode == 0, sweep.first.stderr
    assert set(sweep.folders()) == set(MEMORIES)
    for folder in sweep.folders().values():
        lines = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
        assert len(lines) == 3
        assert all(line["scored"] and 0 <= line["score"] <= 100 for line in lines)
        assert json.loads((folder / "manifest.json").read_text())["simulated"] is True
        assert json.loads((folder / "complete.json").read_text())["episodes"] == 3


def test_progress_is_visible_without_a_terminal(sweep: Sweep) -> None:
    assert len([line for line in sweep.first.stderr.splitlines() if "score" in line]) >= 3


def test_the_memories_met_the_same_tasks_in_the_same_order(sweep: Sweep) -> None:
    orders = {
        tuple(task["id"] for task in json.loads((folder / "manifest.json").read_text())["tasks"])
        for folder in sweep.folders().values()
    }
    assert len(orders) == 1


def test_a_memory_acts(sweep: Sweep) -> None:
    for name in ("flat", "strata"):
        text = (sweep.folders()[name] / "episodes.jsonl").read_text()
        assert [json.loads(line)["memory"]["stored"] for line in text.splitlines()][-1] > 0


def test_started_again_a_finished_sweep_changes_no_byte_and_plays_nothing(sweep: Sweep) -> None:
    before = {name: contents(folder) for name, folder in sweep.folders().items()}
    again = sweep.run()
    assert again.returncode == 0, again.stderr
    assert {name: contents(folder) for name, folder in sweep.folders().items()} == before


@pytest.mark.parametrize("format", ["md", "latex", "csv"])
def test_the_table_names_every_memory_and_says_that_it_is_simulated(sweep: Sweep, script: Call, format: str) -> None:
    result = script("tables.py", "table=1", f"format={format}", f"results_dir={sweep.results}")
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout or label in result.stdout for name, label in MEMORIES.items())
    assert "simulated" in result.stdout.lower()


def test_radar_charts_are_drawn_with_their_data_beside(sweep: Sweep, script: Call, tmp_path: Path) -> None:
    result = script("figures.py", "figure=3", f"results_dir={sweep.results}", f"out={tmp_path}")
    assert result.returncode == 0, result.stderr
    assert [path for path in tmp_path.rglob("*.png") if path.read_bytes().startswith(b"\x89PNG")]
    assert [path for path in tmp_path.rglob("*.csv") if "strata" in path.read_text().lower()]


def test_a_key_in_the_environment_is_in_no_file_and_no_output(sweep: Sweep, planted: list[str]) -> None:
    texts = [path.read_bytes() for path in sweep.results.rglob("*") if path.is_file()]
    texts += [sweep.first.stdout.encode(), sweep.first.stderr.encode()]
    assert len(texts) > 20
    assert not [text for text in texts for key in planted if key.encode() in text]


def test_a_key_is_not_shown_when_the_endpoint_cannot_be_reached(
    script: Call, planted: list[str], tmp_path: Path
) -> None:
    result = script(
        "run.py",
        "memory=no_memory",
        "env.per_category=1",
        "limit=1",
        "embedder=wordllama",
        "backbone=litellm",
        "backbone.model=openai/some-model",
        "backbone.api_base=http://127.0.0.1:9/v1",
        "backbone.api_key_env=OPENAI_API_KEY",
        "backbone.max_retries=0",
        "retry.attempts=1",
        f"results_dir={tmp_path}",
    )
    assert result.returncode in (1, 3)
    assert "127.0.0.1:9" in result.stderr
    assert "Traceback" not in result.stderr
    files = [path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert not [text for text in (result.stdout, result.stderr, *files) for key in planted if key in text]


def test_a_simulated_run_imports_no_model_client_and_no_framework(call: Call, tmp_path: Path) -> None:
    program = (
        "import runpy, sys\n"
        "try:\n    runpy.run_path('scripts/run.py', run_name='__main__')\n"
        "except SystemExit as end:\n    print('status', end.code)\n"
        "print(sorted({'litellm', 'torch', 'openai', 'transformers', 'wandb', 'spacy', 'pandas'} & set(sys.modules)))"
    )
    words = ["memory=strata", "env.per_category=1", "limit=1", "embedder=wordllama", f"results_dir={tmp_path}"]
    result = call(sys.executable, "-c", program, *words)
    assert result.stdout.split("\n")[-3:-1] == ["status 0", "[]"], result.stdout + result.stderr


def test_make_reproduce_in_small(call: Call, tmp_path: Path) -> None:
    """The real recipe with the cells cut down; `-o setup` because this very environment is running the test."""
    command = (
        "make",
        "-o",
        "setup",
        "reproduce",
        f"PYTHON={sys.executable}",
        f"RESULTS={tmp_path / 'results'}",
        "JOBS=2",
        "ARGS=memory=no_memory,strata seed=0 limit=2 embedder=wordllama",
    )
    result = call(*command)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "No-Memory" in result.stdout
    assert "simulated" in result.stdout.lower()
    for name in ("tables/table1.md", "tables/table1.tex", "tables/table1.csv"):
        assert (tmp_path / "results" / name).stat().st_size > 100
    assert list((tmp_path / "results/figures").glob("*.png"))
    marker = next((tmp_path / "results").glob("strata-alfworld-*/complete.json")).stat().st_mtime_ns
    assert call(*command).returncode == 0
    assert next((tmp_path / "results").glob("strata-alfworld-*/complete.json")).stat().st_mtime_ns == marker


def test_the_notebook_runs_from_its_first_cell_to_its_last(sweep: Sweep, call: Call) -> None:
    cells = json.loads((ROOT / "notebooks/first_look.ipynb").read_text(encoding="utf-8"))["cells"]
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    result = call(sys.executable, "-c", program, extra={"STRATA_RESULTS": str(sweep.results)})
    assert result.returncode == 0, result.stderr
    assert "3 runs, 9 episodes, all simulated: True" in result.stdout
