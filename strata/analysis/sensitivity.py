"""In what share of a grid of the simulated agent's parameters does an ordering of memories hold?

A result of the simulated agent that holds at one setting of it only says little. So every ordering reported from it
comes with the share of this grid in which it holds: how readily the agent follows a procedure, how well it heeds a
warning, and how much text it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from strata.analysis.columns import Column
from strata.analysis.measure import measure
from strata.analysis.records import Run
from strata.analysis.select import Block, Row, arrange
from strata.errors import DataError

GRID: Mapping[str, tuple[float, ...]] = {
    "p_follow": (0.5, 0.75, 1.0),
    "p_heed": (0.0, 0.5, 1.0),
    "attention_lines": (15, 40, 100),
}

Point = tuple[float, ...]
Means = dict[Point, tuple[float, str]]
"""Point of the grid -> mean over seeds, and which seeds."""


def points() -> list[Point]:
    """All 27 settings, in the order of the parameters of `GRID`."""
    return list(product(*GRID.values()))


def overrides() -> list[str]:
    """The grid as words for a sweep of `scripts/run.py -m`."""
    return [f"backbone.{name}={','.join(map(str, values))}" for name, values in GRID.items()]


def sensitivity(runs: Sequence[Run]) -> str:
    """A Markdown report: for each pair of memories, in how many points of the grid the first is ahead.

    Raises DataError when no run lies on the grid. A point counts for a pair when both have the same seeds there and
    every run is complete; the number of such points is shown.
    """
    by_point = {point: [run for run in runs if _point(run) == point] for point in points()}
    if not any(by_point.values()):
        raise DataError("No run lies on the grid. Make them first: python scripts/sensitivity.py")
    scores = _scores(by_point)
    lines = ["Simulated agent. Share of the grid in which an ordering holds; the grid is"]
    lines += [f"{name} in {', '.join(map(str, values))};" for name, values in GRID.items()]
    for backbone, column, rows in _cells(scores):
        lines += ["", f"## {column} ({backbone})", "", "| ordering | holds in | difference, lowest to highest |"]
        lines.append("| --- | --- | --- |")
        lines += [line for one, other in combinations(rows, 2) for line in _pair(one, rows[one], other, rows[other])]
    return "\n".join(lines)


def _point(run: Run) -> Point | None:
    values = [run.manifest.config.get(f"backbone.{name}") for name in GRID]
    numbers = [value for value in values if isinstance(value, int | float)]
    return tuple(float(value) for value in numbers) if len(numbers) == len(values) else None


def _scores(by_point: Mapping[Point, Sequence[Run]]) -> dict[tuple[str, str, str], Means]:
    """(backbone, column, row) -> means over the grid."""
    found: dict[tuple[str, str, str], Means] = {}
    for point, runs in by_point.items():
        complete = [run for run in runs if run.complete and not run.open]
        for block, row, column in _rows(arrange(complete)):
            cell = row.cells[column.key]
            mean = measure(cell, column.metric).mean
            if mean is not None:
                name = f"{row.label} ({row.variant})" if row.variant else row.label
                seeds = ",".join(str(run.manifest.seed) for run in cell)
                found.setdefault((block.backbone, column.label, name), {})[point] = (mean, seeds)
    return found


def _rows(blocks: Iterable[Block]) -> Iterator[tuple[Block, Row, Column]]:
    for block in blocks:
        for row in block.rows:
            for column in block.columns:
                if row.cells.get(column.key):
                    yield block, row, column


def _cells(
    scores: Mapping[tuple[str, str, str], Means],
) -> Iterator[tuple[str, str, dict[str, Means]]]:
    for backbone, column in dict.fromkeys(key[:2] for key in scores):
        yield backbone, column, {key[2]: values for key, values in scores.items() if key[:2] == (backbone, column)}


def _pair(one: str, ours: Means, other: str, theirs: Means) -> Iterator[str]:
    """The ordering that holds more often, with its count and the range of the differences in points."""
    shared = [point for point in ours if point in theirs and ours[point][1] == theirs[point][1]]
    differences = [ours[point][0] - theirs[point][0] for point in shared]
    if not differences:
        yield f"| {one}, {other} | no point in common | |"
        return
    ahead, behind = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    if behind > ahead:
        one, other, ahead, differences = other, one, behind, [0.0 - value for value in differences]
    of = f"{ahead} of {len(shared)}" + (f" (of {len(points())} planned)" if len(shared) < len(points()) else "")
    yield f"| {one} > {other} | {of} | {min(differences):+.1f} to {max(differences):+.1f} |"
