"""Section 7: which workflows contrast, and what becomes of a pair when it is shown."""

from __future__ import annotations

import pytest
from conftest import settings

from strata.errors import UsageError
from strata.graph.contrast import ContrastRule, oppositions, read_pairs
from strata.graph.model import Node

LEXICON = [("heat", "cool"), ("create", "delete")]


def ops(*names):
    return frozenset(names)


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        (ops("heat"), ops("cool"), [("heat", "cool")]),
        (ops("cool"), ops("heat"), [("heat", "cool")]),
        (ops("heat"), ops("heat"), []),
        (ops("heat"), ops("clean"), []),
        (ops(), ops("cool"), []),
        (ops("heat", "cool"), ops("cool"), [("heat", "cool")]),
        (ops("heat", "cool"), ops("heat"), [("heat", "cool")]),
        (ops("heat", "cool"), ops("heat", "cool"), []),
        (ops("heat", "create"), ops("cool", "delete"), LEXICON),
        (ops("heat", "cool", "create"), ops("heat", "cool", "delete"), [("create", "delete")]),
    ],
)
def test_two_sets_of_operators_oppose_by_the_lexicon(a, b, pairs):
    assert oppositions(a, b, LEXICON) == pairs


def test_edges_come_with_a_workflow_whatever_its_object_and_go_with_it(build):
    b = build()
    melt, clean = b.workflow("op:heat", "obj:lead"), b.workflow("op:clean", "obj:lead")
    freeze = b.workflow("op:cool", "obj:tin")
    data = b.graph.graph
    assert data.contrast_pairs() == [(melt, freeze)]
    assert data.contrasts[freeze] == {melt}
    data.remove(melt)
    assert data.contrast_pairs() == []
    assert not data.contrasts[freeze]
    assert clean in data.nodes


def test_each_new_edge_is_an_event(build):
    b = build()
    b.workflow("op:heat")
    b.workflow("op:heat")
    events = b.graph.write_workflow(b.draft("op:cool"), 3)[1:]
    assert [(event["kind"], event["change"]) for event in events] == [("contrast", "added")] * 2


def test_node_with_both_operators_joins_each_single_one_but_not_itself_or_its_like(build):
    b = build()
    tags = (("op:heat", "op:cool"), ("op:heat",), ("op:cool",), ("op:heat", "op:cool"))
    both, heat, cool, other = (b.workflow(*each) for each in tags)
    assert b.graph.graph.contrast_pairs() == [(both, heat), (both, cool), (heat, cool), (heat, other), (cool, other)]


def test_atomic_and_meta_nodes_never_contrast(build):
    b = build()
    heat = b.workflow("op:heat")
    b.atomic("op:cool")
    b.meta(heat, tags=("op:cool",))
    assert b.graph.graph.contrast_pairs() == []


def test_mode_none_makes_no_edge(build):
    b = build(contrast={"mode": "none"})
    b.workflow("op:heat")
    b.workflow("op:cool")
    assert b.graph.graph.contrast_pairs() == []


def test_same_app_switch_asks_for_a_common_app(build):
    b = build(contrast={"same_app": True})
    make = b.workflow("app:gmail", "op:create")
    b.workflow("app:venmo", "op:delete")
    drop = b.workflow("app:gmail", "app:venmo", "op:delete")
    assert b.graph.graph.contrast_pairs() == [(make, drop)]


def test_lexicon_is_configuration(build):
    b = build(contrast={"lexicon": [["open", "close"]]})
    first, second = b.workflow("op:open"), b.workflow("op:close")
    b.workflow("op:heat")
    b.workflow("op:cool")
    assert b.graph.graph.contrast_pairs() == [(first, second)]


def test_mode_hand_joins_the_pairs_of_the_file_only(build, tmp_path):
    path = tmp_path / "pairs.yaml"
    path.write_text("- [[op:heat, obj:egg], [op:cool]]\n- [t5, [op:open]]\n")
    b = build(contrast={"mode": "hand", "file": str(path)})
    egg, tin = b.workflow("op:heat", "obj:egg"), b.workflow("op:heat", "obj:tin")
    cool, opened, named = b.workflow("op:cool"), b.workflow("op:open"), b.workflow("op:x")
    assert b.graph.graph.nodes[named].title == "t5"
    assert b.graph.graph.contrast_pairs() == [(egg, cool), (opened, named)]
    assert tin not in b.graph.graph.contrasts


@pytest.mark.parametrize(
    "text", ["x", "- [a]", "- [[op:a], [op:b], [op:c]]", "- [[], [op:a]]", "- [1, 2]", "a: [", "{}"]
)
def test_malformed_file_of_pairs_is_a_usage_error(tmp_path, text):
    path = tmp_path / "pairs.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"contrast\.file"):
        read_pairs(str(path))


def test_missing_file_of_pairs_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"contrast\.file"):
        read_pairs(str(tmp_path / "none.yaml"))
    with pytest.raises(UsageError, match=r"needs contrast\.file"):
        settings(contrast={"mode": "hand"})


def node(*operators):
    return Node(0, "n", "workflow", "n", "", ("s",), tuple(f"op:{name}" for name in operators))


@pytest.mark.parametrize(
    ("query", "a", "b", "roles"),
    [
        (["heat"], ["heat"], ["cool"], ("procedure", "warning")),
        (["cool"], ["heat"], ["cool"], ("warning", "procedure")),
        (["clean"], ["heat"], ["cool"], ("unclear", "unclear")),
        ([], ["heat"], ["cool"], ("unclear", "unclear")),
        (["heat", "cool"], ["heat"], ["cool"], ("unclear", "unclear")),
        (["heat"], ["heat", "cool"], ["cool"], ("procedure", "warning")),
        (["cool"], ["heat", "cool"], ["cool"], ("warning", "procedure")),
        (["cool"], ["cool"], ["heat", "cool"], ("procedure", "warning")),
        (["delete"], ["heat", "create"], ["cool", "delete"], ("warning", "procedure")),
        (["place", "cool"], ["heat", "place"], ["cool"], ("warning", "procedure")),
    ],
)
def test_member_that_shares_the_querys_operator_is_the_procedure(query, a, b, roles):
    rule = ContrastRule(settings().contrast)
    assert rule.roles(frozenset(query), node(*a), node(*b)) == roles
    assert rule.roles(frozenset(query), node(*b), node(*a)) == roles[::-1]


def test_hand_placed_pair_outside_the_lexicon_is_told_apart_by_its_own_operators():
    rule = ContrastRule(settings().contrast)
    assert rule.roles(ops("open"), node("open", "go"), node("close", "go")) == ("procedure", "warning")
    assert rule.roles(ops("go"), node("open", "go"), node("close", "go")) == ("unclear", "unclear")
