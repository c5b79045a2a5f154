"""Section 1: each invariant, broken once, is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Builder

from strata.errors import CorruptStateError
from strata.graph.validate import problems


@pytest.fixture
def b():
    b = Builder()
    b.unit = b.atomic()
    b.heat = b.workflow("op:heat", "obj:egg", calls=(b.unit,))
    b.cool = b.workflow("op:cool")
    b.top = b.meta(b.heat, b.cool)
    return b


def change(which, **fields):
    def apply(b):
        seq = getattr(b, which)
        b.graph.graph.nodes[seq] = replace(b.graph.graph.nodes[seq], **fields)

    return apply


BREAKS = {
    "share an id": change("cool", id="t2-9e3779"),
    "is filed under": change("heat", seq=77),
    "never given": lambda b: b.graph.graph.values.update(next_seq=1),
    "in order and unique": change("heat", tags=("obj:egg", "op:heat")),
    "node with kind": change("unit", kind=""),
    "atomic node with bullets": lambda b: b.graph.write_bullet("variant", b.unit, "", "x", 0),
    "that calls": change("top", calls=(0,)),
    "calls a node twice": change("heat", calls=(0, 0)),
    "which is deleted": change("heat", calls=(99,)),
    "not known there": change("unit", called=False),
    "lost its last caller": lambda b: b.graph.graph.put(replace(b.graph.graph.nodes[b.heat], calls=())),
    "which does not": lambda b: b.graph.graph.callers[b.unit].add(b.cool),
    "joins atomic and meta": lambda b: b.graph.graph.link(b.unit, b.top),
    "known to the meta only": lambda b: b.graph.graph.parents.pop(b.heat),
    "known to the workflow only": lambda b: b.graph.graph.parents[b.heat].append(b.top),
    "without a live child": lambda b: [b.graph.graph.unlink(seq, b.top) for seq in (b.heat, b.cool)],
    "never absorbed": change("top", absorbed=()),
    "contrasts 0-": lambda b: b.graph.graph.add_contrast(b.unit, b.heat),
    "one direction only": lambda b: b.graph.graph.contrasts[b.heat].discard(b.cool),
    "merged_from": lambda b: b.graph.graph.merge(b.unit, b.heat),
    "ages are not": lambda b: b.graph.graph.ages.pop(b.heat),
    "impossible age": lambda b: b.graph.graph.set_age(b.heat, -1.0, 0),
    "score outside": lambda b: b.graph.graph.record_score("g", 1.5),
}  # fmt: skip


def test_sound_graph_has_no_problem(b):
    assert problems(b.graph.graph) == []
    b.graph.validate()


@pytest.mark.parametrize("message", BREAKS)
def test_broken_invariant_is_named(b, message):
    BREAKS[message](b)
    assert any(message in problem for problem in problems(b.graph.graph)), problems(b.graph.graph)
    with pytest.raises(CorruptStateError):
        b.graph.validate()


def test_index_that_lags_behind_is_named(b):
    b.graph.index.discard(b.heat)
    with pytest.raises(CorruptStateError, match="index"):
        b.graph.validate()
