"""Spread and paired differences against independent oracles, and the interval's coverage by simulation."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.analysis.stats import mean_and_sd, paired_difference

percents = st.floats(0, 100, allow_nan=False)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@settings(deadline=None)
@given(st.lists(percents, min_size=2, max_size=6))
def test_mean_and_sd_are_those_of_the_sample(values: list[float]) -> None:
    mean, sd = mean_and_sd(values)
    assert mean == pytest.approx(np.mean(values))
    assert sd == pytest.approx(np.std(values, ddof=1), abs=1e-9)


def test_one_seed_has_no_sd_and_no_seed_has_no_mean() -> None:
    assert mean_and_sd([42.0]) == (42.0, None)
    assert mean_and_sd([]) == (None, None)


def test_the_difference_pairs_by_task_and_seed() -> None:
    a = {0: {"x": 100.0, "y": 100.0}, 1: {"x": 100.0, "y": 0.0}, 2: {"x": 0.0}}
    b = {0: {"x": 0.0, "y": 100.0}, 1: {"x": 0.0, "y": 0.0, "z": 100.0}, 3: {"x": 100.0}}
    found = paired_difference(a, b, rng=rng())
    assert found is not None
    assert found.tasks == 2
    assert found.by_seed == {0: 50.0, 1: 50.0}
    assert found.mean == statistics.fmean([100.0, 0.0])
    assert found.seed_sd == 0
    assert (found.low, found.high) == (0.0, 100.0)


def test_a_difference_without_a_pair_is_none_and_with_one_task_has_no_interval() -> None:
    assert paired_difference({0: {"x": 1.0}}, {1: {"x": 1.0}}, rng=rng()) is None
    assert paired_difference({0: {"x": 1.0}}, {0: {"y": 1.0}}, rng=rng()) is None
    one = paired_difference({0: {"x": 30.0}}, {0: {"x": 10.0}}, rng=rng())
    assert one is not None
    assert (one.mean, one.low, one.high, one.seed_sd) == (20.0, None, None, None)


def test_equal_scores_differ_by_nothing() -> None:
    scores = {seed: {str(task): float(task % 2) for task in range(9)} for seed in range(3)}
    found = paired_difference(scores, scores, rng=rng())
    assert found is not None
    assert (found.mean, found.low, found.high) == (0, 0, 0)


def test_swapping_the_sides_turns_the_sign() -> None:
    draw = np.random.default_rng(5)
    a = {s: {str(t): float(draw.integers(0, 101)) for t in range(12)} for s in range(3)}
    b = {s: {str(t): float(draw.integers(0, 101)) for t in range(12)} for s in range(3)}
    one, other = paired_difference(a, b, rng=rng()), paired_difference(b, a, rng=rng())
    assert one is not None
    assert other is not None
    assert one.mean == pytest.approx(-other.mean)
    assert one.low is not None
    assert other.high is not None
    assert one.low == pytest.approx(-other.high, abs=1.5)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """36 tasks in 3 seeds, success rates 0.5 and 0.7 apart by task: measured coverage of the nominal 95 %."""
    draw = np.random.default_rng(11)
    truth, hits, repeats = 20.0, 0, 300
    for _ in range(repeats):
        base = draw.uniform(0.2, 0.7, 36)
        sides = [
            {seed: {str(t): 100.0 * (draw.random() < base[t] + gain) for t in range(36)} for seed in range(3)}
            for gain in (0.2, 0.0)
        ]
        found = paired_difference(sides[0], sides[1], rng=draw)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert 0.90 <= hits / repeats <= 0.98
