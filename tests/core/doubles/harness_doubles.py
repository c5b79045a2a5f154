"""Tiny deterministic parts, so that the harness is tested without an engine, a model or a method.

They do real work: the environment is a counting game, the backbone reads its prompt and errs by a hash of it, the
memory changes in `retrieve` as well as in `reflect` and keeps true deltas.
"""

# ruff: noqa: ARG002, ARG003  signatures of the protocols

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strata.canonical import digest, pack, unpack
from strata.config import RunSettings
from strata.errors import (
    BackboneRefused,
    ContextOverflow,
    CorruptStateError,
    EnvironmentFailure,
    MemoryFailure,
    TransientBackboneError,
)
from strata.progress import Tally
from strata.settings import read_settings, setting
from strata.types import (
    Action,
    ActionGrammar,
    EnvironmentGuide,
    Episode,
    MemoryContext,
    MemoryReport,
    Observation,
    Reply,
    Step,
    Task,
    TaskView,
    Turn,
    Usage,
)


@dataclass(frozen=True)
class CountingSettings:
    tasks: int = setting(8, "how many tasks")
    split: str = setting("test", "a prefix of the task ids")
    max_steps: int = setting(6, "steps")
    description: str = setting("A counter.", "part of the guide")
    data: str | None = setting(None, "a path")
    data_hash: str = setting("d0", "pretended hash of the data")
    broken: tuple[str, ...] = setting((), "tasks whose reset always fails")
    seconds: float = setting(0.0, "how long each step takes")


class Counting:
    """Bring a counter to a number. `finish` ends the game."""

    name = "counting"

    def __init__(self, settings: CountingSettings) -> None:
        self.settings = settings
        self.max_steps = settings.max_steps
        self.closed = 0

    @classmethod
    def build(cls, config: Mapping[str, Any]) -> Counting:
        return cls(read_settings(CountingSettings, config, where="env"))

    def guide(self) -> EnvironmentGuide:
        return EnvironmentGuide(self.settings.description, ActionGrammar(("add {number}", "finish"), ("finish",)))

    def versions(self) -> Mapping[str, str]:
        return {"engine": "1", "data_hash": self.settings.data_hash}

    def tasks(self) -> Sequence[Task]:
        ids = [f"{self.settings.split}-{number:02d}" for number in range(self.settings.tasks)]
        return [Task(id=name, category="ab"[at % 2], group="ab"[at % 2]) for at, name in enumerate(ids)]

    def reset(self, task: Task, *, seed: int) -> Observation:
        if task.id in self.settings.broken:
            raise EnvironmentFailure(f"the board of {task.id} is stuck")
        self.goal = 1 + int(digest(f"{task.id} {seed}")[:4], 16) % 4
        self.count = 0
        return Observation(f"Counter: 0 of {self.goal}.", f"bring the counter to {self.goal}", ("add 1", "add 2"))

    def step(self, action: Action) -> Step:
        time.sleep(self.settings.seconds)
        if action.text == "finish":
            won = self.count == self.goal
            return Step(Observation("The end."), 100.0 if won else -100.0, done=True, success=won)
        if action.text in ("add 1", "add 2"):
            self.count += int(action.text[-1])
        text = f"Counter: {self.count} of {self.goal}."
        return Step(Observation(text, admissible=("add 1", "add 2")), 50.0 * (self.count == self.goal), False, False)

    def close(self) -> None:
        self.closed += 1


@dataclass(frozen=True)
class HashedSettings:
    price: float | None = setting(0.001, "dollars a call; null: unknown")
    error: str = setting("", "what every call raises")


ERRORS = {error.__name__: error for error in (BackboneRefused, ContextOverflow, TransientBackboneError)}


