"""Is everything ready that a run can choose? Each part is built and used once: "ready" means that it worked just now.

A part that needs something of the user's (a model and its key) is reported, but counts as no fault of the installation.
Nothing here sends a request to a paid service.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from strata.compose import Parts, build_memory, open_parts
from strata.config import RunSettings
from strata.errors import StrataError
from strata.types import Message, Observation, Sampling, TaskView

FREE_MB = 500
"""Disk space below which a series of runs may not fit."""
_YOURS = frozenset({("backbone", "litellm"), ("embedder", "litellm"), ("embedder", "sentence_transformers")})
"""Options that need a model, a key or a package which the installation does not bring. Built, not used."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `fault` is false for what is ready or only waits for the user's own settings."""

    part: str
    ready: bool
    text: str
    fault: bool


def examine_machine(results: Path) -> Finding:
    """Python, cores, and free space where results go."""
    place = next(folder for folder in (results, *results.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free // 2**20
    writable = os.access(place, os.W_OK)
    ready = free >= FREE_MB and writable
    text = f"Python {platform.python_version()}, {os.cpu_count()} cores, {free} MB free for {results}"
    if not writable:
        text += f". {place} cannot be written: choose another place, results_dir=..."
    elif not ready:
        text += f". Free at least {FREE_MB} MB, or choose another place, results_dir=..."
    return Finding("machine", ready, text, fault=not ready)


def examine(group: str, name: str, compose: Callable[[str, str], RunSettings]) -> Finding:
    """Build one option of a config group and use it once. `compose` gives the settings of a run with it."""
    waits_for_user = (group, name) in _YOURS
    start = time.monotonic()
    try:
        run = compose(group, name)
        with open_parts(run) as parts:
            text = "configured; nothing was sent" if waits_for_user else _USES[group](parts, run)
    except StrataError as error:
        return Finding(f"{group}={name}", False, str(error), fault=not waits_for_user)
    return Finding(f"{group}={name}", True, f"{text} ({time.monotonic() - start:.1f} s)", fault=False)


def examine_all(
    options: Iterable[tuple[str, str]], compose: Callable[[str, str], RunSettings], results: Path
) -> Iterator[Finding]:
    """The machine, then every option, in order."""
    yield examine_machine(results)
    for group, name in options:
        yield examine(group, name, compose)


def _use_environment(parts: Parts, run: RunSettings) -> str:
    environment = parts.environment
    tasks = environment.tasks()
    environment.reset(tasks[0], seed=run.seed)
    categories = len(Counter(task.category for task in tasks))
    known = environment.versions()
    versions = ", ".join(f"{key} {value[: 12 if 'hash' in key else 30].strip()}" for key, value in known.items())
    return f"{len(tasks)} tasks in {categories} categories; {versions}"


def _use_embedder(parts: Parts, _: RunSettings) -> str:
    vectors = parts.embedder.embed(["heat the tin", "cool the tin"])
    return f"{parts.embedder.dimension} dimensions, cosine of two opposite tasks {float(vectors[0] @ vectors[1]):.2f}"


def _use_backbone(parts: Parts, run: RunSettings) -> str:
    question = [Message("system", "Answer."), Message("user", "Task: look around.\n\nObservation: a room.")]
    sampling = Sampling(temperature=run.agent.temperature, max_tokens=run.agent.max_tokens)
    reply = parts.backbone.complete(question, sampling=sampling, purpose="act")
    return f"{parts.backbone.name} answers, {len(reply.text)} characters"


def _use_memory(parts: Parts, run: RunSettings) -> str:
    memory = build_memory(run, backbone=parts.backbone, embedder=parts.embedder, prompts=parts.prompts)
    task = "put a hot apple in the fridge"
    view = TaskView(environment=str(run.env["name"]), instruction=task, group="", key="0" * 16)
    context = memory.retrieve(view, Observation("You are in a room.", instruction=task))
    return f"starts empty, shows {context.lines} lines, state of {len(memory.snapshot())} bytes"


_USES = {"env": _use_environment, "embedder": _use_embedder, "backbone": _use_backbone, "memory": _use_memory}
