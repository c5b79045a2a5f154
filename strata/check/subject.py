"""What the checks of a memory work with: a maker of empty memories, and the order of calls of the runner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from strata.canonical import digest
from strata.check.samples import sample_stream
from strata.check.scripted import ScriptedBackbone, Spoiler, text_reply
from strata.embedding.wordllama import WordLlama
from strata.errors import TransientBackboneError
from strata.prompts import PromptLibrary
from strata.protocols import Memory
from strata.types import Episode, Json, MemoryContext, MemoryReport, Reply


class FailingOnce:
    """Lets every call through except one."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, text: str) -> Reply | Exception:
        self._left -= 1
        return TransientBackboneError("scripted failure") if self._left == -1 else text_reply(text)


class Maker:
    """Makes empty memories of one class and configuration."""

    def __init__(self, target: type[Memory], config: Mapping[str, Json], name: str = "") -> None:
        self.target, self.config, self.name = target, dict(config), name
        self._embedder = WordLlama()

    def __call__(self, spoil: Spoiler | None = None) -> Memory:
        return self.build(ScriptedBackbone(spoil=spoil))

    def build(self, backbone: ScriptedBackbone, **more: Json) -> Memory:
        """With this language model, and `more` keys in its configuration."""
        return self.target.build(
            {**self.config, **more},
            backbone=backbone,
            embedder=self._embedder,
            rng=lambda *key: random.Random(repr(key)),
            prompts=PromptLibrary(),
        )


def play(memory: Memory, episodes: Sequence[Episode]) -> tuple[list[bytes], list[MemoryContext], list[MemoryReport]]:
    """What the runner does for each episode; gives the deltas, what was shown and the reports."""
    deltas, shown, reports = [], [], []
    for episode in episodes:
        shown.append(memory.retrieve(episode.view, episode.start))
        reports.append(memory.reflect(replace(episode, context=shown[-1])))
        deltas.append(memory.changes())
    return deltas, shown, reports


def state_digest(make: Maker) -> str:
    """Digest of everything that a pass over the sample stream leaves."""
    memory = make()
    deltas, shown, _ = play(memory, sample_stream())
    return digest(b"".join([*deltas, memory.snapshot(), repr(shown).encode()]))
