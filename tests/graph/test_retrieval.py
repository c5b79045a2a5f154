"""Section 3: gate, seeds, what is pulled in around them, by hand."""

from __future__ import annotations

import pytest

HALF = (0.5, 0.5, 0.5, 0.5)
FAR = (0, 0, 0, 1)
EVEN = {"weights": {"content": 0.5, "index": 0.5, "tag": 0, "lexical": 0}}


def select(b, *tags, **more):
    return b.graph.select(b.query(*tags, **more))


def test_nothing_stored_shows_nothing(build):
    b = build()
    _, text, event = b.graph.retrieve(b.query("op:a"))
    assert text == ""
    assert (event["seeds"], event["injected"], event["lines"], event["tokens"]) == ([], [], 0, 0)


def test_nothing_over_the_gate_shows_nothing(build):
    b = build()
    b.workflow("op:b", content=FAR, index=FAR)
    assert select(b, "op:a").shown == ()


def test_score_equal_to_the_gate_is_admitted(build):
    b = build(similarity=EVEN, retrieval={"theta_min": 0.5})
    equal = b.workflow(index=FAR)
    below = b.workflow(content=HALF, index=(0.5, 0.5, 0.5, -0.5)[::-1])
    found = select(b)
    assert found.scores[equal] == 0.5
    assert equal in found.seeds
    assert below not in found.seeds


def test_bonus_of_the_layers_ranks_but_does_not_admit(build):
    b = build(similarity=EVEN, retrieval={"theta_min": 0.6})
    flow = b.workflow()
    unit = b.atomic()
    meta = b.meta(flow, index=HALF)  # s = .75: with its bonus .9, below the workflow's 1.075
    low = b.meta(flow, index=FAR)  # s = .5: with its bonus .65, but it does not clear the gate
    assert select(b).seeds == (flow, unit, meta)
    strong = build(similarity=EVEN, retrieval={"theta_min": 0.6, "beta_layer": 0.6})
    flow, unit = strong.workflow(), strong.atomic()
    meta = strong.meta(flow, index=HALF)
    assert select(strong).seeds == (meta, flow, unit)
    assert low not in select(b).shown


def test_gate_comes_before_top_k(build):
    b = build(retrieval={"top_k": 2})
    seqs = [b.workflow("op:a") for _ in range(4)]
    found = select(b, "op:a")
    assert found.seeds == tuple(seqs[:2])
    assert len(found.cleared) == 4


def test_ties_go_to_the_older_node(build):
    b = build(retrieval={"top_k": 1})
    older = b.atomic("op:a")
    b.atomic("op:a")
    assert select(b, "op:a").seeds == (older,)


def test_parent_is_pulled_in_only_if_it_clears_the_gate_itself(build):
    b = build(retrieval={"top_k": 1, "beta_layer": 0})
    flow = b.workflow("op:a")
    near = b.meta(flow, tags=("op:a",), content=HALF)
    hub = b.meta(flow, tags=("op:b", "op:c"), content=FAR, index=FAR)
    found = select(b, "op:a")
    assert found.seeds == (flow,)
    assert found.metas == (near,)
    assert hub not in found.shown


def test_called_units_come_in_call_order_after_retrieved_units_and_once(build):
    b = build(retrieval={"top_k": 2, "beta_layer": 0})
    far = [b.atomic(content=FAR, index=FAR) for _ in range(3)]
    flow = b.workflow("op:a", calls=(far[2], far[0]))
    unit = b.atomic("op:a")
    found = select(b, "op:a")
    assert found.seeds == (flow, unit)
    assert found.atomics == (unit, far[2], far[0])
    assert found.shown == (flow, unit, far[2], far[0])


