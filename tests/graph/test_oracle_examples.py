"""What the oracle found, each as the smallest case: ties and limits that the last bits of floats used to decide."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import settings

from strata.graph.ageing import age_all
from strata.graph.derived_graph import DerivedGraph
from strata.graph.forgetting import quality
from strata.graph.meta import centroid, nearest_meta
from strata.graph.model import Graph
from strata.graph.thresholds import band


def test_workflows_of_equal_age_tie_however_the_age_came_about(build):
    b = build()
    first, second = b.workflow(), b.workflow()
    graph = b.graph.graph
    graph.set_age(first, 0.01, 0)
    graph.set_age(second, 0.03, 1)
    graph.set_value("retrievals", 3)
    assert 0.01 + 0.02 * 3 != 0.03 + 0.02 * 2
    ages = age_all(graph, b.graph.settings.ageing)
    assert ages[first] == ages[second] == 0.07


@pytest.mark.parametrize("weight", [0.175, 0.185, 0.55, 0.6])
def test_conductance_of_three_in_five_equal_weights_is_the_limit_and_rejected(weight):
    # a star of three arms into {0}, and the pair 0-4 that stays: 3 of 5 parts of the volume of {0, 4} leave it
    edges = {(0, 1), (0, 2), (0, 3), (0, 4)}
    near = {v: {b if v == a else a: weight for a, b in edges if v in (a, b)} for v in range(5)}
    near[5], near[6] = {6: weight}, {5: weight}
    assert DerivedGraph(near).conductance([0, 4]) == 0.6
    assert not DerivedGraph(near).conductance([0, 4]) < settings().meta.conductance_max


def test_metas_at_equal_distance_tie_whatever_their_roots_were_rounded_to(build):
    b = build()
    community = [(-0.5, -0.5, -0.5, 0.5), (0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, 0.5)]
    middle = centroid(b.graph.index, [b.workflow(content=vector) for vector in community])
    older = b.meta(b.workflow(content=(0, 0, 0, 1)))
    b.meta(b.workflow(content=(0.5, -0.5, -0.5, 0.5)))  # 0.5176380902050415 away, the older one 0.5176380902050416
    assert nearest_meta(b.graph.graph, b.graph.index, middle, "euclidean")[1] == older


@pytest.mark.parametrize("count", range(1, 60))
def test_score_that_equals_all_scores_of_its_group_is_within_the_band(count):
    graph, score = Graph(), 0.7000000000000001
    for _ in range(count):
        graph.record_score("g", score)
    found = band(graph, "g", settings(thresholds={"mode": "quantile"}).thresholds)
    assert found.low == score == found.high


def test_shrunk_threshold_is_the_decimal_that_it_is_on_paper():
    graph = Graph()
    for score in (0.75, 0.625, 0.625):
        graph.record_score("g", score)
    rules = settings(thresholds={"g_low": 0.9, "g_high": 1.0, "p_low": 0.0}).thresholds
    assert band(graph, "g", rules).low == 0.875  # (3 * 0.625 + 30 * 0.9) / 33


@pytest.mark.parametrize("size", [2, 10, 16])
def test_pairs_that_all_equal_the_edge_threshold_are_not_joined(build, size):
    b = build(similarity={"weights": {"content": 0.4, "index": 0.6, "tag": 0, "lexical": 0}})
    for _ in range(size):
        b.workflow(content=(1, 0, 0, 0), index=(0, 0, 0, 0))
    assert b.graph.derived().edges() == []  # s = 0.4, and the threshold (m * 0.4 + 6 * 0.4) / (m + 6) = 0.4


def test_qualities_that_are_equal_on_paper_go_by_age_of_creation():
    # 21 workflows, so ranks move in steps of 1/20: 13 steps of activation weigh what 7 steps of age do
    activation, ages = place(21, {0: 0, 1: 13}), place(21, {0: 2, 1: 9})
    order = quality(np.arange(21), activation, ages, settings().forgetting).order()
    assert 0.35 * 0 / 20 + 0.65 * (1 - 2 / 20) > 0.35 * 13 / 20 + 0.65 * (1 - 9 / 20)
    assert order.index(1) == order.index(0) + 1


def place(count, fixed):
    """A permutation of 0..count-1 with some of its values given."""
    rest = iter([value for value in range(count) if value not in fixed.values()])
    return np.array([float(fixed[at] if at in fixed else next(rest)) for at in range(count)])
