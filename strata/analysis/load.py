"""Reading run directories. Files only, strictly: a wrong value is an error that names the file and the line.

A run directory is a folder with a `manifest.json`; its layout stands in `results/README.md`. A run without a valid
completion marker is still readable and says so. A last line without its newline was cut off by a crash: it is not
committed and is left out. Checksums of steps and memory files are the store's business and are not read here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from strata.analysis.fields import Fields, parse_object
from strata.analysis.records import (
    EpisodeLine,
    Event,
    Manifest,
    MemoryUse,
    PlannedTask,
    Run,
    Trajectory,
    TurnText,
)
from strata.errors import DataError
from strata.types import Json, Outcome, Usage

FORMAT = 1


def load_runs(results: Path, pattern: str = "*") -> tuple[Run, ...]:
    """Every run directly under `results` whose folder name matches the glob, ordered by name.

    Raises DataError when the folder is missing, when there is no run, or when a run is unreadable or lost its manifest.
    """
    if not results.is_dir():
        raise DataError(
            f"No results folder at {results}. Make runs first (make reproduce), or name it: results_dir=..."
        )
    found = [path.parent for name in ("manifest.json", "episodes.jsonl") for path in results.glob(f"*/{name}")]
    folders = sorted(set(found))
    chosen = [folder for folder in folders if fnmatchcase(folder.name, pattern)]
    if not chosen:
        seen = f"none of the {len(folders)} runs there matches runs={pattern}" if folders else "no run is there"
        raise DataError(
            f"Nothing to show from {results}: {seen}. Make a run, for example: "
            "python scripts/run.py memory=strata env=alfworld backbone=simulated seed=0"
        )
    return tuple(load_run(folder) for folder in chosen)


def load_run(folder: Path) -> Run:
    """One run directory."""
    manifest = _read_manifest(folder / "manifest.json")
    path = folder / "episodes.jsonl"
    data = _read(path) if path.exists() else b""
    lines, torn = _committed_lines(data)
    episodes = tuple(_read_episode(parse_object(line, f"{path}:{number}")) for number, line in lines)
    _check_episodes(path, manifest, episodes)
    complete = _is_complete(folder / "complete.json", data, len(episodes), manifest)
    return Run(folder=folder, manifest=manifest, episodes=episodes, complete=complete, torn=torn)


def load_events(run: Run) -> tuple[Event, ...]:
    """The run's decisions in order, those of committed episodes only. An absent file means none were taken."""
    path = run.folder / "events.jsonl"
    if not path.exists():
        return ()
    committed = {episode.index for episode in run.episodes}
    events = []
    for number, line in _committed_lines(_read(path))[0]:
        fields = parse_object(line, f"{path}:{number}")
        episode = fields.count("episode")
        if episode in committed:
            rest = {key: value for key, value in fields.values.items() if key not in ("episode", "kind")}
            events.append(Event(episode, fields.text("kind"), rest))
    return tuple(events)


def load_trajectory(run: Run, episode: EpisodeLine) -> Trajectory:
    """The texts of one episode. Raises DataError when its file is missing or wrong."""
    path = run.folder / episode.steps_file
    if not path.resolve().is_relative_to(run.folder.resolve()):
        raise DataError(f"{run.folder}: episode {episode.index} names a file outside the run: {episode.steps_file}")
    fields = parse_object(_read(path), str(path))
    turns = tuple(
        TurnText(
            thought=turn.text("thought"),
            action=turn.text("action"),
            observation=turn.text("observation"),
            score=turn.number("score"),
            malformed=turn.texts("malformed"),
            note=turn.text("note", ""),
        )
        for turn in fields.objects("turns")
    )
    injected, unread = fields.text("injected"), fields.texts("unread")
    return Trajectory(fields.text("instruction"), fields.text("start"), turns, injected, unread)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"Cannot read {path} ({error.strerror or error}). Restore it from a copy, or move the run out of the "
            "results folder."
        ) from error


