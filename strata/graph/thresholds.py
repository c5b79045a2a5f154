"""Section 4, thresholds: a quantile of the group's scores shrunk towards a prior.

    tau_x(g) = (n_g Q_g(p_x) + kappa G_x) / (n_g + kappa)      x in {low, high}

A group with many scores trusts its own distribution, a sparse one falls back to the prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from strata.graph.exactness import exactly
from strata.graph.model import Graph
from strata.graph.settings import Thresholds

EVERYONE = "*"
"""The one group of mode `global_quantile`."""


@dataclass(frozen=True, slots=True)
class Band:
    """Thresholds of a group and the number of scores they were read from."""

    group: str
    low: float
    high: float
    scores: int


def around(count: int, share: float) -> tuple[int, int, Fraction]:
    """The places of the two of `count` ascending values that a quantile lies between, and how far along."""
    place = exactly(share) * (count - 1)
    below = math.floor(place)
    return below, min(below + 1, count - 1), place - below


def between(low: float, high: float, along: Fraction) -> Fraction:
    """The value that lies `along` the way from `low` to `high`."""
    return Fraction(low) + along * (Fraction(high) - Fraction(low))


def quantile(ordered: Sequence[float], share: float) -> Fraction:
    """Linearly interpolated quantile of ascending values, which must not be empty."""
    below, above, along = around(len(ordered), share)
    return between(ordered[below], ordered[above], along)


def shrink(count: int, value: Fraction, weight: float, prior: float) -> float:
    """`value`, seen `count` > 0 times, shrunk towards a prior that counts for `weight` times. Rounded once, here."""
    return float((count * value + exactly(weight) * exactly(prior)) / (count + exactly(weight)))


def score_group(group: str, settings: Thresholds) -> str:
    """The group that a node's scores are recorded in."""
    return EVERYONE if settings.mode == "global_quantile" else group


def band(graph: Graph, group: str, settings: Thresholds) -> Band:
    """The thresholds that hold for a node of this group now."""
    group = score_group(group, settings)
    ordered = sorted(graph.scores.get(group, ()))
    if settings.mode == "fixed":
        return Band(group, settings.fixed_low, settings.fixed_high, len(ordered))
    if not ordered:
        return Band(group, settings.g_low, settings.g_high, 0)
    kappa = settings.kappa if settings.mode == "shrinkage" else 0.0
    low = shrink(len(ordered), quantile(ordered, settings.p_low), kappa, settings.g_low)
    high = shrink(len(ordered), quantile(ordered, settings.p_high), kappa, settings.g_high)
    return Band(group, min(low, high), high, len(ordered))
