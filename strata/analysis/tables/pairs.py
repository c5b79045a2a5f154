"""Differences between memories, paired by task and seed, as the second part of a table of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from strata.analysis.columns import Column
from strata.analysis.measure import compare
from strata.analysis.select import Block, Row
from strata.analysis.stats import CONFIDENCE, Difference
from strata.analysis.tables.model import Grid, Value
from strata.analysis.tables.numbers import percent, seeds

NOTE = (
    f"Differences: mean over tasks, paired by task and seed, with a {CONFIDENCE:.0%} percentile bootstrap interval "
    "over tasks (the seeds taken as given) and the standard deviation of the difference over seeds. A memory that "
    "learns makes the episodes of a pass depend on each other, which the interval does not cover. Not corrected for "
    "the number of comparisons."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """`one` minus `other` in one column. `difference` is None when no task and seed was scored for both."""

    one: Row
    other: Row
    column: Column
    difference: Difference | None


def pairs_of(block: Block) -> tuple[Pair, ...]:
    """Each row minus No-Memory, then STRATA minus each other row, in every column that both have runs for."""
    rows = [(b, a) for a, b in combinations(block.rows, 2)]
    baseline = [pair for pair in rows if pair[1].memory == "no_memory"]
    against = [pair for pair in rows if pair[0].memory == "strata" and pair[1].memory != "no_memory"]
    return tuple(
        Pair(one, other, column, compare(a, b, column.metric))
        for one, other in baseline + against
        for column in block.columns
        if (a := one.cells.get(column.key)) and (b := other.cells.get(column.key))
    )


def pair_grid(block: Block, pairs: tuple[Pair, ...]) -> Grid:
    """One line per compared pair, one column per environment."""
    lines: dict[str, dict[str, str]] = {}
    for pair in pairs:
        line = lines.setdefault(f"{_name(pair.one)} − {_name(pair.other)}", {})
        line[pair.column.key] = _text(pair.difference)
    return Grid(
        f"Backbone: {block.backbone}. Differences in percentage points",
        ("Pair", *(column.heading for column in block.columns)),
        tuple((name, *(line.get(column.key, "no pair") for column in block.columns)) for name, line in lines.items()),
    )


def pair_record(block: Block, pair: Pair) -> Mapping[str, Value]:
    """The unrounded numbers of one cell."""
    found = pair.difference
    return {
        "part": "difference",
        "backbone": block.backbone,
        "memory": pair.one.memory,
        "variant": pair.one.variant,
        "minus": pair.other.memory,
        "minus_variant": pair.other.variant,
        "column": pair.column.key,
        "metric": str(pair.column.metric),
        "mean": found.mean if found else None,
        "sd_over_seeds": found.seed_sd if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "seeds": " ".join(map(str, found.by_seed)) if found else "",
        "n_paired": found.tasks if found else 0,
        "simulated": any(
            run.manifest.simulated for row in (pair.one, pair.other) for run in row.cells[pair.column.key]
        ),
    }


def _text(difference: Difference | None) -> str:
    if difference is None:
        return "no pair"
    interval = "interval n/a"
    if difference.low is not None and difference.high is not None:
        interval = f"({percent(difference.low, sign=True)} to {percent(difference.high, sign=True)})"
    sd = "n/a" if difference.seed_sd is None else percent(difference.seed_sd)
    return (
        f"{percent(difference.mean, sign=True)} {interval}\n"
        f"{difference.tasks} paired, {seeds(tuple(difference.by_seed))}, sd {sd}"
    )


def _name(row: Row) -> str:
    return f"{row.label} ({row.variant})" if row.variant else row.label
