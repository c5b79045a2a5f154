"""The commands as a user calls them: exit codes, messages, files, no traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from strata.analysis.figures.command import make_figures
from strata.analysis.report.command import make_report
from strata.analysis.tables.command import make_table
from strata.errors import DataError, StorageError, UsageError

Make = Callable[..., Any]
Command = Callable[[Sequence[str], Path], str]
COMMANDS: tuple[Command, ...] = (make_table, make_figures, make_report)


@pytest.fixture
def call(repository: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script from another folder."""

    def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(repository / "scripts" / f"{script}.py"), *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_a_table_is_printed_or_written(three_memories: Make, results: Path, call: Any) -> None:
    three_memories()
    printed = call("tables", "table=1", f"results_dir={results}")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout.startswith("## Table 1. Scores by memory and environment\n\n> **SIMULATED.")
    path = results / "tables" / "table1.tex"
    written = call("tables", "table=1", "format=latex", f"results_dir={results}", f"out={path}")
    assert (written.returncode, written.stdout) == (0, f"Wrote {path}\n")
    assert "\\toprule" in path.read_text()


def test_a_figure_is_written_as_picture_and_data(three_memories: Make, results: Path, call: Any) -> None:
    three_memories(seeds=(0,))
    done = call("figures", "figure=3", f"results_dir={results}")
    assert (done.returncode, done.stderr) == (0, "")
    names = sorted(path.name for path in (results / "figures").iterdir())
    assert names == ["figure3-sim_pro.csv", "figure3-sim_pro.pdf", "figure3-sim_pro.png"]
    assert (results / "figures" / "figure3-sim_pro.png").read_bytes().startswith(b"\x89PNG")
    assert (results / "figures" / "figure3-sim_pro.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("script", ["tables", "figures", "report"])
def test_nothing_found_is_exit_code_1_with_the_next_step(results: Path, call: Any, script: str) -> None:
    done = call(script, f"results_dir={results}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no run is there. Make a run, for example: python scripts/run.py" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("script", ["tables", "figures", "report"])
def test_bad_usage_is_exit_code_2_and_names_the_option(results: Path, call: Any, script: str) -> None:
    done = call(script, f"results_dir={results}", "nonsense=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("options.nonsense: unknown key.")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("make", COMMANDS)
@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("allow_partial=maybe", "options.allow_partial=maybe: must be true or false"),
        ("allow_partial=1", "must be true or false"),
        ("--fast", "'--fast': options are written key=value"),
        ("=1", "options are written key=value"),
        ("runs=a", "runs is given twice"),
        ("results_dir", "options are written key=value"),
    ],
)
def test_a_wrong_option_is_named(repository: Path, make: Command, word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make(["runs=*", word], repository)


@pytest.mark.parametrize(
    ("word", "message"),
    [("table=99", "There are: 1"), ("table=one", "must be a whole number"), ("format=docx", "one of md, latex, csv")],
)
def test_an_unknown_table_or_format_is_a_usage_error(repository: Path, word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_table([word], repository)


@pytest.mark.parametrize("make", COMMANDS)
def test_help_lists_the_options_with_their_defaults(repository: Path, make: Command) -> None:
    text = make(["--help"], repository)
    assert "results_dir=results: Folder with one folder per run." in text
    assert "allow_partial=false: " in text


def test_an_unfinished_run_is_exit_code_1_and_partial_results_are_marked(
    make_run: Make, results: Path, call: Any, repository: Path
) -> None:
    make_run({"heat-1": 100, "heat-2": None, "heat-3": None}, seed=7)
    refused = call("tables", f"results_dir={results}")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "seed=7" in refused.stderr
    allowed = make_table([f"results_dir={results}", "allow_partial=true"], repository)
    assert "1/3, seed 7<br>partial" in allowed


def test_a_damaged_run_names_file_and_line(make_run: Make, results: Path, repository: Path) -> None:
    path = make_run({"heat-1": 100}).path / "episodes.jsonl"
    path.write_text("{]\n")
    for make in COMMANDS:
        with pytest.raises(DataError, match=r"episodes\.jsonl:1: not valid JSON"):
            make([f"results_dir={results}"], repository)


def test_a_place_that_cannot_be_written_is_named(make_run: Make, results: Path, repository: Path) -> None:
    make_run({"heat-1": 100})
    (results / "file").write_text("x")
    for make in COMMANDS:
        with pytest.raises(StorageError, match=r"Cannot write .*Name another place: out="):
            make([f"results_dir={results}", f"out={results / 'file' / 'x'}"], repository)


def test_a_reader_that_leaves_early_gets_no_traceback(three_memories: Make, results: Path, repository: Path) -> None:
    three_memories(seeds=(0,))
    command = [sys.executable, str(repository / "scripts" / "tables.py"), f"results_dir={results}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
