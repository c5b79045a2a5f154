"""scripts/run.py as a user meets it: exit status, one clear message, no traceback for mistakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness_doubles import lines_of

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ("--config-dir", str(ROOT / "tests" / "core" / "configs"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "core" / "doubles")}
BASIC = "hydra/launcher=basic"
PARTS = ("memory=lessons", "env=counting", "backbone=hashed", "embedder=length")


def command(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script in an empty folder, with results under it."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "run.py"), *CONFIGS, *arguments],
        env={**ENVIRONMENT, **environment},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )


def run_folders(place: Path) -> list[Path]:
    return sorted(path.parent for path in place.glob("results/*/manifest.json"))


def test_a_run_leaves_its_results_and_nothing_else(tmp_path: Path) -> None:
    done = command(tmp_path, *PARTS, "limit=3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "done: 3/3" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name.startswith("lessons-counting-hashed-s0-")


MISTAKES: list[tuple[list[str], int, list[str]]] = [
    (["memory=nope"], 2, ["Could not find 'memory/nope'", "lessons", "no_memory"]),
    (["nonsense=1"], 2, ["nonsense: unknown key"]),
    (["memory.kep=1"], 2, ["memory.kep: unknown key"]),
    (["~nonsense"], 2, ["nonsense: unknown key"]),
    (["seed=[1"], 2, ["seed=[1: cannot be read"]),
    (["seed"], 2, ["seed: cannot be read", "KEY=VALUE"]),
    (["limit=-1"], 2, ["limit=-1 must be 1 or more"]),
    (["limit=${nope}"], 2, ["Interpolation key 'nope' not found"]),
    (["-m", "hydra.launcher.n_jobs=many"], 2, ["n_jobs=many", "could not be converted to Integer"]),
    (["limit=???"], 2, ["Missing mandatory value: limit"]),
    (["agent.temperature=nan"], 2, ["temperature=nan must be 0 to 2"]),
    (["memory.keep=many"], 2, ["memory.keep=many: must be a whole number"]),
    (["+backbone.api_key=sk-1"], 2, ["+backbone.api_key: keys cannot be added"]),
    (["+prompts.agent.act=/no/such/file"], 2, ["Prompt agent/act: cannot read /no/such/file"]),
    (["env._target_=no.such.Thing"], 2, ["env._target_=no.such.Thing: cannot be imported"]),
    (["memory._target_=os.path.join"], 2, ["memory._target_=os.path.join: has no build()"]),
    (["env.description=${oc.env:HOME}"], 2, ["env.description", "only paths"]),
    (["protocol=frozen"], 2, ["memory.init_from=RUN"]),
    (["backbone.price=null", "budget.run_cost=1"], 2, ["price of hashed-1 is unknown"]),
    (["env.tasks=0"], 1, ["no task"]),
    (["backbone.error=BackboneRefused"], 1, ["the model says BackboneRefused"]),
    (["results_dir=/proc/nowhere"], 1, ["/proc/nowhere/lessons", "results_dir=FOLDER"]),
    (["env.broken=[test-01]", "retry.wait_seconds=0"], 3, ["test-01 met env_error", "start the same command again"]),
    (["env.broken=[test-01]", "retry.attempts=1", "on_error=skip"], 1, ["without a score: test-01"]),
    (["budget.run_tokens=300"], 3, ["budget.run_tokens"]),
]


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every mistake made in a process of its own; one folder each, by number."""
    place = tmp_path_factory.mktemp("mistakes")
    cases = [
        {"place": str(place / str(at) / "cwd"), "arguments": [*CONFIGS, *PARTS, *arguments]}
        for at, (arguments, _, _) in enumerate(MISTAKES)
    ]
    (place / "cases.json").write_text(json.dumps(cases))
    program = ROOT / "tests" / "core" / "many_commands.py"
    subprocess.run([sys.executable, str(program), str(place / "cases.json")], env=ENVIRONMENT, check=True, timeout=240)
    return place


@pytest.mark.parametrize("at", range(len(MISTAKES)), ids=lambda at: " ".join(MISTAKES[at][0]))
def test_a_mistake_gives_one_message_and_its_status(mistakes: Path, at: int) -> None:
    _, status, said = MISTAKES[at]
    place = mistakes / str(at)
    errors = (place / "stderr").read_text()
    assert int((place / "status").read_text()) == status, errors
    for text in said:
        assert text in errors
    assert "Traceback" not in errors
    assert "HYDRA_FULL_ERROR" not in errors
    assert "Error executing job" not in errors
    assert errors.count("Error: ") == (1 if status in (1, 2) else 0)
    before_any_run = status == 2 and "price" not in said[0]
    assert not (before_any_run and run_folders(place / "cwd"))


