"""What is wrong on a command line or on the machine is said in one message, with the exit status it deserves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

Call = Any
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
BAD = {
    "unknown memory": (["memory=elephant"], 2, "elephant"),
    "unknown key": (["memory.elephants=3"], 2, "elephants"),
    "unknown key of the run": (["limmit=3"], 2, "limmit"),
    "impossible number": (["limit=0"], 2, "limit=0"),
    "impossible share": (["memory.retrieval.theta_min=7"], 2, "theta_min"),
    "text for a number": (["seed=many"], 2, "seed"),
    "missing data folder": (["env.data=no/such/folder"], 1, "no/such/folder"),
    "model missing": (["backbone=litellm"], 2, "backbone.model"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message_and_no_traceback(name: str, script: Call, tmp_path: Path) -> None:
    words, code, named = BAD[name]
    result = script("run.py", *words, f"results_dir={tmp_path}")
    assert result.returncode == code, result.stderr
    assert named in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 12


WRONG_OPTIONS = {
    "generate_games.py per_category=0": "per_category=0",
    "generate_games.py seed=-1": "game_seed=-1",
    "verify_alfworld.py split=nope": "split=nope",
    "verify_alfworld.py walks=-1": "walks",
    "bench_alfworld.py games=0": "games",
    "bench_scienceworld.py rounds=0": "rounds",
    "reproduce.py profile=nope": "profile=nope",
    "doctor.py env=nope": "env=nope",
    "first_real.py model=openai/x budget=much": "BUDGET",
    "first_real.py model=openai/x budget=1 seed=0,1": "one value for a KEY",
}


@pytest.mark.parametrize("words", WRONG_OPTIONS)
def test_a_wrong_option_of_a_script_is_named(words: str, script: Call) -> None:
    result = script(*words.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert WRONG_OPTIONS[words] in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["reproduce.py", "doctor.py", "verify_alfworld.py"])
def test_help_starts_nothing(name: str, script: Call) -> None:
    result = script(name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) >= 3


def test_a_decoy_package_is_named_by_every_script(call: Call, tmp_path: Path) -> None:
    decoy = tmp_path / "envs"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise SystemExit('the decoy was imported')\n")
    scripts = [path.name for path in sorted(SCRIPTS.glob("*.py")) if not path.name.startswith("_")]
    for name in scripts:
        command = (sys.executable, str(SCRIPTS / name))
        result = call(*command, extra={"PYTHONPATH": str(tmp_path)}, timeout=60)
        assert result.returncode == 1, f"{name}: {result.returncode} {result.stderr}"
        assert str(decoy) in result.stderr, f"{name}: {result.stderr}"
        assert "the decoy was imported" not in result.stderr