def _committed_lines(data: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    """Numbered lines that end in a newline, and whether a torn one follows."""
    *lines, rest = data.split(b"\n")
    return [(number, line) for number, line in enumerate(lines, start=1)], bool(rest)


def _read_manifest(path: Path) -> Manifest:
    fields = parse_object(_read(path), str(path))
    if fields.count("format") != FORMAT:
        raise DataError(
            f"{path}: format {fields.count('format')}, but this version reads {FORMAT}. Use the version that wrote it."
        )
    memory = fields.object("memory")
    tasks = tuple(
        PlannedTask(task.text("id"), task.text("category"), task.text("group")) for task in fields.objects("tasks")
    )
    prompts = fields.object("prompts", optional=True)
    return Manifest(
        run_id=fields.text("run_id"),
        simulated=fields.flag("simulated"),
        memory=memory.text("name"),
        memory_label=memory.text("label", memory.text("name")),
        env=fields.object("env").text("name"),
        backbone=fields.object("backbone").text("name"),
        embedder=fields.object("embedder").text("name"),
        seed=fields.count("seed"),
        split=fields.text("split"),
        tasks=tasks,
        planned=fields.count("planned"),
        identity=dict(flatten(fields.object("identity").values)),
        config=dict(flatten(fields.object("config").values)),
        prompts={name: prompts.text(name) for name in prompts.values},
        versions=dict(flatten(fields.object("versions").values)),
        notes=fields.texts("notes"),
    )


def flatten(values: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Nested objects as (dotted key, value)."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _read_episode(fields: Fields) -> EpisodeLine:
    name = fields.text("outcome")
    if name not in set(Outcome):
        fields.fail("outcome", f"is {name!r}, which is none of {', '.join(Outcome)}")
    outcome = Outcome(name)
    score, raw = fields.optional_number("score", 0, 100), fields.optional_number("raw_score", -100, 100)
    if fields.flag("scored") != outcome.scored:
        fields.fail("scored", f"does not fit the outcome {name}")
    if (score is not None, raw is not None) != (outcome.scored, outcome.scored):
        fields.fail("score and raw_score", "must be numbers exactly when the episode is scored, and null otherwise")
    usage = fields.object("usage")
    return EpisodeLine(
        index=fields.count("index"),
        task_id=fields.text("task_id"),
        category=fields.text("category"),
        group=fields.text("group"),
        outcome=outcome,
        score=score,
        raw_score=raw,
        success=outcome.scored and fields.flag("success"),
        steps=fields.count("steps"),
        malformed=fields.count("malformed"),
        usage={purpose: _read_usage(usage.object(purpose)) for purpose in usage.values},
        memory=_read_memory(fields.object("memory")),
        detail=fields.text("detail", ""),
        steps_file=fields.object("files").object("steps").text("path"),
        out_of_order=fields.flag("out_of_order", False),
    )


def _read_usage(fields: Fields) -> Usage:
    return Usage(
        calls=fields.count("calls"),
        input_tokens=fields.count("input_tokens"),
        output_tokens=fields.count("output_tokens"),
        cached_tokens=fields.count("cached_tokens", 0),
        reasoning_tokens=fields.count("reasoning_tokens", 0),
        cost=fields.optional_number("cost", 0),
    )


def _read_memory(fields: Fields) -> MemoryUse:
    return MemoryUse(
        stored=fields.count("stored"),
        injected=fields.texts("injected_ids"),
        lines=fields.count("lines"),
        tokens=fields.count("tokens_est"),
        flags=fields.texts("flags"),
        added=fields.texts("added"),
        changed=fields.texts("changed"),
        removed=fields.texts("removed"),
        parse_failures=fields.count("parse_failures"),
    )


def _check_episodes(path: Path, manifest: Manifest, episodes: tuple[EpisodeLine, ...]) -> None:
    """Refuse lines about tasks that were not planned and second scores for one task."""
    planned = {task.id: task for task in manifest.tasks}
    if manifest.planned > len(planned):
        raise DataError(f"{path.parent}: {manifest.planned} tasks are planned, but the manifest lists {len(planned)}.")
    done: set[str] = set()
    for number, episode in enumerate(episodes, start=1):
        task = planned.get(episode.task_id)
        if task is None or task.category != episode.category:
            raise DataError(f"{path}:{number}: task {episode.task_id} ({episode.category}) is not in the manifest.")
        if episode.task_id in done:
            raise DataError(f"{path}:{number}: task {episode.task_id} has a score already; it would count twice.")
        if episode.scored:
            done.add(episode.task_id)


def _is_complete(path: Path, episodes: bytes, count: int, manifest: Manifest) -> bool:
    """Whether the completion marker is there and speaks of these very lines.

    A marker for fewer episodes is left from a run that was extended since: the run is not complete.
    """
    if not path.exists():
        return False
    fields = parse_object(_read(path), str(path))
    if fields.count("episodes") != count or fields.count("planned") != manifest.planned:
        return False
    if fields.text("sha256") != hashlib.sha256(episodes).hexdigest():
        raise DataError(
            f"{path.parent}: episodes.jsonl was changed after the run was completed. Run it again elsewhere."
        )
    return True
