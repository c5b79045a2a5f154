"""Section 4, thresholds: by hand and against numpy's linear quantile."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import settings
from hypothesis import given
from hypothesis import strategies as st

from strata.graph.model import Graph
from strata.graph.thresholds import band, quantile

shares = st.floats(0, 1)
scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def graph_with(**groups):
    graph = Graph()
    for group, values in groups.items():
        for value in values:
            graph.record_score(group, value)
    return graph


def modes(mode, **more):
    return settings(thresholds={"mode": mode, **more}).thresholds


@given(scores, shares)
def test_quantile_interpolates_linearly(values, share):
    assert quantile(sorted(values), share) == pytest.approx(float(np.quantile(values, share)), abs=1e-12)


def test_group_without_scores_has_the_priors():
    found = band(Graph(), "op:heat", modes("shrinkage"))
    assert (found.low, found.high, found.scores) == (0.33, 0.62, 0)


def test_group_is_shrunk_towards_the_priors():
    found = band(graph_with(g=[0.8, 0.4, 0.6]), "g", modes("shrinkage"))
    # sorted .4 .6 .8: Q(.25) = .5, Q(.92) = .6 + .84 * .2
    assert found.low == pytest.approx((3 * 0.5 + 30 * 0.33) / 33)
    assert found.high == pytest.approx((3 * 0.768 + 30 * 0.62) / 33)
    assert found.scores == 3


def test_quantile_mode_does_not_shrink_and_an_empty_group_keeps_the_priors():
    graph = graph_with(g=[0.8, 0.4, 0.6])
    found = band(graph, "g", modes("quantile"))
    assert (found.low, found.high) == (pytest.approx(0.5), pytest.approx(0.768))
    assert band(graph, "other", modes("quantile")).low == 0.33


def test_fixed_mode_ignores_the_scores():
    graph = graph_with(g=[0.9] * 100)
    assert (band(graph, "g", modes("fixed")).low, band(graph, "g", modes("fixed")).high) == (0.33, 0.62)
    other = modes("fixed", fixed_low=0.2, fixed_high=0.3)
    assert (band(graph, "g", other).low, band(graph, "g", other).high) == (0.2, 0.3)


def test_global_mode_knows_one_group(build):
    found = band(graph_with(**{"*": [0.5, 0.7]}), "op:heat", modes("global_quantile"))
    assert (found.group, found.low, found.scores) == ("*", pytest.approx(0.55), 2)
    b = build(thresholds={"mode": "global_quantile"})
    b.workflow("op:heat")
    verdict = b.graph.judge_workflow(b.draft("op:cool"))
    b.graph.record(verdict)
    assert list(b.graph.graph.scores) == ["*"]


@given(st.lists(st.floats(0, 1), max_size=30), st.sampled_from(["shrinkage", "quantile"]))
def test_lower_threshold_never_exceeds_the_upper(values, mode):
    found = band(graph_with(g=values), "g", modes(mode))
    assert 0 <= found.low <= found.high <= 1


def test_many_scores_outweigh_the_priors():
    found = band(graph_with(g=[0.5] * 10_000), "g", modes("shrinkage"))
    assert found.low == pytest.approx(0.5, abs=1e-3)
    assert found.high == pytest.approx(0.5, abs=1e-3)