def test_merged_unit_is_hidden_behind_the_one_that_replaced_it(build):
    b = build()
    first, second = b.atomic("op:a"), b.atomic("op:a")
    flow = b.workflow("op:a", calls=(first, second))
    _, merged = b.graph.write_atomic("merge", b.draft("op:a", kind="skill"), [first, second], 1)
    found = select(b, "op:a")
    assert found.atomics == (merged,)
    assert found.procedures == (flow,)
    assert not {first, second} & set(found.cleared)


def test_contrast_neighbour_of_a_seed_becomes_a_warning_however_far_it_is(build):
    b = build()
    heat = b.workflow("op:heat")
    cool = b.workflow("op:cool", content=FAR, index=FAR)
    found = select(b, "op:heat")
    assert (found.seeds, found.procedures, found.warnings) == ((heat,), (heat,), (cool,))
    assert found.scores[cool] < 0.35


@pytest.mark.parametrize("seed", ["heat", "cool"])
def test_procedure_is_the_member_with_the_querys_operator_whichever_was_the_seed(build, seed):
    b = build()
    near, far = {}, {"content": FAR, "index": FAR}
    heat = b.workflow("op:heat", **(near if seed == "heat" else far))
    cool = b.workflow("op:cool", **(near if seed == "cool" else far))
    found = select(b, "op:heat")
    assert found.seeds == ((heat,) if seed == "heat" else (cool,))
    assert (found.procedures, found.warnings, found.unclear) == ((heat,), (cool,), ())


def test_both_members_are_unclear_when_the_querys_operator_is_unknown(build):
    b = build()
    heat = b.workflow("op:heat")
    cool = b.workflow("op:cool", content=FAR, index=FAR)
    found = select(b, "obj:egg")
    assert found.unclear == (heat, cool)
    assert found.procedures == found.warnings == ()


def test_units_of_a_warning_are_not_shown(build):
    b = build()
    unit = b.atomic(content=FAR, index=FAR)
    b.workflow("op:cool", calls=(unit,))
    b.workflow("op:heat", content=FAR, index=FAR)
    assert unit not in select(b, "op:heat").shown


def test_warning_in_one_pair_outweighs_procedure_in_another(build):
    b = build()
    both = b.workflow("op:heat", "op:cool")
    heat = b.workflow("op:heat")
    cool = b.workflow("op:cool")
    found = select(b, "op:heat")
    assert found.procedures == (heat,)
    assert set(found.warnings) == {both, cool}


def test_event_holds_the_numbers_of_the_decision(build):
    b = build()
    heat = b.workflow("op:heat")
    b.workflow("op:cool", content=FAR, index=FAR)
    b.meta(heat, tags=("op:heat",))
    selection, text, event = b.graph.retrieve(b.query("op:heat"))
    seeds = {item["type"]: item for item in event["seeds"]}
    assert seeds["workflow"]["score"] == pytest.approx(0.95)
    assert seeds["workflow"]["rank_score"] == pytest.approx(0.95 + 0.075)
    assert seeds["meta"]["rank_score"] == pytest.approx(0.95 + 0.15)
    assert seeds["workflow"]["parts"] == {"content": 1.0, "index": 1.0, "tag": 1.0, "lexical": 0.0}
    assert [item["role"] for item in event["injected"]] == ["meta", "warning", "procedure"]
    assert event["pairs"][0]["roles"] == ["procedure", "warning"]
    assert (event["meta"], event["warning"]) == (True, True)
    assert event["lines"] == sum(1 for line in text.splitlines() if line)
    assert [b.graph.graph.nodes[seq].id for seq in selection.shown] == [item["id"] for item in event["injected"]]


def test_parsed_query_views_embed_the_tags_on_the_index_side(build):
    same, parsed = build(), build(similarity={"query_views": "parsed"})
    parsed.embedder.table["heat egg"] = FAR
    for b, index in ((same, (1, 0, 0, 0)), (parsed, FAR)):
        query = b.query("op:heat", "obj:egg")
        assert query.views.content.tolist() == [1, 0, 0, 0]
        assert query.views.index.tolist() == list(index)
