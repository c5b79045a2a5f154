"""From the runs of one cell to its number, and from two cells to their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.analysis.checks import idle_memory, is_partial
from strata.analysis.columns import Metric, tally
from strata.analysis.records import Run
from strata.analysis.stats import Difference, mean_and_sd, paired_difference
from strata.canonical import digest


@dataclass(frozen=True, slots=True)
class Measurement:
    """The number of one cell: mean over seeds of each run's mean, in percent.

    `sd` is the sample sd over seeds (None with one seed); `seeds` are those with a score; `scored` and `planned` count
    items over all runs. `remarks` are what must stand beside the number.
    """

    mean: float | None
    sd: float | None
    seeds: tuple[int, ...]
    scored: int
    planned: int
    partial: bool
    remarks: tuple[str, ...]


def measure(runs: Sequence[Run], metric: Metric) -> Measurement:
    """The number of the cell that `runs` (one per seed) make."""
    tallies = [tally(run, metric) for run in runs]
    means = {run.manifest.seed: one.mean for run, one in zip(runs, tallies, strict=True)}
    known = {seed: mean for seed, mean in means.items() if mean is not None}
    mean, sd = mean_and_sd(list(known.values()))
    partial = is_partial(runs)
    remarks = ["partial"] if partial else []
    unfinished = sum(not run.complete for run in runs)
    if unfinished and not partial:
        remarks.append(f"{unfinished} of {len(runs)} runs not marked complete")
    remarks += idle_memory(runs)
    return Measurement(
        mean=mean,
        sd=sd,
        seeds=tuple(known),
        scored=sum(len(one.values) for one in tallies),
        planned=sum(one.planned for one in tallies),
        partial=partial,
        remarks=tuple(remarks),
    )


def compare(a: Sequence[Run], b: Sequence[Run], metric: Metric) -> Difference | None:
    """The paired difference between two cells. The generator is seeded by what is compared, so it repeats."""
    names = [run.manifest.run_id for run in (*a, *b)]
    rng = np.random.default_rng(int(digest("\n".join(names))[:16], 16))
    sides = [{run.manifest.seed: tally(run, metric).values for run in runs} for runs in (a, b)]
    return paired_difference(sides[0], sides[1], rng=rng)
