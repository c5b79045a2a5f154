"""What the report says about each run, bounded in size.

Every episode is one line of numbers. The texts (trajectory and injected memory) are kept for a sample: evenly spread
over the run, so that runs in the same task order show the same tasks. Long texts are cut and say by how much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strata.analysis.columns import Metric, tally
from strata.analysis.load import load_trajectory
from strata.analysis.records import EpisodeLine, Run, Trajectory
from strata.analysis.select import backbone_label, memory_rank
from strata.analysis.tables.numbers import NO_SCORE, percent
from strata.canonical import dumps
from strata.types import Json, Usage

LISTED_EPISODES = 1000
SHOWN_TURNS = 60
SHORT, LONG = 2_000, 8_000
ALL_TEXTS = 8_000_000
"""Characters: of a thought, action or observation; of an injected text; of all texts in the report together."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the run list. Texts as shown."""

    run_id: str
    memory: str
    environment: str
    backbone: str
    seed: int
    state: str
    finished: bool
    counts: str
    score: str
    tokens: str
    cost: str
    simulated: bool


def ordered(runs: Iterable[Run]) -> list[Run]:
    """By environment, backbone, memory (the paper's order) and seed."""
    return sorted(
        runs,
        key=lambda run: (
            run.manifest.env,
            run.manifest.split,
            backbone_label(run.manifest),
            memory_rank(run.manifest.memory),
            run.manifest.seed,
            run.manifest.run_id,
        ),
    )


def summary_of(run: Run) -> RunSummary:
    """The run in one line."""
    manifest = run.manifest
    metric = Metric.RAW if manifest.env == "scienceworld" else Metric.SUCCESS
    mean = tally(run, metric).mean
    used = _total(run.episodes)
    return RunSummary(
        run_id=manifest.run_id,
        memory=manifest.memory_label,
        environment=f"{manifest.env} {manifest.split}".strip(),
        backbone=backbone_label(manifest),
        seed=manifest.seed,
        state=_state(run),
        finished=run.complete and not run.open,
        counts=f"{len(run.scored)}/{manifest.planned}",
        score=NO_SCORE if mean is None else percent(mean),
        tokens=f"{used.input_tokens + used.output_tokens:,}",
        cost=_money(used),
        simulated=manifest.simulated,
    )


def data_of(run: Run, *, samples: int, characters: int) -> Json:
    """What the page needs to show the run when it is opened: plain lists and text, nothing rendered."""
    listed = run.episodes[:LISTED_EPISODES]
    chosen = sample(len(listed), samples)
    trajectories: dict[int, Json] = {}
    room = characters
    for at in chosen:
        texts = trajectory_data(load_trajectory(run, listed[at]))
        room -= len(dumps(texts))
        if room < 0:
            break
        trajectories[at] = texts
    return {
        "facts": _facts(run, len(listed), len(trajectories)),
        "usage": _usage(run.episodes),
        "settings": _pairs(run.manifest.config.items()),
        "versions": _pairs([*run.manifest.versions.items(), *run.manifest.prompts.items()]),
        "episodes": [_episode(episode) for episode in listed],
        "texts": {str(at): texts for at, texts in trajectories.items()},
    }


def sample(count: int, wanted: int) -> list[int]:
    """Up to `wanted` positions of `count`, evenly spread, the first and the last among them."""
    if wanted >= count:
        return list(range(count))
    if wanted <= 1:
        return [0][:wanted]
    return [round(at * (count - 1) / (wanted - 1)) for at in range(wanted)]


def trajectory_data(trajectory: Trajectory) -> Json:
    """The texts of one episode, cut to length."""
    turns = [
        {
            "thought": cut(turn.thought, SHORT),
            "action": cut(turn.action, SHORT),
            "observation": cut(turn.observation, SHORT),
            "score": turn.score,
            "malformed": [cut(text, SHORT) for text in turn.malformed],
            "note": cut(turn.note, SHORT),
        }
        for turn in trajectory.turns[:SHOWN_TURNS]
    ]
    return {
        "instruction": cut(trajectory.instruction, SHORT),
        "start": cut(trajectory.start, SHORT),
        "injected": cut(trajectory.injected, LONG),
        "turns": turns,
        "more": len(trajectory.turns) - len(turns),
        "unread": [cut(text, SHORT) for text in trajectory.unread],
    }


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and how much was left out."""
    return text if len(text) <= limit else f"{text[:limit]} [... {len(text) - limit} more characters]"


def _state(run: Run) -> str:
    if run.complete:
        return "complete" if not run.open else f"complete, {run.open} without a score"
    torn = ", last line torn" if run.torn else ""
    return f"unfinished: {run.open} without a score{torn}" if run.open else f"not marked complete{torn}"


def _facts(run: Run, listed: int, with_texts: int) -> Json:
    manifest = run.manifest
    config = manifest.config
    facts = {
        "Backbone": f"{backbone_label(manifest)}{' (simulated)' if manifest.simulated else ''}",
        "Embedder": manifest.embedder,
        "Protocol": config.get("protocol", "not recorded"),
        "Order": config.get("order", "not recorded"),
        "Success signal": config.get("signal", "not recorded"),
        "Seed": manifest.seed,
        "Folder": run.folder.name,
        "Episodes listed": f"{listed} of {len(run.episodes)}",
        "Episodes with their texts": f"{with_texts}, evenly spread over the listed ones",
    }
    return _pairs([*facts.items(), *(("Note", note) for note in manifest.notes)])


def _episode(episode: EpisodeLine) -> Json:
    used = _total([episode])
    return {
        "index": episode.index,
        "task": episode.task_id,
        "category": episode.category,
        "outcome": str(episode.outcome),
        "scored": episode.scored,
        "success": episode.success,
        "score": episode.raw_score,
        "steps": episode.steps,
        "malformed": episode.malformed,
        "tokens": used.input_tokens + used.output_tokens,
        "lines": episode.memory.lines,
        "stored": episode.memory.stored,
        "detail": cut(episode.detail, SHORT),
        "late": episode.out_of_order,
    }


def _usage(episodes: Sequence[EpisodeLine]) -> Json:
    """One row per purpose of calls."""
    purposes = sorted({purpose for episode in episodes for purpose in episode.usage})
    rows = []
    for purpose in purposes:
        used = sum((episode.usage[purpose] for episode in episodes if purpose in episode.usage), Usage())
        rows.append([purpose, used.calls, used.input_tokens, used.output_tokens, _money(used)])
    return rows


def _total(episodes: Iterable[EpisodeLine]) -> Usage:
    return sum((usage for episode in episodes for usage in episode.usage.values()), Usage())


def _money(used: Usage) -> str:
    """In dollars; an unknown price is unknown and not 0."""
    return "unknown" if used.cost is None else f"${used.cost:.2f}"


def _pairs(items: Iterable[tuple[str, Json]]) -> Json:
    return [[key, value if isinstance(value, str) else dumps(value)] for key, value in items]
