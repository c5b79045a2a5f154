"""Section 5, W: thresholds and pruning by hand, and incremental upkeep against a fresh start."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from conftest import GRID, Builder, settings
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from strata.graph.derived_graph import DerivedGraph, PairScores

HALF = (0.5, 0.5, 0.5, 0.5)
FAR = (0, 0, 0, 1)
CONTENT = {"weights": {"content": 1, "index": 0, "tag": 0, "lexical": 0}}


def edges(b):
    return [(x, y) for x, y, _ in b.graph.derived().edges()]


def test_pair_in_one_group_needs_more_than_the_shrunk_quantile():
    b = Builder(similarity=CONTENT)
    one, two, three = (b.workflow("op:a", content=c) for c in ((1, 0, 0, 0), HALF, (0, 1, 0, 0)))
    # pairs .5, .5, 0: Q(.5) = .5; threshold (3 * .5 + 6 * .4) / 9
    b.graph.derived()
    assert b.graph._pairs.thresholds() == {"op:a": pytest.approx(3.9 / 9)}
    assert edges(b) == [(one, two), (two, three)]


def test_single_workflow_has_no_edge_and_the_prior_threshold():
    b = Builder()
    only = b.workflow("op:a")
    assert b.graph.derived().neighbours == {only: {}}
    assert b.graph._pairs.thresholds() == {"op:a": 0.40}


def test_no_workflow_gives_an_empty_graph():
    assert Builder().graph.derived().neighbours == {}


def test_fixed_edge_threshold_uses_the_prior():
    pairs = ((1, 0, 0, 0), HALF, (0, 1, 0, 0))
    b = Builder(similarity=CONTENT, meta={"edge_threshold": "fixed", "intra_default": 0.5})
    for content in pairs:
        b.workflow("op:a", content=content)
    assert edges(b) == []
    b = Builder(similarity=CONTENT, meta={"edge_threshold": "fixed", "intra_default": 0.49})
    for content in pairs:
        b.workflow("op:a", content=content)
    assert edges(b) == [(0, 1), (1, 2)]


def test_pair_of_different_groups_needs_more_than_the_fixed_threshold():
    for cut, expected in ((0.5, []), (0.49, [(0, 1)])):
        b = Builder(similarity=CONTENT, meta={"cross_group": cut})
        b.workflow("op:a")
        b.workflow("op:b", content=HALF)
        assert edges(b) == expected


def test_workflows_without_tags_form_a_group_of_their_own():
    b = Builder(similarity=CONTENT, meta={"cross_group": 0.9})
    one, two, _ = b.workflow(), b.workflow(content=HALF), b.workflow("op:a", content=(0, 1, 0, 0))
    assert edges(b) == [(one, two)]


def test_edge_survives_if_either_end_ranks_it_among_its_strongest_older_first():
    b = Builder(similarity=CONTENT, meta={"k_edges": 1, "edge_threshold": "fixed", "intra_default": 0.1})
    hub = b.workflow("op:a", content=HALF)
    leaves = [b.workflow("op:a", content=c) for c in np.eye(4)]
    # every leaf ranks the hub first; the hub itself, all equal, ranks its oldest neighbour first
    assert edges(b) == [(hub, leaf) for leaf in leaves]
    b = Builder(similarity=CONTENT, meta={"k_edges": 1, "edge_threshold": "fixed", "intra_default": 0.1})
    three = [b.workflow("op:a") for _ in range(3)]
    assert edges(b) == [(three[0], three[1]), (three[0], three[2])]


def test_weights_are_the_similarities():
    b = Builder(similarity=CONTENT)
    b.workflow("op:a", content=HALF)
    b.workflow("op:a")
    assert b.graph.derived().edges() == [(0, 1, 0.5)]


def w(*triples, n=6):
    near = {v: {} for v in range(n)}
    for a, b, weight in triples:
        near[a][b] = near[b][a] = weight
    return DerivedGraph(near)


def test_conductance_by_hand():
    graph = w((0, 1, 1.0), (1, 2, 1.0), (2, 3, 0.5), (3, 4, 1.0), (4, 5, 0.5))
    # cut .5; volumes: 1 + 2 + 1.5 = 4.5 and 1.5 + 1.5 + .5 = 3.5
    assert graph.conductance([0, 1, 2]) == pytest.approx(0.5 / 3.5, abs=1e-12)
    assert graph.conductance(range(6)) == 0.0
    assert graph.conductance([]) == 0.0
    assert w(n=3).conductance([0]) == 0.0
    assert w((0, 1, 0.5)).conductance([0]) == 1.0


def plain_w(b):
    """W by the words of the section, from all pairs."""
    rules, nodes = b.graph.settings.meta, b.graph.graph.of_type("workflow")
    score = {}
    for x, y in itertools.combinations(nodes, 2):
        score[x.seq, y.seq] = b.graph.index.search(b.graph.index.views(x.seq), symmetric=True).exact([y.seq])[y.seq]
    groups = {node.group for node in nodes}
    cut = {}
    for group in groups:
        inside = [
            s for (x, y), s in score.items() if {b.graph.graph.nodes[x].group, b.graph.graph.nodes[y].group} == {group}
        ]
        weight = len(inside) + rules.kappa_edge
        q = float(np.quantile(inside, rules.p_edge)) if inside else 0.0
        cut[group] = (len(inside) * q + rules.kappa_edge * rules.intra_default) / weight
    joined = {}
    for (x, y), s in score.items():
        gx, gy = b.graph.graph.nodes[x].group, b.graph.graph.nodes[y].group
        if s > (cut[gx] if gx == gy else rules.cross_group):
            joined[x, y] = s
    kept = set()
    for node in nodes:
        mine = sorted((p for p in joined if node.seq in p), key=lambda p: (-joined[p], sum(p) - node.seq))
        kept |= set(mine[: rules.k_edges])
    return [(x, y, joined[x, y]) for x, y in sorted(kept)]


@profile(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_upkeep_through_insertions_and_deletions_equals_all_pairs_from_scratch(seed, keep):
    rng = random.Random(seed)
    b = Builder(meta={"k_edges": keep, "cross_group": 0.4})
    alive = []
    for _ in range(18):
        if alive and rng.random() < 0.3:
            gone = alive.pop(rng.randrange(len(alive)))
            b.graph.graph.remove(gone)
            b.graph.index.discard(gone)
        else:
            tags = rng.sample(["op:a", "op:b", "obj:x", "obj:y"], rng.randrange(4))
            alive.append(b.workflow(*sorted(tags, reverse=True), content=rng.choice(GRID), index=rng.choice(GRID)))
        if rng.random() < 0.7:
            assert b.graph.derived().edges() == plain_w(b)
    fresh = PairScores(settings(meta={"k_edges": keep, "cross_group": 0.4}).meta)
    fresh.sync(b.graph.graph, b.graph.index)
    assert fresh.derive().edges() == b.graph.derived().edges()


def test_change_of_one_workflow_scores_one_row_only(monkeypatch):
    b = Builder()
    for _ in range(30):
        b.workflow("op:a", content=HALF)
    b.graph.derived()
    searches = []
    original = type(b.graph.index).search
    monkeypatch.setattr(
        type(b.graph.index), "search", lambda self, q, **k: searches.append(q) or original(self, q, **k)
    )
    b.graph.graph.remove(3)
    b.graph.index.discard(3)
    b.workflow("op:a")
    searches.clear()
    b.graph.derived()
    assert len(searches) == 1


def test_changed_tags_move_a_workflow_to_another_group():
    b = Builder(similarity=CONTENT, meta={"cross_group": 0.9})
    one, two = b.workflow("op:a"), b.workflow("op:b", content=HALF)
    assert edges(b) == []
    b.graph.graph.amend(two, 1, tags=("op:a",))
    b.graph._refresh(two)
    assert edges(b) == [(one, two)]
