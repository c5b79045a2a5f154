"""The numbers of the per-category radar charts (the paper's Figure 3).

One panel per environment, one series per memory. Each panel has a floor at which its axes begin; values below it are
drawn on it and listed. A category without a scored episode is a gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.analysis.checks import banner, is_partial
from strata.analysis.columns import Column, Metric, value_of
from strata.analysis.records import Run
from strata.analysis.select import Block, Row
from strata.analysis.stats import mean_and_sd
from strata.analysis.tables.model import Value

HIGHEST_FLOOR = 80.0
BELOW_FLOOR_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Point:
    """One memory in one category: mean over seeds of each run's mean there, in percent. None: no scored episode."""

    value: float | None
    sd: float | None
    scored: int
    planned: int


@dataclass(frozen=True, slots=True)
class Series:
    """One memory's points, in the order of the panel's categories."""

    memory: str
    label: str
    variant: str
    seeds: tuple[int, ...]
    points: tuple[Point, ...]
    partial: bool
    simulated: bool

    @property
    def name(self) -> str:
        """Label, with the variant where there is one."""
        return f"{self.label} ({self.variant})" if self.variant else self.label


@dataclass(frozen=True, slots=True)
class Category:
    """One axis. `fewest` and `most` tasks were planned for it in a run (they differ when runs do)."""

    name: str
    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class Panel:
    """One environment. Axes run from `floor` to 100."""

    column: Column
    categories: tuple[Category, ...]
    floor: float
    series: tuple[Series, ...]

    def drawn(self, value: float) -> float:
        """Where a value is drawn."""
        return max(value, self.floor)

    def below(self) -> list[tuple[Series, Category, float]]:
        """Values that are drawn on the floor because they are below it."""
        return [
            (series, category, point.value)
            for series in self.series
            for category, point in zip(self.categories, series.points, strict=True)
            if point.value is not None and point.value < self.floor
        ]

    def gaps(self) -> list[tuple[Series, Category]]:
        """Categories where a memory has no scored episode."""
        return [
            (series, category)
            for series in self.series
            for category, point in zip(self.categories, series.points, strict=True)
            if point.value is None
        ]


@dataclass(frozen=True, slots=True)
class Radar:
    """One figure: all panels of one backbone."""

    backbone: str
    banner: str
    panels: tuple[Panel, ...]


def radar_of(block: Block, *, floor: float | None = None) -> Radar:
    """The figure of one backbone. `floor` replaces the automatic floor of every panel."""
    columns = [column for column in block.columns if column.metric not in (Metric.SCORE, Metric.SCENARIO_GOAL)]
    panels = tuple(_panel(column, [row for row in block.rows if column.key in row.cells], floor) for column in columns)
    return Radar(block.backbone, banner(block.runs), panels)


def choose_floor(values: Iterable[float], *, negative: bool = False) -> float:
    """The largest multiple of ten up to 80 that at most one value in twenty is not above.

    It is at least 10 where scores cannot be below 0, and at least -100 where they can (`negative`); never 0.
    """
    lowest = -100.0 if negative else 10.0
    ordered = sorted(values)
    if not ordered:
        return 10.0
    reached = ordered[int(BELOW_FLOOR_SHARE * len(ordered))]
    floor = min(max(10.0 * (math.ceil(reached / 10) - 1), lowest), HIGHEST_FLOOR)
    return floor or -10.0


def records_of(radar: Radar, number: int) -> list[Mapping[str, Value]]:
    """One record per point, unrounded, with what is drawn of it."""
    return [
        _record(radar, number, panel, series, category, point)
        for panel in radar.panels
        for series in panel.series
        for category, point in zip(panel.categories, series.points, strict=True)
    ]


def _panel(column: Column, rows: Sequence[Row], floor: float | None) -> Panel:
    runs = [run for row in rows for run in row.cells[column.key]]
    counts = [_planned(run) for run in runs]
    names = sorted({name for count in counts for name in count})
    categories = tuple(
        Category(name, min(count.get(name, 0) for count in counts), max(count.get(name, 0) for count in counts))
        for name in names
    )
    series = tuple(_series(row, row.cells[column.key], column, names) for row in rows)
    values = [point.value for one in series for point in one.points if point.value is not None]
    if floor is None:
        floor = choose_floor(values, negative=column.metric is Metric.RAW)
    return Panel(column, categories, floor, series)


def _planned(run: Run) -> dict[str, int]:
    count: dict[str, int] = {}
    for task in run.manifest.tasks[: run.manifest.planned]:
        count[task.category] = count.get(task.category, 0) + 1
    return count


def _series(row: Row, runs: Sequence[Run], column: Column, names: Sequence[str]) -> Series:
    return Series(
        memory=row.memory,
        label=row.label,
        variant=row.variant,
        seeds=tuple(run.manifest.seed for run in runs),
        points=tuple(_point(runs, column.metric, name) for name in names),
        partial=is_partial(runs),
        simulated=any(run.manifest.simulated for run in runs),
    )


def _point(runs: Sequence[Run], metric: Metric, category: str) -> Point:
    values = [[value_of(episode, metric) for episode in run.scored if episode.category == category] for run in runs]
    mean, sd = mean_and_sd([sum(found) / len(found) for found in values if found])
    planned = sum(_planned(run).get(category, 0) for run in runs)
    return Point(mean, sd, sum(map(len, values)), planned)


def _record(
    radar: Radar, number: int, panel: Panel, series: Series, category: Category, point: Point
) -> Mapping[str, Value]:
    return {
        "figure": number,
        "backbone": radar.backbone,
        "column": panel.column.key,
        "metric": str(panel.column.metric),
        "memory": series.memory,
        "variant": series.variant,
        "category": category.name,
        "tasks": category.most,
        "value": point.value,
        "sd_over_seeds": point.sd,
        "seeds": " ".join(map(str, series.seeds)),
        "n_scored": point.scored,
        "n_planned": point.planned,
        "floor": panel.floor,
        "drawn": None if point.value is None else panel.drawn(point.value),
        "below_floor": None if point.value is None else point.value < panel.floor,
        "partial": series.partial,
        "simulated": series.simulated,
    }
