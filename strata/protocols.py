"""The four parts of an experiment that can be exchanged, as structural types.

Nothing has to inherit from these: a class with the methods is enough. `python -m strata.check` tries one out.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from strata.types import (
    Action,
    EnvironmentGuide,
    Episode,
    Json,
    MemoryContext,
    MemoryReport,
    Message,
    Observation,
    Reply,
    Sampling,
    Step,
    Task,
    TaskView,
    Turn,
)

if TYPE_CHECKING:
    from strata.prompts import PromptLibrary

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimension). Rows have length 1, or 0 for an empty text."""


@runtime_checkable
class Backbone(Protocol):
    """A language model behind a chat interface."""

    name: str

    def complete(self, messages: Sequence[Message], *, sampling: Sampling, purpose: str, repeat: int = 0) -> Reply:
        """Answer a conversation.

        `purpose` names the call in the accounts (act, tag, route, reflect, judge, ...). `repeat` tells apart calls
        that are equal in everything else and shall be sampled anew.

        Raises BackboneError (see `strata.errors`) or Paused.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """A text encoder. Equal text gives equal vectors, whatever else is embedded in the same call."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order."""
        ...


class Rng(Protocol):
    """A source of random generators. Stateless: equal keys give generators with equal output, so nothing to store."""

    def __call__(self, *key: str | int) -> random.Random: ...


class Memory(Protocol):
    """Experience that outlives an episode.

    For each episode the runner calls `retrieve` once, then `reflect` once, then `changes` once, and commits. When
    an episode is abandoned it calls `restore` instead, so whatever `retrieve` altered is undone.
    Equal state must give equal bytes.
    """

    @classmethod
    def build(
        cls, config: Mapping[str, Json], *, backbone: Backbone, embedder: Embedder, rng: Rng, prompts: PromptLibrary
    ) -> Self:
        """Make an empty memory from its config group. Raises UsageError on a wrong key or value."""
        ...

    def retrieve(self, view: TaskView, observation: Observation) -> MemoryContext:
        """What to show the agent for this task."""
        ...

    def reflect(self, episode: Episode) -> MemoryReport:
        """Learn from a finished episode."""
        ...

    def changes(self) -> bytes:
        """The canonical delta since the last call of `changes`, `snapshot` or `restore`."""
        ...

    def snapshot(self) -> bytes:
        """The whole state, canonical."""
        ...

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        """Replace the state by a snapshot (`None`: empty) and the deltas after it. Raises CorruptStateError."""
        ...

    def freeze(self) -> None:
        """From now on `reflect` changes nothing, nor does `retrieve`."""
        ...


@runtime_checkable
class StepwiseMemory(Protocol):
    """A memory that also acts between steps."""

    def before_step(self, turns: Sequence[Turn], observation: Observation) -> str:
        """Text shown for the next step alone; empty for none."""
        ...

    def after_step(self, turn: Turn) -> None:
        """Told of each finished turn."""
        ...


@runtime_checkable
class ToolMemory(Protocol):
    """A memory that the agent uses through tools during the episode."""

    def tools(self) -> Sequence[str]:
        """Command templates such as `skill_view {name}`, offered beside the environment's actions."""
        ...

    def call_tool(self, command: str) -> str | None:
        """The tool's answer, or None when the command is not one of its tools."""
        ...


class Environment(Protocol):
    """A world with tasks. One instance serves one episode at a time."""

    name: str
    max_steps: int

    def guide(self) -> EnvironmentGuide:
        """What the agent is told about the world and its actions."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Names and versions of engine and data, with a hash of the data, for the manifest."""
        ...

    def tasks(self) -> Sequence[Task]:
        """The tasks of the configured split and selection, ordered by id. Raises DataError when there are none."""
        ...

    def reset(self, task: Task, *, seed: int) -> Observation:
        """Start a task. Raises EnvironmentFailure."""
        ...

    def step(self, action: Action) -> Step:
        """Carry out one action. An action the world does not know is answered by the world, not by an exception."""
        ...

    def close(self) -> None:
        """Release processes and files. May be called more than once."""
        ...
