"""The statistics of the tables: spread over seeds, and paired differences with an interval over tasks."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 10_000


def mean_and_sd(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation (n - 1). No value: both None; one value: the sd is None."""
    if not values:
        return None, None
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of a - b in percentage points over tasks that both sides have a score for, paired by task and seed.

    `low` and `high` bound a percentile bootstrap interval that resamples tasks; None with fewer than two tasks. The
    seeds are taken as given: `by_seed` holds the difference of each, and `seed_sd` their sample sd.
    """

    mean: float
    low: float | None
    high: float | None
    tasks: int
    by_seed: Mapping[int, float]
    seed_sd: float | None


def paired_difference(
    a: Mapping[int, Mapping[str, float]], b: Mapping[int, Mapping[str, float]], *, rng: np.random.Generator
) -> Difference | None:
    """Compare two memories. Arguments: seed -> task -> percent. None when no task was done by both with one seed.

    A task's difference is its mean over the seeds it is paired in; tasks weigh equally. The interval covers what
    another draw of tasks would change. Episodes of one pass are not independent where a memory learns from them, which
    no interval over tasks can show; the spread over seeds beside it can.
    """
    by_task: dict[str, list[float]] = {}
    by_seed: dict[int, float] = {}
    for seed in sorted(set(a) & set(b)):
        paired = {task: a[seed][task] - b[seed][task] for task in sorted(set(a[seed]) & set(b[seed]))}
        if paired:
            by_seed[seed] = statistics.fmean(paired.values())
        for task, value in paired.items():
            by_task.setdefault(task, []).append(value)
    if not by_task:
        return None
    values = [statistics.fmean(by_task[task]) for task in sorted(by_task)]
    low, high = _interval(values, rng)
    seed_sd = mean_and_sd(list(by_seed.values()))[1]
    return Difference(statistics.fmean(values), low, high, len(values), by_seed, seed_sd)


def _interval(values: Sequence[float], rng: np.random.Generator) -> tuple[float | None, float | None]:
    if len(values) < 2:
        return None, None
    # Imported here because it takes a second, which an answer to a mistyped option should not.
    from scipy import stats

    result = stats.bootstrap(
        (np.asarray(values),),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        rng=rng,
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)
