"""No-Memory: the reference row. Reads nothing, writes nothing, costs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from strata.canonical import pack, unpack
from strata.errors import CorruptStateError
from strata.prompts import PromptLibrary
from strata.protocols import Backbone, Embedder, Rng
from strata.settings import read_settings
from strata.types import Episode, Json, MemoryContext, MemoryReport, Observation, TaskView

_STATE = {"memory": "no_memory", "format": 1}


@dataclass(frozen=True, slots=True)
class NoMemorySettings:
    """No-Memory has no settings; the class refuses any."""


class NoMemory:
    """A memory that stays empty."""

    @classmethod
    def build(
        cls, config: Mapping[str, Json], *, backbone: Backbone, embedder: Embedder, rng: Rng, prompts: PromptLibrary
    ) -> Self:
        """Raises UsageError when any key is given."""
        del backbone, embedder, rng, prompts
        read_settings(NoMemorySettings, config, where="memory")
        return cls()

    def retrieve(self, view: TaskView, observation: Observation) -> MemoryContext:
        """Nothing."""
        del view, observation
        return MemoryContext()

    def reflect(self, episode: Episode) -> MemoryReport:
        """Nothing."""
        del episode
        return MemoryReport()

    def changes(self) -> bytes:
        """Always the same bytes."""
        return pack(_STATE)

    def snapshot(self) -> bytes:
        """Always the same bytes."""
        return pack(_STATE)

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        """Only checks that the blobs are its own. Raises CorruptStateError."""
        for blob in [*([] if snapshot is None else [snapshot]), *deltas]:
            document, _ = unpack(blob, source="No-Memory state")
            if document != _STATE:
                raise CorruptStateError(f"This is not a state of No-Memory but of {document.get('memory')!r}.")

    def freeze(self) -> None:
        """Nothing changes anyway."""
