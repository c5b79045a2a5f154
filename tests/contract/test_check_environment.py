"""`python -m strata.check environment`: ALFWorld passes, and each usual mistake is found and named."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from envs.alfworld import AlfworldEnvironment
from strata.check.__main__ import main
from strata.check.environment import ENVIRONMENT_CHECKS, Maker
from strata.check.report import run_checks
from strata.types import EnvironmentGuide

DOC = Path(__file__).resolve().parents[2] / "docs" / "adding-an-environment.md"
_, CODE, _ = re.split(r"^```python\n|(?<=\n)```\n\nBeside", DOC.read_text(encoding="utf-8"), flags=re.M)
corridor = ModuleType("corridor")
exec(compile(CODE, str(DOC), "exec"), vars(corridor))
Corridor = corridor.Corridor


class RemembersThePlace(Corridor):
    def reset(self, task, *, seed):
        at = self._at
        super().reset(task, seed=seed)
        self._at = at
        return replace(super().reset(task, seed=seed), text=f"You were in room {at}.")


class ShowsTheTaskId(Corridor):
    def reset(self, task, *, seed):
        return replace(super().reset(task, seed=seed), instruction=f"solve {task.id}")


class RaisesOnNonsense(Corridor):
    def step(self, action):
        return super().step(
            replace(action, text={"go left": "go left", "go right": "go right", "take coin": "take coin"}[action.text])
        )


class ScoresInPoints(Corridor):
    def step(self, action):
        return replace(super().step(action), score=1000.0)


class SucceedsWithoutEnding(Corridor):
    def step(self, action):
        return replace(super().step(action), success=action.text in ("go left", "go right"), done=False)


class RepeatsIds(Corridor):
    def tasks(self):
        return super().tasks() * 2


class ShufflesTasks(Corridor):
    def tasks(self):
        return random.SystemRandom().sample(super().tasks(), k=len(super().tasks()))


class HasNoTasks(Corridor):
    def tasks(self):
        return []


class RollsDice(Corridor):
    def step(self, action):
        step = super().step(action)
        return replace(step, observation=replace(step.observation, text=f"{random.SystemRandom().random()}"))


class NumbersItsVersion(Corridor):
    def versions(self):
        return {"corridor": 1}


class HasNoActions(Corridor):
    def guide(self):
        return EnvironmentGuide("A corridor.", replace(super().guide().grammar, templates=()))


class NamesAnUnknownIrreversible(Corridor):
    def guide(self):
        return replace(super().guide(), grammar=replace(super().guide().grammar, irreversible=("burn {object}",)))


class HasNoLimit(Corridor):
    max_steps = 0


class BreaksOnSecondClose(Corridor):
    closed = False

    def close(self):
        if self.closed:
            raise OSError("already closed")
        self.closed = True


MISTAKES = {
    RemembersThePlace: "went differently the second time",
    ShowsTheTaskId: "is shown the task id coin-001",
    RaisesOnNonsense: "KeyError.*florble",
    ScoresInPoints: "not between -100 and 100",
    SucceedsWithoutEnding: "success but not done",
    RepeatsIds: "more than once.*coin-001",
    ShufflesTasks: "another order",
    HasNoTasks: "Raise DataError",
    RollsDice: "went differently the second time",
    NumbersItsVersion: r"not text: \['corridor'\]",
    HasNoActions: "grammar.templates is empty",
    NamesAnUnknownIrreversible: "burn",
    HasNoLimit: "max_steps",
    BreaksOnSecondClose: "already closed",
}


def faults(target, config):
    findings = run_checks(ENVIRONMENT_CHECKS, Maker(target, config))
    return "\n".join(str(finding) for finding in findings if finding.result == "fault")


@pytest.mark.parametrize("mistaken", MISTAKES, ids=lambda kind: kind.__name__)
def test_usual_mistake_is_found_and_named(mistaken):
    assert re.search(MISTAKES[mistaken], faults(mistaken, {"rooms": 9}))


def test_sound_environment_has_no_fault():
    assert faults(Corridor, {"rooms": 9}) == ""


def test_alfworld_has_no_fault(monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    assert faults(AlfworldEnvironment, {"per_category": 1}) == ""


def test_wrong_setting_is_reported_without_a_traceback(capsys):
    assert main(["environment", "envs.alfworld:AlfworldEnvironment", "no_such_key=1"]) == 1
    assert "env.no_such_key: unknown key" in capsys.readouterr().out
