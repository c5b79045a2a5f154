"""Section 5, the meta layer: promotion, novelty, absorption, tags, churn, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import Builder

from strata.graph.derived_graph import DerivedGraph
from strata.graph.meta import centroid, distance, nearest_meta, run_round

X, Y, Z = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)
HALF = (0.5, 0.5, 0.5, 0.5)
ZERO = (0, 0, 0, 0)


def clique(*parts):
    """W with all edges of weight 1 inside each part."""
    near = {}
    for part in parts:
        near |= {v: {u: 1.0 for u in part if u != v} for v in part}
    return DerivedGraph(near)


def run(b, parts, derived=None, episode=9):
    derived = derived or clique(*parts)
    rules = b.graph.settings
    return run_round(
        b.graph.graph,
        b.graph.index,
        derived,
        parts,
        rules.meta,
        rules.thresholds.g_high,
        episode,
        b.graph._refresh_meta,
    )


def flows(b, count, *tags, content=X):
    return [b.workflow(*tags, content=content) for _ in range(count)]


def test_large_tight_and_new_community_becomes_a_meta():
    b = Builder()
    part = flows(b, 3, "op:heat", "obj:egg")
    (event,) = run(b, [part])
    assert (event["decision"], event["conductance"], event["distance"]) == ("create", 0.0, None)
    assert (event["support_live"], event["support_ever"], event["churn"]) == (3, 3, False)
    meta = b.seq(event["meta"])
    node = b.graph.graph.nodes[meta]
    assert b.graph.graph.children[meta] == set(part)
    assert all(b.graph.graph.live_parents(seq) == [meta] for seq in part)
    assert node.tags == ("op:heat", "obj:egg")
    assert [bullet.source for bullet in node.bullets] == part
    assert {bullet.kind for bullet in node.bullets} == {"variant"}
    assert node.absorbed == tuple(part)
    b.graph.validate()


@pytest.mark.parametrize(("n_min", "decision"), [(1, "create"), (2, "rejected")])
def test_smallest_community_is_a_setting(n_min, decision):
    b = Builder(meta={"n_min": n_min})
    (event,) = run(b, [flows(b, 1)])
    assert event["decision"] == decision
    assert event.get("reason") == (None if decision == "create" else "small")


def test_conductance_must_lie_below_the_limit():
    b = Builder()
    one, two, out1, out2 = flows(b, 4)
    # volume 4 + 6 = 10, cut 6: phi = .6 exactly when the rest is larger
    near = {
        one: {two: 2.0, out1: 3.0},
        two: {one: 2.0, out1: 3.0},
        out1: {one: 3.0, two: 3.0, out2: 9.0},
        out2: {out1: 9.0},
    }
    events = run(b, [[one, two], [out1, out2]], DerivedGraph(near))
    assert events[0]["conductance"] == 0.6
    assert (events[0]["decision"], events[0]["reason"]) == ("rejected", "loose")
    near = {one: {two: 2.125, out1: 3.0}, two: {one: 2.125, out1: 3.0}, out1: near[out1], out2: near[out2]}
    events = run(b, [[one, two]], DerivedGraph(near))
    assert events[0]["conductance"] < 0.6
    assert events[0]["decision"] == "create"


def test_community_of_all_workflows_has_conductance_zero():
    b = Builder()
    assert run(b, [flows(b, 4)])[0]["conductance"] == 0.0


def test_community_without_an_unlinked_workflow_is_not_looked_at():
    b = Builder()
    part = flows(b, 2)
    assert len(run(b, [part])) == 1
    assert run(b, [part]) == []


def near_and_far():
    """A meta over two workflows at X, and two more workflows at a chosen place."""
    b = Builder()
    old = flows(b, 2, "op:heat", "obj:egg")
    meta = b.seq(run(b, [old])[0]["meta"])
    return b, old, meta


def test_novel_community_creates_and_a_near_one_updates():
    b, old, meta = near_and_far()
    new, close = flows(b, 2, "op:cool", content=Y), flows(b, 2, "op:heat", "obj:tin")
    events = run(b, [new, close, old])
    assert [event["decision"] for event in events] == ["create", "update"]
    assert events[0]["distance"] == pytest.approx(math.sqrt(2))
    assert events[1]["distance"] == 0.0
    assert b.graph.graph.children[meta] == {*old, *close}
    assert events[1]["support_live"] == 4


def test_distance_equal_to_the_limit_creates():
    far = Builder(meta={"r_meta": 1.0})
    first = flows(far, 2)
    run(far, [first])
    (event,) = run(far, [flows(far, 2, content=HALF)])
    assert (event["distance"], event["decision"]) == (1.0, "create")


def test_nearest_meta_stands_for_its_live_children_and_ties_go_to_the_older():
    b = Builder()
    left, right = flows(b, 2, content=X), flows(b, 2, content=Y)
    metas = [b.meta(*left), b.meta(*right)]
    middle = centroid(b.graph.index, [*left, *right])
    assert nearest_meta(b.graph.graph, b.graph.index, middle, "euclidean")[1] == metas[0]
    b.graph.graph.remove(left[0])
    assert nearest_meta(b.graph.graph, b.graph.index, np.array(Y, dtype=float), "euclidean") == (0.0, metas[1])


def test_centroid_is_the_mean_scaled_to_length_one():
    b = Builder()
    found = centroid(b.graph.index, [b.workflow(content=X), b.workflow(content=Y), b.workflow(content=ZERO)])
    assert found.tolist() == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), 0, 0])
    assert centroid(b.graph.index, [b.workflow(content=X), b.workflow(content=(-1, 0, 0, 0))]) is None


def test_distances_by_hand():
    x, half = np.array(X, dtype=float), np.array(HALF)
    assert distance(x, half, "euclidean") == 1.0
    assert distance(x, half, "cosine") == 0.5


def test_zero_centroid_is_skipped_and_counted():
    b = Builder()
    (event,) = run(b, [flows(b, 3, content=ZERO)])
    assert (event["decision"], event["reason"]) == ("rejected", "zero_centroid")


def test_meta_whose_children_have_no_direction_is_at_no_distance():
    b = Builder()
    b.meta(*flows(b, 2, content=ZERO))
    (event,) = run(b, [flows(b, 2)])
    assert (event["decision"], event["nearest"]) == ("create", None)


def test_created_meta_takes_the_unlinked_members_and_needs_enough_of_them():
    b = Builder(meta={"r_meta": 0.0})
    old = flows(b, 2)
    run(b, [old])
    one = b.workflow()
    (event,) = run(b, [[*old, one]])
    assert (event["decision"], event["reason"]) == ("rejected", "few_unlinked")
    two = b.workflow()
    (event,) = run(b, [[*old, one, two]])
    assert event["decision"] == "create"
    assert b.graph.graph.children[b.seq(event["meta"])] == {one, two}


def test_update_takes_a_single_unlinked_member():
    b, old, meta = near_and_far()
    one = b.workflow("op:heat")
    (event,) = run(b, [[*old, one]])
    assert (event["decision"], event["linked"]) == ("update", [b.graph.graph.nodes[one].id])
    assert b.graph.graph.live_parents(one) == [meta]


def test_without_the_novelty_gate_every_such_community_creates():
    b = Builder(meta={"novelty_gate": False})
    run(b, [flows(b, 2)])
    (event,) = run(b, [flows(b, 2)])
    assert (event["decision"], event["distance"]) == ("create", 0.0)
    assert b.graph.graph.count("meta") == 2


def test_churn_is_a_new_meta_that_resembles_a_live_one():
    b = Builder(meta={"novelty_gate": False})
    run(b, [flows(b, 2, "op:heat")])
    text = {"Common steps: w1": X, "Common steps: w3": X, "Family: heat. heat": X, "Family: cool. cool": X}
    b.embedder.table |= {key: np.array(value, dtype=np.float32) for key, value in text.items()}
    b.graph._refresh(2)
    like = run(b, [flows(b, 2, "op:heat")])[0]
    assert (like["churn"], like["similar_to"]) == (True, b.graph.graph.nodes[2].id)
    assert like["similarity"] >= 0.62
    b.embedder.table["Common steps: w5"] = np.array(Y, dtype=np.float32)
    other = run(b, [flows(b, 2, "op:cool")])[0]
    assert other["similarity"] < 0.62
    assert other["churn"] is False


def test_update_recomputes_tags_from_this_rounds_community_as_the_paper_did():
    b, old, meta = near_and_far()
    new = flows(b, 1, "op:heat", "obj:tin")
    (event,) = run(b, [new + flows(b, 1, "op:heat", "obj:tin")])
    assert b.graph.graph.nodes[meta].tags == ("op:heat", "obj:tin")
    assert event["tags_before"] == ["op:heat", "obj:egg"]
    assert old[0] in b.graph.graph.children[meta]
    assert b.graph.index.views(meta).tags == ("op:heat", "obj:tin")


def test_accumulating_tags_is_a_switch():
    b = Builder(meta={"accumulate_tags": True})
    run(b, [flows(b, 2, "op:heat", "obj:egg")])
    (event,) = run(b, [flows(b, 2, "op:heat", "obj:tin")])
    assert event["tags"] == ["op:heat", "obj:egg", "obj:tin"]


def test_bullets_accumulate_and_outlive_the_member():
    b, old, meta = near_and_far()
    run(b, [flows(b, 2, "op:heat")])
    b.graph.graph.remove(old[0])
    assert len(b.graph.graph.nodes[meta].bullets) == 4
    assert b.graph.graph.nodes[meta].absorbed[:2] == tuple(old)
    assert len(b.graph.graph.children[meta]) == 3


def test_members_with_equal_bullets_leave_one():
    b = Builder()
    draft = b.draft("op:heat")
    part = [b.seq(b.graph.write_workflow(draft, 0)[0]["id"]) for _ in range(2)]
    meta = b.seq(run(b, [part])[0]["meta"])
    assert len(b.graph.graph.nodes[meta].bullets) == 1
    assert b.graph.graph.nodes[meta].absorbed == tuple(part)


def test_communities_are_taken_in_the_order_of_their_oldest_member():
    b = Builder()
    first, second = flows(b, 2, content=X), flows(b, 2, content=X)
    events = run(b, [second[::-1], first])
    assert [event["decision"] for event in events] == ["create", "update"]
    assert events[0]["linked"] == [b.graph.graph.nodes[seq].id for seq in first]


def test_round_runs_only_when_workflows_changed():
    b = Builder()
    flows(b, 2, "op:heat")
    kinds = lambda: [event["kind"] for event in b.graph.maintain("alfworld", 1)]  # noqa: E731
    assert kinds() == ["round", "community", "size"]
    assert kinds() == ["size"]
    b.graph.write_bullet("variant", 0, "", "a bullet does not change W", 1)
    assert kinds() == ["size"]
    b.workflow("op:heat")
    assert kinds()[0] == "round"


def test_disabled_layer_makes_no_meta():
    b = Builder(meta={"enabled": False})
    flows(b, 5, "op:heat")
    assert [event["kind"] for event in b.graph.maintain("alfworld", 1)] == ["size"]
    assert b.graph.graph.count("meta") == 0
