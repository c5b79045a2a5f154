"""`python -m strata.check memory`: each usual mistake is found and named."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
import uuid
from dataclasses import replace

import pytest

from baselines.flat_memory import FlatMemory
from strata.canonical import pack, unpack
from strata.check.__main__ import main
from strata.check.memory import MEMORY_CHECKS
from strata.check.report import run_checks
from strata.check.subject import Maker
from strata.errors import BackboneError, CorruptStateError
from strata.types import MemoryContext, MemoryReport


class SwallowsErrors(FlatMemory):
    """An endpoint error becomes an empty note."""

    def reflect(self, episode):
        try:
            return super().reflect(episode)
        except BackboneError:
            return MemoryReport()


class WritesBeforeAsking(FlatMemory):
    """A counter moves before the call that may fail, and restore does not know it."""

    count = 0

    def reflect(self, episode):
        self.count += 1
        return super().reflect(replace(episode, index=self.count))


class ForgetsTheCounter(FlatMemory):
    """The delta lacks what is needed to name the next record."""

    def changes(self):
        document, arrays = unpack(super().changes(), source="test")
        return pack(document | {"next": 0}, arrays)


class DrawsFromTheGlobalGenerator(FlatMemory):
    def retrieve(self, view, observation):
        context = super().retrieve(view, observation)
        return replace(context, text=f"{context.text} {random.random()}")


class UsesUuids(FlatMemory):
    def reflect(self, episode):
        return super().reflect(replace(episode, view=replace(episode.view, instruction=f"{uuid.uuid4()}")))


class CountsNoFailures(FlatMemory):
    def reflect(self, episode):
        return replace(super().reflect(episode), parse_failures=0)


class ThawsAgain(FlatMemory):
    def freeze(self):
        pass


class NamesByPosition(FlatMemory):
    def retrieve(self, view, observation):
        context = super().retrieve(view, observation)
        return replace(context, item_ids=tuple(str(at) for at in range(len(context.item_ids))))


class KeepsStateInTheClass(FlatMemory):
    shared: list = []  # noqa: RUF012  the mistake

    def retrieve(self, view, observation):  # noqa: ARG002
        self.shared.append(view.key)
        return MemoryContext(stored=len(self.shared), item_ids=tuple(self.shared), text="seen before")


class TakesAnything(FlatMemory):
    @classmethod
    def build(cls, config, **parts):
        return super().build({key: value for key, value in config.items() if key == "k"}, **parts)


class ReadsDamage(FlatMemory):
    def restore(self, snapshot, deltas):
        try:
            super().restore(snapshot, deltas)
        except CorruptStateError:
            super().restore(None, [])


class RaisesOnProse(FlatMemory):
    def _ask(self, episode, trajectory):
        text, events = super()._ask(episode, trajectory)
        if not text:
            raise IndexError("no text")
        return text, events


class LacksMethods:
    @classmethod
    def build(cls, config, backbone):  # noqa: ARG003
        return cls()


MISTAKES = {
    SwallowsErrors: "the memory hid it",
    WritesBeforeAsking: "came out different|not the final state|other deltas",
    ForgetsTheCounter: "is missing from changes",
    DrawsFromTheGlobalGenerator: "global `random`",
    UsesUuids: "uuid4",
    CountsNoFailures: "not counted in MemoryReport.parse_failures",
    ThawsAgain: "A frozen memory changed",
    NamesByPosition: "never list positions",
    KeepsStateInTheClass: "class or module level",
    TakesAnything: "accepts an unknown configuration key",
    ReadsDamage: "accepts a damaged snapshot",
    RaisesOnProse: r"IndexError: no text .*test_check_memory.py, line \d+",
    LacksMethods: "lacks: retrieve, reflect, changes, snapshot, restore, freeze",
}


def command_line(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "strata.check", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("mistaken", MISTAKES, ids=lambda kind: kind.__name__)
def test_usual_mistake_is_found_and_named(mistaken):
    findings = run_checks(MEMORY_CHECKS, Maker(mistaken, {}))
    text = "\n".join(str(finding) for finding in findings if finding.result == "fault")
    assert re.search(MISTAKES[mistaken], text), text


def test_iteration_over_a_set_is_found_in_another_process(tmp_path, monkeypatch):
    (tmp_path / "mistaken_memory.py").write_text(
        "from dataclasses import replace\nfrom baselines.flat_memory import FlatMemory\n"
        "class IteratesOverASet(FlatMemory):\n"
        "    def retrieve(self, view, observation):\n"
        "        context = super().retrieve(view, observation)\n"
        "        return replace(context, text=context.text and ' '.join({*context.text.split()}))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = command_line("memory", "mistaken_memory:IteratesOverASet")
    assert done.returncode == 1
    assert "iterating over a set" in done.stdout
    assert done.stdout.rstrip().endswith("1 of 11 checks failed.")


def test_sound_memory_passes_with_settings(capsys):
    assert main(["memory", "baselines.flat_memory:FlatMemory", "mode=trajectory", "capacity=2"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("no faults.")


def test_a_setting_that_is_null_stays_null_in_the_other_process(capsys):
    assert main(["memory", "baselines.flat_memory:FlatMemory", "capacity=null"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("no faults.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["memory", "baselines.flat_memory"], "write package.module:Class"),
        (["memory", ":FlatMemory"], "write package.module:Class"),
        (["memory", "no.such.module:X"], "cannot import no.such.module"),
        (["memory", "baselines.flat_memory:Missing"], "has no class Missing"),
        (["memory", "baselines.flat_memory:FlatMemory", "k"], "write key=value"),
        (["memory", "baselines.flat_memory:FlatMemory", "k=["], "is not YAML"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) <= 6


def test_wrong_setting_is_reported_by_the_checks():
    done = command_line("memory", "baselines.flat_memory:FlatMemory", "k=0")
    assert done.returncode == 1
    assert "k=0: must be at least 1" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_every_check_has_one_sentence_of_its_own():
    words = [check.__doc__.strip() for check in MEMORY_CHECKS]
    assert all("\n" not in text and text.endswith(".") for text in words)
    assert not [pair for pair in itertools.combinations(words, 2) if pair[0] == pair[1]]