def test_a_sweep_runs_every_cell_and_lists_those_that_failed(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", *PARTS, "limit=2", "seed=0,-5,1")
    assert done.returncode == 1
    assert len(run_folders(tmp_path)) == 2
    assert all(len(lines_of(folder)) == 2 for folder in run_folders(tmp_path))
    assert "1 of 3 cells did not finish:" in done.stderr
    assert "seed=-5 must be 0 to" in done.stderr.partition("did not finish")[2]
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        *(folder.name for folder in run_folders(tmp_path)),
        ".sweeps",
    }
    (sweep,) = (tmp_path / "results" / ".sweeps").iterdir()
    codes = [json.loads(path.read_text())["code"] for path in sorted(sweep.glob("cell-*.json"))]
    assert codes == [0, 2, 0]


def test_a_bug_in_one_cell_stops_no_other_and_keeps_its_traceback(tmp_path: Path) -> None:
    (tmp_path / "buggy.py").write_text(
        "from harness_doubles import ListMemory\n\n\n"
        "class Buggy(ListMemory):\n    def reflect(self, episode):\n        return 1 / 0\n"
    )
    targets = "memory._target_=buggy.Buggy,harness_doubles.ListMemory"
    path = f"{ROOT / 'tests' / 'core' / 'doubles'}{os.pathsep}{tmp_path}"
    done = command(tmp_path, "-m", *PARTS, "limit=2", targets, BASIC, PYTHONPATH=path)
    assert done.returncode == 1
    assert "1 of 2 cells did not finish:" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert len(list(tmp_path.glob("results/*/complete.json"))) == 1


def test_a_wrong_group_in_a_sweep_is_found_before_anything_runs(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", *PARTS, "memory=lessons,nope")
    assert done.returncode == 2
    assert "Could not find 'memory/nope'" in done.stderr
    assert not run_folders(tmp_path)


def test_a_sweep_whose_results_folder_is_a_file_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        done = command(tmp_path, "-m", *PARTS, BASIC, f"results_dir={place}")
        assert done.returncode == 1
        assert "Choose results_dir=FOLDER" in done.stderr
        assert "Traceback" not in done.stderr


def test_api_keys_never_reach_a_file_or_the_screen(tmp_path: Path) -> None:
    planted = {"OPENAI_API_KEY": "sk-planted-111", "COUNTING_DATA": "/planted/222", "HF_TOKEN": "hf-planted-333"}
    runs = [
        command(tmp_path, "-m", *PARTS, "limit=2", "env.broken=[],[test-01]", "retry.attempts=1", BASIC, **planted),
        command(tmp_path, *PARTS, "env.description=${oc.env:OPENAI_API_KEY}", **planted),
    ]
    assert [done.returncode for done in runs] == [3, 2]
    said = "".join(done.stdout + done.stderr for done in runs)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) > 5_000
    assert "planted" not in said
    assert b"planted" not in written


def test_an_intruder_with_one_of_our_names_is_named(tmp_path: Path) -> None:
    (tmp_path / "strata").mkdir()
    (tmp_path / "strata" / "__init__.py").write_text("")
    done = command(tmp_path, *PARTS, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert f"Package strata would be imported from {tmp_path / 'strata'}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_killed_worker_is_said_and_the_sweep_goes_on_when_started_again(tmp_path: Path) -> None:
    sweep = ["-m", *PARTS, "env.tasks=20", "env.seconds=0.05", "seed=0,1"]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts" / "run.py"), *CONFIGS, *sweep],
        env=ENVIRONMENT,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("results/*/episodes.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    holder = next(worker for worker in workers(process.pid) if holds_a_run(worker))
    os.kill(holder, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "A worker of the sweep was killed" in said
    assert "Traceback" not in said
    again = command(tmp_path, *sweep, "limit=3")
    assert again.returncode == 0, again.stderr
    assert len(list(tmp_path.glob("results/*/complete.json"))) == 2


def workers(parent: int) -> list[int]:
    """Processes started by a process, from Linux's own table."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
        except OSError:
            continue
    return found


def holds_a_run(process: int) -> bool:
    return any(
        link.readlink().name == "run.lock" for link in Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()
    )
