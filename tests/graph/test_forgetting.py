"""Section 6: quality, the choice of a victim, cascades and counters, by hand and against networkx."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from conftest import GRID, Builder, settings
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from strata.graph.blocks import Blocks, cut_vertices
from strata.graph.derived_graph import DerivedGraph
from strata.graph.forgetting import choose, collect, quality, scaled_ranks

FAR = (0, 0, 0, 1)


def gather(b, near, environment="alfworld"):
    """Collect with a given W."""
    events = collect(
        b.graph.graph, DerivedGraph(near), b.graph.settings.forgetting, b.graph.settings.ageing, environment
    )
    return [event for event in events if event["kind"] == "delete"], events[-1] if events else None


def path(seqs, weight=1.0):
    near = {seq: {} for seq in seqs}
    for a, c in pairwise(seqs):
        near[a][c] = near[c][a] = weight
    return near


@pytest.mark.parametrize(
    ("values", "ranks"),
    [([5.0], [0.5]), ([1, 2], [0, 1]), ([3, 1, 2], [1, 0, 0.5]), ([1, 1, 2], [0.25, 0.25, 1]), ([4, 4, 4], [0.5] * 3)],
)
def test_ranks_are_average_ranks_scaled_to_one(values, ranks):
    assert scaled_ranks(np.array(values, dtype=float)).tolist() == ranks


def measure(activation, ages):
    columns = (
        np.array(sorted(activation)),
        *(np.array([of[k] for k in sorted(of)], dtype=float) for of in (activation, ages)),
    )
    found = quality(*columns, settings().forgetting)
    return dict(zip(found.workflows.tolist(), found.value.tolist(), strict=True)), found.workflows[
        found.order()
    ].tolist()


def test_quality_by_hand():
    values, order = measure({1: 3.0, 2: 0.0, 3: 1.0}, {1: 0.5, 2: 0.1, 3: 0.9})
    assert values == {
        1: pytest.approx(0.35 * 1.0 + 0.65 * (1 - 0.5)),
        2: pytest.approx(0.35 * 0.0 + 0.65 * (1 - 0.0)),
        3: pytest.approx(0.35 * 0.5 + 0.65 * (1 - 1.0)),
    }
    assert order == [3, 2, 1]


def test_equal_quality_goes_by_age_of_creation():
    _, order = measure({4: 1.0, 2: 1.0, 9: 1.0}, {4: 0.0, 2: 0.0, 9: 0.0})
    assert order == [2, 4, 9]


def test_lowest_that_is_no_cut_vertex_is_chosen_and_those_before_it_are_spared():
    assert choose([1, 2, 3], set()) == (1, [])
    assert choose([1, 2, 3], {1, 2}) == (3, [1, 2])
    assert choose([1, 2, 3], {2}) == (1, [])


def test_when_all_are_cut_vertices_the_lowest_goes_and_nobody_is_spared():
    assert choose([5, 2], {2, 5}) == (5, [])


def full(cap=4, count=5, **more):
    b = Builder(forgetting={"cap": cap, **more})
    return b, [b.workflow() for _ in range(count)]


def test_nothing_is_deleted_up_to_the_cap():
    b, seqs = full(count=4)
    assert gather(b, path(seqs)) == ([], None)


@pytest.mark.parametrize(
    ("cap", "hysteresis", "left"),
    [
        (4, 0.15, 3),
        (4, 0.0, 4),
        (20, 0.15, 17),
        (24, 0.15, 20),
        (40, 0.15, 34),
        (1, 0.5, 0),
        (60, 0.15, 51),
        (100, 0.3, 70),
    ],
)
def test_deletes_down_to_the_lower_mark_past_float_error(cap, hysteresis, left):
    b, seqs = full(cap, cap + 1, hysteresis=hysteresis)
    deleted, summary = gather(b, {seq: {} for seq in seqs})
    assert b.graph.graph.count("workflow") == left == summary["after"]
    assert (summary["before"], summary["cap"], len(deleted)) == (cap + 1, cap, cap + 1 - left)


def test_bridge_is_spared_although_its_quality_is_lowest():
    b, seqs = full(cap=4, count=5, hysteresis=0.0)
    b.graph.graph.set_age(seqs[2], 9.0, 0)
    deleted, summary = gather(b, path(seqs))
    assert [b.graph.graph.by_id.get(event["id"]) for event in deleted] == [None]
    assert seqs[2] in b.graph.graph.nodes
    assert deleted[0]["spared"] == [b.graph.graph.nodes[seqs[2]].id]
    assert deleted[0]["cut_vertices"] == 3
    assert (summary["protections"], summary["protected"]) == (1, [b.graph.graph.nodes[seqs[2]].id])


def test_unprotected_mode_deletes_the_bridge():
    b, seqs = full(cap=4, count=5, hysteresis=0.0, mode="unprotected")
    b.graph.graph.set_age(seqs[2], 9.0, 0)
    deleted, summary = gather(b, path(seqs))
    assert seqs[2] not in b.graph.graph.nodes
    assert deleted[0]["spared"] == []
    assert summary["protections"] == 0


def test_mode_none_deletes_nothing():
    b, seqs = full(mode="none")
    assert gather(b, path(seqs)) == ([], None)
    assert len(b.graph.graph.nodes) == 5


def test_cut_vertices_and_activation_are_found_anew_after_each_deletion():
    b, seqs = full(cap=3, count=4, hysteresis=0.4)
    a, mid, c, d = seqs
    # a, c and d hang on mid. With a gone, mid has the lowest quality and is spared; with c gone, it is no cut vertex.
    near = {a: {mid: 1.0}, mid: {a: 1.0, c: 1.0, d: 1.0}, c: {mid: 1.0}, d: {mid: 1.0}}
    b.graph.graph.set_age(mid, 9.0, 0)
    b.graph.graph.set_age(a, 5.0, 0)
    b.graph.graph.set_age(c, 4.0, 0)
    deleted, _ = gather(b, near)
    assert set(b.graph.graph.nodes) == {d}
    assert [event["activation"] for event in deleted] == [1.0, 1.0, 1.0]
    assert [len(event["spared"]) for event in deleted] == [0, 1, 0]


def test_single_workflow_can_be_collected():
    b, _ = full(cap=1, count=2, hysteresis=0.5)
    deleted, _ = gather(b, {0: {}, 1: {}})
    assert [event["activation_rank"] for event in deleted] == [0.5, 0.5]
    assert len(b.graph.graph.nodes) == 0


def test_units_without_a_caller_and_metas_without_a_child_go_too():
    b = Builder(forgetting={"cap": 1, "hysteresis": 0.0})
    shared, own, never = b.atomic(), b.atomic(), b.atomic()
    victim, keeper = b.workflow("op:heat", calls=(own, shared)), b.workflow("op:cool", calls=(shared,))
    empty, half = b.meta(victim), b.meta(victim, keeper)
    b.graph.graph.set_age(victim, 9.0, 0)
    names = {seq: node.id for seq, node in b.graph.graph.nodes.items()}
    (event,), _ = gather(b, {victim: {}, keeper: {}})
    assert set(b.graph.graph.nodes) == {shared, never, keeper, half}
    assert (event["atomics"], event["metas"]) == ([names[own]], [names[empty]])
    assert event["contrasts_removed"] == [names[keeper]]
    assert b.graph.graph.callers[shared] == {keeper}
    for seq in set(names) - set(b.graph.graph.nodes):
        b.graph.index.discard(seq)
    b.graph.validate()


def test_merged_unit_lives_as_long_as_a_caller_of_its_sources():
    b = Builder()
    first, second = b.atomic(), b.atomic()
    flows = [b.workflow(calls=(first,)), b.workflow(calls=(second,))]
    _, merged = b.graph.write_atomic("merge", b.draft(kind="skill"), [first, second], 1)
    from strata.graph.forgetting import remove_workflow

    remove_workflow(b.graph.graph, flows[0])
    assert set(b.graph.graph.nodes) == {second, merged, flows[1]}
    remove_workflow(b.graph.graph, flows[1])
    assert set(b.graph.graph.nodes) == set()


def test_recorded_scores_stay():
    b, seqs = full()
    b.graph.graph.record_score("g", 0.5)
    gather(b, path(seqs))
    assert b.graph.graph.scores == {"g": [0.5]}


def test_collection_follows_the_round_and_the_next_round_follows_collection():
    b = Builder(forgetting={"cap": 3, "hysteresis": 0.4})
    for _ in range(4):
        b.workflow("op:heat")
    kinds = [event["kind"] for event in b.graph.maintain("alfworld", 0)]
    assert [kind for kind in kinds if kind != "community"] == ["round", "delete", "delete", "delete", "collect", "size"]
    b.graph.validate()
    assert b.graph.maintain("alfworld", 1)[0]["kind"] == "round"


def test_cap_is_taken_by_environment():
    rules = settings().forgetting
    assert [rules.cap_for(name) for name in ("webarena", "alfworld", "elsewhere")] == [130, 24, 40]
    assert settings(forgetting={"cap": 7}).forgetting.cap_for("webarena") == 7


@st.composite
def weighted(draw):
    size, seed = draw(st.integers(3, 12)), draw(st.integers(0, 9999))
    graph = nx.gnp_random_graph(size, draw(st.sampled_from([0.15, 0.3, 0.5])), seed=seed)
    rng = random.Random(seed)
    near = {v: {} for v in graph}
    for a, c in graph.edges:
        near[a][c] = near[c][a] = rng.choice([0.25, 0.5, 0.75])
    ages = [rng.choice([0.0, 0.25, 0.5, 1.0]) for _ in range(size)]
    return near, ages


def obvious_order(near, ages, left, protected):
    """Who goes, in order, by the words of the section."""
    near, gone = {v: dict(e) for v, e in near.items()}, []
    while len(near) > left:
        rank = {}
        for name, of in (("A", {v: sum(near[v].values()) for v in near}), ("G", {v: ages[v] for v in near})):
            for v in near:
                below = sum(of[u] < of[v] for u in near)
                equal = sum(of[u] == of[v] for u in near)
                rank[name, v] = 0.5 if len(near) == 1 else (below + (equal - 1) / 2) / (len(near) - 1)
        order = sorted(near, key=lambda v: (0.35 * rank["A", v] + 0.65 * (1 - rank["G", v]), v))
        graph = nx.Graph([(a, c) for a in near for c in near[a]])
        cut = set(nx.articulation_points(graph)) if protected else set()
        victim = next((v for v in order if v not in cut), order[0])
        gone.append(victim)
        for u in near.pop(victim):
            del near[u][victim]
    return gone


@profile(max_examples=60, deadline=None)
@given(weighted(), st.booleans())
def test_order_of_deletion_is_the_obvious_one(case, protected):
    near, ages = case
    b = Builder(forgetting={"cap": 2, "hysteresis": 0.0, "mode": "protected" if protected else "unprotected"})
    names = {}
    for value in ages:
        seq = b.workflow(content=GRID[0], index=FAR)
        b.graph.graph.set_age(seq, value, 0)
        names[b.graph.graph.nodes[seq].id] = seq
    deleted, _ = gather(b, near)
    assert [names[event["id"]] for event in deleted] == obvious_order(near, ages, 2, protected)


@given(weighted(), st.integers(0, 999))
def test_cut_vertices_are_networkxs_after_any_deletions(case, seed):
    near, _ = case
    near, blocks, rng = {7 * v: {7 * u: w for u, w in e.items()} for v, e in near.items()}, None, random.Random(seed)
    blocks = Blocks(near)
    while near:
        graph = nx.Graph([(a, c) for a in near for c in near[a]])
        assert blocks.cut == set(nx.articulation_points(graph)) == cut_vertices(near)
        victim = rng.choice(sorted(near))
        blocks.remove(victim)
        for u in near.pop(victim):
            del near[u][victim]


def test_only_the_block_that_lost_a_vertex_is_decomposed_again(monkeypatch):
    cliques = nx.caveman_graph(20, 6)
    cliques.add_edges_from((6 * n, 6 * n + 7) for n in range(19))
    blocks = Blocks({v: dict.fromkeys(cliques[v], 1.0) for v in cliques})
    looked_at = []
    original = Blocks._decompose
    monkeypatch.setattr(
        Blocks, "_decompose", lambda self, members: looked_at.append(len(members)) or original(self, members)
    )
    blocks.remove(3)
    assert looked_at == [5]
    blocks.remove(12)  # a cut vertex: what is left of its clique, and the far end of the edge to the next
    assert sorted(looked_at[1:]) == [1, 5]


def test_cut_vertices_by_hand():
    path = nx.path_graph(4)
    path.add_node(9)
    for graph, cut in ((path, {1, 2}), (nx.cycle_graph(4), set()), (nx.star_graph(3), {0}), (nx.Graph(), set())):
        assert cut_vertices({v: dict.fromkeys(graph[v], 1.0) for v in graph}) == cut
