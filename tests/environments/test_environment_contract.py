"""What every environment must do, by the checks that `python -m strata.check environment` runs for anybody's class."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from strata.check.environment import ENVIRONMENT_CHECKS, Maker
from strata.check.report import Note
from strata.protocols import Environment
from strata.types import Action


@dataclass(frozen=True)
class Candidate:
    """An environment under test: its class, and its config from the fixtures that it needs."""

    label: str
    target: str
    config: Callable[[pytest.FixtureRequest], Mapping[str, Any]]

    def load(self) -> type[Environment]:
        module, _, name = self.target.partition(":")
        found: type[Environment] = getattr(import_module(module), name)
        return found


def _alfworld(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    request.getfixturevalue("generated")
    return {"per_category": 1, "cache_dir": str(request.getfixturevalue("alfworld_cache"))}


def _scienceworld(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    del request
    return {"suite": "all30"}


CANDIDATES = [
    Candidate("alfworld", "envs.alfworld:AlfworldEnvironment", _alfworld),
    Candidate("scienceworld", "envs.scienceworld:ScienceWorldEnvironment", _scienceworld),
]


@pytest.fixture(scope="module", params=CANDIDATES, ids=lambda candidate: candidate.label)
def make(request) -> Iterator[Maker]:
    maker = Maker(request.param.load(), request.param.config(request))
    yield maker
    maker.close()


@pytest.fixture(scope="module")
def target(make) -> str:
    return f"{make.target.__module__}:{make.target.__name__}"


@pytest.mark.parametrize("check", ENVIRONMENT_CHECKS, ids=lambda check: check.__name__)
def test_contract(make, check) -> None:
    try:
        check(make)
    except Note as note:
        pytest.fail(str(note))


def test_the_first_observation_names_neither_category_nor_group(make) -> None:
    """A label that is a single word, such as boil, may be the word that says what to do."""
    for task in make().tasks():
        seen = make().reset(task, seed=0)
        shown = seen.instruction + seen.text
        for label in (task.category, task.group):
            assert label.isalpha() or label not in shown


_PLAY = """
import json, sys
from importlib import import_module
from strata.types import Action
module, _, name = sys.argv[1].partition(":")
environment = getattr(import_module(module), name).build(json.loads(sys.argv[2]))
shown = [repr(environment.guide()), dict(environment.versions()), [repr(task) for task in environment.tasks()]]
for task in (environment.tasks()[0], environment.tasks()[-1]):
    shown.append(repr(environment.reset(task, seed=3)))
    for command in json.loads(sys.argv[3]):
        shown.append(repr(environment.step(Action(command))))
environment.close()
print(json.dumps(shown))
"""


def test_same_seed_other_process_same_bytes(make, target) -> None:
    """Sets and hashes iterate differently in each process; nothing of that may be seen."""
    commands = list(make().reset(make().tasks()[0], seed=3).admissible[:4]) or ["look around", "inventory"]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _PLAY, target, json.dumps(make.config), json.dumps(commands)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=240,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(json.loads(outputs.pop())) > 5


def test_an_episode_leaves_the_command_line_and_working_directory_alone(make, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "env=x"])
    before = Path.cwd()
    environment = make(another=True)
    environment.reset(environment.tasks()[0], seed=0)
    environment.step(Action("look"))
    assert sys.argv == ["run.py", "env=x"]
    assert Path.cwd() == before
