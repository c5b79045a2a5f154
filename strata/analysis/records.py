"""What a run directory says, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from strata.types import Json, Outcome, Usage


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One entry of the task order in the manifest."""

    id: str
    category: str
    group: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was to be run. `identity` holds what is hashed into `run_id`; `tasks` are the planned ones, in order.

    `versions` and `config` are flat: nested keys are joined by dots, values are text or plain JSON.
    """

    run_id: str
    simulated: bool
    memory: str
    memory_label: str
    env: str
    backbone: str
    embedder: str
    seed: int
    split: str
    tasks: tuple[PlannedTask, ...]
    planned: int
    identity: Mapping[str, Json]
    config: Mapping[str, Json]
    prompts: Mapping[str, str]
    versions: Mapping[str, Json]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What the memory did in one episode. `stored` counts items after it; `lines` and `tokens` are what was shown.

    `added`, `changed` and `removed` name items, as do `injected`.
    """

    stored: int
    injected: tuple[str, ...]
    lines: int
    tokens: int
    flags: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    parse_failures: int


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One committed episode. Scores are percent; `score` is clipped to 0..100, `raw_score` may be negative."""

    index: int
    task_id: str
    category: str
    group: str
    outcome: Outcome
    score: float | None
    raw_score: float | None
    success: bool
    steps: int
    malformed: int
    usage: Mapping[str, Usage]
    memory: MemoryUse
    detail: str
    steps_file: str
    out_of_order: bool

    @property
    def scored(self) -> bool:
        """Whether the agent caused the ending, so that the score counts."""
        return self.outcome.scored


@dataclass(frozen=True)
class Run:
    """One run directory. `torn` tells that the last line was cut off by a crash and is not committed."""

    folder: Path
    manifest: Manifest
    episodes: tuple[EpisodeLine, ...]
    complete: bool
    torn: bool

    @cached_property
    def results(self) -> tuple[EpisodeLine, ...]:
        """The line that counts for each attempted task (the last one), in the order of first attempt."""
        return tuple({episode.task_id: episode for episode in self.episodes}.values())

    @cached_property
    def scored(self) -> tuple[EpisodeLine, ...]:
        """The results that have a score."""
        return tuple(episode for episode in self.results if episode.scored)

    @property
    def open(self) -> int:
        """How many planned tasks have no score: not run yet, or ended by trouble that is not the agent's."""
        return self.manifest.planned - len(self.scored)


@dataclass(frozen=True, slots=True)
class Event:
    """One logged decision of an episode: its kind and its numbers."""

    episode: int
    kind: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class TurnText:
    """One turn as written to disk."""

    thought: str
    action: str
    observation: str
    score: float
    malformed: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The texts of one episode: `start` is the first observation, `injected` what the memory showed.

    `unread` holds the raw replies of a last step that no action came out of.
    """

    instruction: str
    start: str
    turns: tuple[TurnText, ...]
    injected: str
    unread: tuple[str, ...]
