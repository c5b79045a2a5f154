"""How an episode stands in the files of a run: its line, its steps, its decisions. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from strata.canonical import digest, dumps
from strata.types import EpisodeRecord, Json, MemoryReport, Outcome, Usage

Line = Mapping[str, Json]


def chain(previous: str, line: Line) -> str:
    """The `check` of a line: a hash over the check before it and everything else in it."""
    return digest(previous + dumps({key: value for key, value in line.items() if key != "check"}))


def render_line(line: Line) -> bytes:
    """A line as it stands in the file."""
    return dumps(dict(line)).encode() + b"\n"


def sealed(document: Mapping[str, Json]) -> bytes:
    """A JSON file with a hash over its content in it, so that damage is noticed."""
    return dumps({**document, "seal": digest(dumps(dict(document)))}).encode() + b"\n"


def steps_document(record: EpisodeRecord) -> bytes:
    """The file of what was said and done."""
    episode = record.episode
    turns = [
        {
            "thought": turn.thought,
            "action": turn.action,
            "observation": turn.observation,
            "score": turn.score,
            "malformed": list(turn.malformed),
            "note": turn.note,
        }
        for turn in episode.turns
    ]
    document = {
        "instruction": episode.view.instruction,
        "start": episode.start.text,
        "turns": turns,
        "unread": list(record.unread),
        "injected": episode.context.text,
    }
    return dumps(document).encode() + b"\n"


def decisions(index: int, record: EpisodeRecord, report: MemoryReport) -> list[dict[str, Json]]:
    """The memory's decisions in one episode, in order, as they stand in `events.jsonl`."""
    taken = [*record.episode.context.events, *report.events]
    return [{"kind": "decision", **event, "episode": index} for event in taken]


def episode_line(
    index: int,
    record: EpisodeRecord,
    report: MemoryReport,
    files: Mapping[str, Json],
    *,
    events: int,
    out_of_order: bool,
) -> dict[str, Json]:
    """The line of one committed episode, but for its `check`.

    `success` is the environment's verdict; `told` is what the memory heard of it (the run's success signal).
    """
    context = record.episode.context
    line: dict[str, Json] = {
        "index": index,
        "task_id": record.task.id,
        "category": record.task.category,
        "group": record.task.group,
        "outcome": str(record.outcome),
        "scored": record.outcome.scored,
        "score": record.score,
        "raw_score": record.raw_score,
        "success": record.outcome is Outcome.SUCCESS if record.outcome.scored else None,
        "told": record.episode.success,
        "steps": record.steps,
        "tool_calls": record.tool_calls,
        "malformed": sum(len(turn.malformed) for turn in record.episode.turns) + len(record.unread),
        "usage": {purpose: as_values(usage) for purpose, usage in record.usage.items()},
        "memory": {
            "stored": report.stored,
            "injected_ids": list(context.item_ids),
            "lines": context.lines,
            "tokens_est": -(-len(context.text) // 4),
            "flags": list(context.flags),
            "added": list(report.added),
            "changed": list(report.changed),
            "removed": list(report.removed),
            "parse_failures": report.parse_failures,
        },
        "detail": record.detail,
        "files": dict(files),
        "events": events,
    }
    return {**line, "out_of_order": True} if out_of_order else line


def as_values(usage: Usage) -> dict[str, Json]:
    """Usage as plain values."""
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def read_usage(values: Mapping[str, Json]) -> Usage:
    """Usage as a line holds it."""
    return Usage(**values)
