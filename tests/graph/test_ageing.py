"""Section 3, age: by hand."""

from __future__ import annotations

import pytest

HALF = (0.5, 0.5, 0.5, 0.5)
FAR = (0, 0, 0, 1)
NUMBERS = {"alpha": 0.0625, "beta": 0.25, "gamma": 0.5}


def test_new_workflow_has_age_zero_whenever_it_is_made(build):
    b = build()
    b.graph.retrieve(b.query())
    assert b.age(b.workflow()) == 0.0


def test_every_live_workflow_ages_by_alpha_when_nothing_clears_the_gate(build):
    b = build(ageing=NUMBERS)
    first = b.workflow("op:a", content=FAR, index=FAR)
    b.graph.retrieve(b.query())
    second = b.workflow("op:a", content=FAR, index=FAR)
    _, text, event = b.graph.retrieve(b.query())
    assert text == ""
    assert event["aged"] == []
    assert (b.age(first), b.age(second)) == (0.125, 0.0625)


def test_winner_is_rejuvenated_losers_age_by_closeness_and_the_rest_by_alpha(build):
    b = build(ageing=NUMBERS, similarity={"weights": {"content": 0.5, "index": 0.5, "tag": 0, "lexical": 0}})
    winner = b.workflow()  # s = 1
    close = b.workflow(content=HALF)  # s = 0.75
    below = b.workflow(content=FAR, index=FAR)  # s = 0
    for seq in (winner, close, below):
        b.graph.graph.set_age(seq, 1.0, 0)
    _, _, event = b.graph.retrieve(b.query())
    assert b.age(winner) == 0.5 * (1.0 + 0.0625)
    assert b.age(close) == 1.0 + 0.0625 + 0.25 * 0.75 * (1 - (1.0 - 0.75))
    assert b.age(below) == 1.0 + 0.0625
    assert [(item["winner"], item["score"]) for item in event["aged"]] == [(True, 1.0), (False, 0.75)]
    assert [item["age"] for item in event["aged"]] == [b.age(winner), b.age(close)]


def test_only_workflow_retrieved_is_the_winner(build):
    b = build(ageing=NUMBERS)
    only = b.workflow("op:a")
    b.graph.retrieve(b.query("op:a"))
    assert b.age(only) == 0.03125


def test_equal_scores_are_won_by_the_older_workflow(build):
    b = build(ageing=NUMBERS)
    first, second = b.workflow("op:a"), b.workflow("op:a")
    b.graph.retrieve(b.query("op:a"))
    assert b.age(first) == 0.03125
    assert b.age(second) == 0.0625 + 0.25 * 0.95


def test_workflows_beyond_the_seeds_compete_too(build):
    b = build(ageing=NUMBERS, retrieval={"top_k": 1})
    seqs = [b.workflow("op:a") for _ in range(3)]
    b.graph.retrieve(b.query("op:a"))
    assert b.age(seqs[2]) > 0.0625


def test_atomic_and_meta_nodes_take_no_part(build):
    b = build(ageing=NUMBERS)
    flow = b.workflow("op:a", content=HALF)
    b.atomic("op:a")
    b.meta(flow, tags=("op:a",))
    _, _, event = b.graph.retrieve(b.query("op:a"))
    assert [item["winner"] for item in event["aged"]] == [True]
    assert set(b.graph.graph.ages) == {flow}


def test_frozen_retrieval_ages_nothing(build):
    b = build()
    flow = b.workflow("op:a")
    _, text, event = b.graph.retrieve(b.query("op:a"), frozen=True)
    assert text
    assert event["aged"] == []
    assert b.age(flow) == 0.0
    assert b.graph.graph.values["retrievals"] == 0


def test_ageing_touches_only_what_cleared_the_gate(build):
    b = build()
    flow = b.workflow("op:a")
    for _ in range(50):
        b.workflow("op:b", content=FAR, index=FAR)
    b.graph.changes()
    b.graph.retrieve(b.query("op:a"))
    assert set(b.graph.graph.touched["age"]) == {flow}


def test_killed_between_retrieval_and_commit_ages_once(build):
    b = build()
    flow = b.workflow("op:a")
    kept = b.graph.snapshot()
    b.graph.retrieve(b.query("op:a"))
    once = b.graph.snapshot()
    b.graph.restore(kept, [])
    assert b.age(flow) == 0.0
    b.graph.retrieve(b.query("op:a"))
    assert b.graph.snapshot() == once


@pytest.mark.parametrize("retrievals", [0, 1, 50])
def test_lazy_age_is_what_adding_alpha_each_time_gives(build, retrievals):
    b = build()
    flow = b.workflow("op:b", content=FAR, index=FAR)
    for _ in range(retrievals):
        b.graph.retrieve(b.query("op:a"))
    assert b.age(flow) == pytest.approx(sum([0.02] * retrievals))
