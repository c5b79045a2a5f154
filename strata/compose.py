"""From settings to live objects. Classes are named by `_target_`: nothing here knows an environment or a memory.

Each class makes itself: `Memory.build(config, backbone=, embedder=, rng=, prompts=)`, `Environment.build(config)`,
`Backbone.build(config, seed=)`, `Embedder.build(config)`, where `config` is its group without `_target_`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from strata.canonical import digest, dumps
from strata.config import GROUPS, RunSettings, prompt_files
from strata.errors import UsageError
from strata.prompts import PromptLibrary
from strata.protocols import Backbone, Embedder, Environment, Memory, Rng
from strata.types import Json

_OWN_KEYS = ("_target_", "init_from")


@dataclass(frozen=True, slots=True)
class Parts:
    """The exchangeable parts of a run, except the memory, which needs the others."""

    environment: Environment
    backbone: Backbone
    embedder: Embedder
    prompts: PromptLibrary


@contextmanager
def open_parts(settings: RunSettings) -> Iterator[Parts]:
    """Build the parts; close the environment at the end. Raises UsageError, DataError."""
    for group in GROUPS:
        _class(getattr(settings, group), group)
    prompts = PromptLibrary(prompt_files(settings.prompts))
    backbone = _class(settings.backbone, "backbone").build(_own(settings.backbone), seed=settings.seed)
    embedder = _class(settings.embedder, "embedder").build(_own(settings.embedder))
    environment = _class(settings.env, "env").build(_own(settings.env))
    try:
        yield Parts(environment, backbone, embedder, prompts)
    finally:
        environment.close()


def build_memory(settings: RunSettings, *, backbone: Backbone, embedder: Embedder, prompts: PromptLibrary) -> Memory:
    """An empty memory. Raises UsageError."""
    cls = _class(settings.memory, "memory")
    memory: Memory = cls.build(
        _own(settings.memory), backbone=backbone, embedder=embedder, rng=SeededRng(settings.seed), prompts=prompts
    )
    return memory


@dataclass(frozen=True, slots=True)
class SeededRng(Rng):
    """Random generators for a memory: a function of the run's seed and the key, nothing to store between episodes."""

    seed: int

    def __call__(self, *key: str | int) -> random.Random:
        return random.Random(int(digest(dumps([self.seed, *key]))[:16], 16))


def _own(values: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in values.items() if key not in _OWN_KEYS}


def _class(values: Mapping[str, Json], group: str) -> Any:
    target = str(values["_target_"])
    module, _, name = target.rpartition(".")
    try:
        cls = getattr(import_module(module), name)
    except (ImportError, ValueError, AttributeError) as error:
        raise UsageError(f"{group}._target_={target}: cannot be imported ({error}).") from error
    if not callable(getattr(cls, "build", None)):
        raise UsageError(f"{group}._target_={target}: has no build(), by which it is made; see strata/compose.py.")
    return cls