class Hashed:
    """Counts mostly right. A hash of the conversation decides on slips and on replies that cannot be read."""

    name = "hashed"
    simulated = True

    def __init__(self, settings: HashedSettings, seed: int) -> None:
        self.settings, self.seed, self.calls = settings, seed, 0

    @classmethod
    def build(cls, config: Mapping[str, Any], *, seed: int) -> Hashed:
        return cls(read_settings(HashedSettings, config, where="backbone"), seed)

    def complete(self, messages: Sequence[Any], *, sampling: Any, purpose: str, repeat: int = 0) -> Reply:
        self.calls += 1
        if self.settings.error:
            raise ERRORS[self.settings.error](f"the model says {self.settings.error}")
        talk = "\n".join(f"{message.role}: {message.content}" for message in messages)
        chance = int(digest(f"{self.seed} {purpose} {repeat} {talk}")[:4], 16)
        text = f"lesson {chance}" if purpose == "note" else self._act(talk, chance)
        usage = Usage(1, len(talk) // 4, len(text) // 4, cost=self.settings.price)
        return Reply(text, usage, model="hashed-1", seconds=0.0)

    def _act(self, talk: str, chance: int) -> str:
        told = talk.rpartition("\nuser: ")[2]
        if chance % 5 == 0 and not told.startswith("Your reply could not be read:"):
            return "Let me think about it."
        count, goal = talk.rpartition("Counter: ")[2].split(".")[0].split(" of ")
        missing = int(goal) - int(count)
        careful = f"to {goal}" in talk.partition("Lessons:")[2].partition("\nuser: ")[0]
        if chance % 3 == 0 and not careful:
            return "Thought: a slip\nAction: add 2"
        action = "finish" if missing <= 0 else f"add {min(missing, 2)}"
        return f"Thought: {missing} to go\nAction: {action}"


@dataclass(frozen=True)
class ListSettings:
    keep: int = setting(6, "the oldest lesson beyond this is dropped")
    mute: bool = setting(False, "never stores anything")
    error: str = setting("", "what reflect raises")


class ListMemory:
    """Lessons in a list. Showing one changes its count, so an abandoned `retrieve` must be undone."""

    def __init__(self, settings: ListSettings, backbone: Any, rng: Any) -> None:
        self.settings, self.backbone, self.rng = settings, backbone, rng
        self.items: list[dict[str, Any]] = []
        self.made = 0
        self.frozen = False
        self.pending: list[list[Any]] = []

    @classmethod
    def build(cls, config: Mapping[str, Any], *, backbone: Any, embedder: Any, rng: Any, prompts: Any) -> ListMemory:
        return cls(read_settings(ListSettings, config, where="memory"), backbone, rng)

    def retrieve(self, view: TaskView, observation: Observation) -> MemoryContext:
        shown = [item for item in self.items if item["group"] == view.group][-2:]
        if not self.frozen:
            self._do(["shown", [item["id"] for item in shown]])
        text = "\n".join(["Lessons:", *(f"{item['text']}, shown {item['shown']}" for item in shown)]) if shown else ""
        ids = tuple(item["id"] for item in shown)
        return MemoryContext(
            text, ids, len(self.items), ("lesson",) if shown else (), ({"kind": "shown", "n": len(ids)},)
        )

    def reflect(self, episode: Episode) -> MemoryReport:
        if self.settings.error:
            raise MemoryFailure(f"the memory says {self.settings.error}")
        if self.frozen or self.settings.mute:
            return MemoryReport(stored=len(self.items))
        message = [_Note("user", f"{episode.view.instruction}: {[turn.action for turn in episode.turns]}")]
        lesson = self.backbone.complete(message, sampling=None, purpose="note").text
        name = f"m{self.made}"
        luck = self.rng("lesson", episode.index).random()
        text = f"{episode.view.instruction} ({lesson}, {luck:.3f}, {episode.success})"
        self._do(["add", {"id": name, "group": episode.view.group, "text": text, "shown": 0}])
        removed = [item["id"] for item in self.items[: max(0, len(self.items) - self.settings.keep)]]
        if removed:
            self._do(["drop", removed])
        return MemoryReport((name,), (), tuple(removed), len(self.items), 0, ({"kind": "added", "id": name},))

    def changes(self) -> bytes:
        pending, self.pending = self.pending, []
        return pack({"kind": "delta", "ops": pending})

    def snapshot(self) -> bytes:
        self.pending = []
        return pack({"kind": "whole", "items": self.items, "made": self.made}, {"shown": self._shown()})

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        whole = {"items": [], "made": 0} if snapshot is None else unpack(snapshot, source="ListMemory")[0]
        self.items, self.made = whole["items"], whole["made"]
        for blob in deltas:
            document, _ = unpack(blob, source="ListMemory")
            if document.get("kind") != "delta":
                raise CorruptStateError("ListMemory: not a delta")
            for operation in document["ops"]:
                self._do(operation)
        self.pending = []

    def freeze(self) -> None:
        self.frozen = True

    def _shown(self) -> np.ndarray[Any, Any]:
        return np.array([item["shown"] for item in self.items], dtype=np.int64)

    def _do(self, operation: list[Any]) -> None:
        kind, what = operation
        self.pending.append(operation)
        if kind == "add":
            self.items.append(dict(what))
            self.made += 1
        elif kind == "drop":
            self.items = [item for item in self.items if item["id"] not in what]
        else:
            for item in self.items:
                item["shown"] += item["id"] in what


class ToolListMemory(ListMemory):
    """Also answers `lessons {number}` during the episode and comments on each step."""

    told = 0

    def tools(self) -> Sequence[str]:
        return ("lessons {number}",)

    def call_tool(self, command: str) -> str | None:
        self.told += 1
        return f"{len(self.items)} lessons" if command.startswith("lessons") else None

    def before_step(self, turns: Sequence[Turn], observation: Observation) -> str:
        return f"Hint {len(turns)}."

    def after_step(self, turn: Turn) -> None:
        self.last = turn


@dataclass(frozen=True)
class _Note:
    role: str
    content: str


class FlatEmbedder:
    """One number per text."""

    name = "length"
    dimension = 1

    @classmethod
    def build(cls, config: Mapping[str, Any]) -> FlatEmbedder:
        return cls()

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return np.array([[float(bool(text))] for text in texts], dtype=np.float32)


def run_settings(results: Path | str, **changes: Any) -> RunSettings:
    """Settings of a run with these parts. Changes that are mappings are merged, others replace."""
    values: dict[str, Any] = {
        "memory": {"_target_": "harness_doubles.ListMemory", "name": "lessons", "init_from": None},
        "env": {"_target_": "harness_doubles.Counting", "name": "counting", "split": "test"},
        "backbone": {"_target_": "harness_doubles.Hashed", "name": "hashed"},
        "embedder": {"_target_": "harness_doubles.FlatEmbedder", "name": "length"},
        "retry": {"attempts": 3, "wait_seconds": 0.0},
        "results_dir": str(results),
        "snapshot_every": 3,
    }
    for key, value in changes.items():
        values[key] = {**values.get(key, {}), **value} if isinstance(value, dict) else value
    return read_settings(RunSettings, values, where="config")


class Said:
    """A display that remembers."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.updates: list[Tally] = []
        self.started: list[str] = []

    def start(self, title: str, tally: Tally) -> None:
        self.started.append(title)

    def update(self, tally: Tally) -> None:
        self.updates.append(tally)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def finish(self, tally: Tally, folder: Path) -> None:
        pass

    def close(self) -> None:
        pass


OUTSIDE_THE_PROMISE = {"timings.jsonl", "host.json", "run.lock"}


def promised_bytes(folder: Path) -> dict[str, bytes]:
    """Everything in a run directory that a killed and resumed run must reproduce."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if name not in OUTSIDE_THE_PROMISE}


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """The committed lines."""
    return [json.loads(text) for text in (folder / "episodes.jsonl").read_text().splitlines()]
