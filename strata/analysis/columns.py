"""What a table shows across: which runs belong to a column and how its number is made from one run.

The paper's Table 1 has seven columns over four benchmarks. Runs of any other environment get a column of their own,
marked as not the paper's, and are never counted under one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from strata.analysis.records import EpisodeLine, Run


class Metric(StrEnum):
    """How the score of a run is made. All are percent over scored episodes."""

    SUCCESS = "success rate"
    """Share of episodes that the environment calls solved."""
    SCORE = "score clipped at 0"
    """Mean score where a negative score counts as 0."""
    RAW = "raw score"
    """Mean score as the environment gives it, down to -100."""
    TASK_GOAL = "TGC"
    """AppWorld's task goal completion: share of tasks with all tests passed."""
    SCENARIO_GOAL = "SGC"
    """AppWorld's scenario goal completion: share of scenarios whose tasks are all solved."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: runs of `env` (and of `split`, when given), measured by `metric`.

    `published` is the key of the paper's column that the number stands beside; None: the paper has none.
    """

    key: str
    label: str
    env: str
    metric: Metric
    split: str | None = None
    published: str | None = None

    @property
    def heading(self) -> str:
        """Label and metric, one a line."""
        return f"{self.label}\n{self.metric}, %"

    def holds(self, run: Run) -> bool:
        """Whether a run belongs here."""
        return run.manifest.env == self.env and self.split in (None, run.manifest.split)


PAPER_COLUMNS = (
    Column(
        "appworld_test_normal.tgc", "AppWorld TN", "appworld", Metric.TASK_GOAL, "test_normal",
        "appworld_test_normal.tgc",
    ),
    Column(
        "appworld_test_normal.sgc", "AppWorld TN", "appworld", Metric.SCENARIO_GOAL, "test_normal",
        "appworld_test_normal.sgc",
    ),
    Column(
        "appworld_test_challenge.tgc", "AppWorld TC", "appworld", Metric.TASK_GOAL, "test_challenge",
        "appworld_test_challenge.tgc",
    ),
    Column(
        "appworld_test_challenge.sgc", "AppWorld TC", "appworld", Metric.SCENARIO_GOAL, "test_challenge",
        "appworld_test_challenge.sgc",
    ),
    Column("webarena", "WebArena", "webarena", Metric.SUCCESS, None, "webarena"),
    Column("alfworld", "ALFWorld", "alfworld", Metric.SUCCESS, None, "alfworld"),
    Column("scienceworld.clipped", "ScienceWorld", "scienceworld", Metric.SCORE),
    Column("scienceworld.raw", "ScienceWorld", "scienceworld", Metric.RAW, None, "scienceworld"),
)  # fmt: skip
"""ScienceWorld is one column in the paper and two here: the paper does not say whether its score is clipped. Its
per-category scores go down to -100, so its number stands beside the raw one."""


def columns_of(runs: Iterable[Run]) -> tuple[Column, ...]:
    """The columns that have runs: the paper's in its order, then one for each other environment and split."""
    runs = tuple(runs)
    shown = [column for column in PAPER_COLUMNS if any(map(column.holds, runs))]
    others = sorted(
        {
            (run.manifest.env, run.manifest.split)
            for run in runs
            if not any(column.holds(run) for column in PAPER_COLUMNS)
        }
    )
    for env, split in others:
        shown.append(Column(f"{env}.{split}", f"{env} {split}", env, Metric.SUCCESS, split))
    return tuple(shown)


@dataclass(frozen=True, slots=True)
class Tally:
    """Scored items of one run: item -> percent, and how many were planned. An item is a task or a scenario."""

    values: Mapping[str, float]
    planned: int

    @property
    def mean(self) -> float | None:
        """Mean over scored items; None when there is none."""
        return sum(self.values.values()) / len(self.values) if self.values else None


def tally(run: Run, metric: Metric) -> Tally:
    """The scored items of a run under a metric."""
    if metric is Metric.SCENARIO_GOAL:
        return _tally_scenarios(run)
    return Tally({episode.task_id: value_of(episode, metric) for episode in run.scored}, run.manifest.planned)


def value_of(episode: EpisodeLine, metric: Metric) -> float:
    """The percent that a scored episode counts under a metric that looks at single episodes."""
    value = {Metric.SCORE: episode.score, Metric.RAW: episode.raw_score}.get(metric, 100.0 * episode.success)
    assert value is not None, "only scored episodes are measured"
    return value


def _tally_scenarios(run: Run) -> Tally:
    """AppWorld names tasks `<scenario>_<n>`. A scenario with a task that has no score has no score either."""
    solved = {episode.task_id: episode.success for episode in run.scored}
    scenarios: dict[str, list[str]] = {}
    for task in run.manifest.tasks[: run.manifest.planned]:
        scenarios.setdefault(task.id.rpartition("_")[0] or task.id, []).append(task.id)
    values = {
        name: 100.0 * all(solved[task] for task in tasks)
        for name, tasks in scenarios.items()
        if all(task in solved for task in tasks)
    }
    return Tally(values, len(scenarios))
