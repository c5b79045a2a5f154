"""What is fixed before a run starts: the order of the tasks, its identity, its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.canonical import digest, dumps
from strata.compose import Parts
from strata.config import GROUPS, RunSettings, as_mapping, recorded_config, run_id
from strata.errors import DataError
from strata.ledger import Ledger
from strata.prompts import PromptLibrary
from strata.provenance import code_digests, package_versions, python_version
from strata.types import EnvironmentGuide, Json, Task

FORMAT = 1
EMPTY = "no_memory"
"""Name of the memory that is meant to stay empty."""
_FREE = ("tasks", "planned", "notes", "memory.label")
_SOFT = ("versions.python", "versions.packages", "versions.code")


@dataclass(frozen=True, slots=True)
class Source:
    """The run whose memory a run starts with: its first `ledger.lines` episodes."""

    run_id: str
    ledger: Ledger

    def describe(self) -> dict[str, Json]:
        """What identifies it."""
        return {"run_id": self.run_id, "episodes": len(self.ledger.lines), "check": self.ledger.check}


@dataclass(frozen=True, slots=True)
class Plan:
    """All tasks in order, and the manifest as it is when all of them are planned."""

    run_id: str
    tasks: tuple[Task, ...]
    manifest: Mapping[str, Json]

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all tasks."""
        return frozenset(task.id for task in self.tasks)

    def manifest_for(self, planned: int, notes: Iterable[str]) -> dict[str, Json]:
        """The manifest of a run over the first `planned` tasks."""
        tasks = [{"id": task.id, "category": task.category, "group": task.group} for task in self.tasks[:planned]]
        every = [*self.manifest["notes"], *notes]
        return {**self.manifest, "tasks": tasks, "planned": planned, "notes": list(dict.fromkeys(every))}


def make_plan(settings: RunSettings, parts: Parts, source: Source | None) -> Plan:
    """Order the tasks and describe the run. Raises DataError when there is no task or two share an id."""
    tasks = order_tasks(parts.environment.tasks(), settings.order, settings.seed)
    guide = guide_digest(parts.environment.guide())
    config = recorded_config(as_mapping(settings))
    prompts = parts.prompts.hashes(prompt_owners(str(settings.memory["name"]), parts.prompts))
    identity = {
        **config,
        "prompts": prompts,
        "guide": guide,
        "source": source.describe() if source else None,
    }
    name = run_id(settings, identity)
    versions: dict[str, Json] = {
        "python": python_version(),
        "packages": package_versions(),
        "code": code_digests(str(getattr(settings, group)["_target_"]) for group in GROUPS),
        "env": dict(parts.environment.versions()),
    }
    manifest: dict[str, Json] = {
        "format": FORMAT,
        "run_id": name,
        "simulated": bool(getattr(parts.backbone, "simulated", False)),
        "config": config,
        "identity": identity,
        "prompts": prompts,
        "versions": versions,
        "memory": {"name": settings.memory["name"], "label": settings.memory.get("label") or settings.memory["name"]},
        "env": {"name": settings.env["name"], "max_steps": parts.environment.max_steps, "guide": guide},
        "backbone": {"name": settings.backbone["name"]},
        "embedder": {"name": settings.embedder["name"], "dimension": parts.embedder.dimension},
        "seed": settings.seed,
        "split": str(settings.env.get("split") or ""),
        "source": source.describe() if source else None,
        "notes": _notes(settings),
    }
    return Plan(name, tuple(tasks), manifest)


def order_tasks(tasks: Sequence[Task], order: str, seed: int) -> list[Task]:
    """Tasks in the order of a pass.

    `by_id` is the environment's own order; `shuffled` sorts by a hash of seed and id, so that any subset of the tasks
    keeps its order and a shorter run is the beginning of a longer one.
    """
    ids = [task.id for task in tasks]
    if not ids:
        raise DataError("The environment has no task in this split and selection. Check env.split and the data folder.")
    twice = next((name for name in ids if ids.count(name) > 1), None) if len(set(ids)) < len(ids) else None
    if twice is not None:
        raise DataError(f"The environment lists task {twice} twice; task ids must be unique.")
    return list(tasks) if order == "by_id" else sorted(tasks, key=lambda task: digest(f"{seed}:{task.id}"))


def prompt_owners(memory: str, library: PromptLibrary) -> list[str]:
    """Whose prompts a run uses: the agent's and the memory's.

    A memory whose name owns no prompts may use anyone's, so all of them count; No-Memory uses none.
    """
    if memory == EMPTY or library.names(memory):
        return ["agent", memory]
    return ["**"]


def guide_digest(guide: EnvironmentGuide) -> str:
    """Hash of what the agent is told about the world."""
    grammar = guide.grammar
    return digest(dumps([guide.description, grammar.templates, grammar.irreversible, guide.hints]))


def differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[list[str], list[str]]:
    """What a run directory's manifest says otherwise than the run about to go on, as printable lines.

    First what must not differ; then code and package versions, which a user may accept. The task list may grow.
    """
    before, after = _flat(old), _flat(new)
    changed = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
    hard = [_line(key, before, after) for key in changed if not key.startswith(_SOFT)]
    soft = [_line(key, before, after) for key in changed if key.startswith(_SOFT)]
    pairs = zip(old.get("tasks", []), new.get("tasks", []), strict=False)
    moved = [
        f"tasks[{at}]: {one.get('id')} -> {two.get('id')}"
        for at, (one, two) in enumerate(pairs)
        if dict(one) != dict(two)
    ]
    return hard + moved[:3], soft


def _line(key: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    return f"{key}: {before.get(key, '(absent)')} -> {after.get(key, '(absent)')}"


def _flat(value: Json, key: str = "") -> dict[str, Json]:
    if isinstance(value, Mapping) and value:
        return {
            name: leaf
            for part, item in value.items()
            for name, leaf in _flat(item, f"{key}.{part}" if key else part).items()
            if not name.startswith(_FREE)
        }
    return {key: list(value) if isinstance(value, tuple) else value}


def _notes(settings: RunSettings) -> list[str]:
    notes = []
    if settings.agent.episode_seconds is not None:
        notes.append("agent.episode_seconds ends episodes by the wall clock: the run is not exactly repeatable")
    return notes
