"""Section 3, rendering: layers in order, warnings without steps, one line an item."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Builder

FAR = (0, 0, 0, 1)


def show(b, *tags, text="query words"):
    query = b.query(*tags, text=text)
    return b.graph.render(query, b.graph.select(query))


def rewrite(b, seq, **fields):
    b.graph.graph.put(replace(b.graph.graph.nodes[seq], **fields))


def bullets(b, seq, *items):
    for kind, when, text in items:
        assert b.graph.write_bullet(kind, seq, when, text, 1)["decision"] == "added"


@pytest.fixture
def kitchen():
    b = Builder()
    unit = b.atomic(content=FAR, index=FAR)
    rewrite(b, unit, title="use microwave", when="something must be hot", steps=("heat {object} with microwave 1",))
    heat = b.workflow("op:heat", calls=(unit,))
    rewrite(b, heat, title="Heat and place", when="an object must be hot", steps=("take {object}", "heat {object}"))
    cool = b.workflow("op:cool", content=FAR, index=FAR)
    rewrite(b, cool, title="Cool and place", when="an object must be cold", steps=("open fridge 1", "cool {object}"))
    meta = b.meta(heat, tags=("op:heat",))
    rewrite(b, meta, title="Family: heat", when="heat with egg", steps=("Common steps: heat it",))
    return b, heat, cool, meta


def test_layers_come_in_order_and_the_warning_has_no_steps(kitchen):
    b, heat, _, _ = kitchen
    bullets(b, heat, ("variant", "it is a mug", "empty it first"), ("pitfall", "the door is open", "do not heat"))
    assert show(b, "op:heat").splitlines() == [
        "Experience from earlier tasks. Use what fits this task.",
        "",
        "## Principles",
        "### Family: heat (when: heat with egg)",
        "Common steps: heat it",
        "",
        "## WARNING - DO NOT CONFUSE. This task asks to heat. Do NOT do what these opposite tasks did:",
        "- not this (cool): Cool and place (when: an object must be cold)",
        "",
        "## Procedures",
        "### Heat and place (when: an object must be hot)",
        "1. take {object}",
        "2. heat {object}",
        "Variant: it is a mug: empty it first",
        "Avoid: the door is open: do not heat",
        "",
        "## Units to call",
        "- skill: use microwave (when: something must be hot): heat {object} with microwave 1",
    ]


def test_unclear_pair_stands_under_one_warning_that_names_both_operations(kitchen):
    b, _, _, _ = kitchen
    text = show(b, "obj:egg")
    assert text.split("\n\n")[2].splitlines() == [
        "## WARNING - DO NOT CONFUSE. These are opposites. See which one the task asks for, never follow the other:",
        "- only to heat: Heat and place (when: an object must be hot)",
        "1. take {object}",
        "2. heat {object}",
        "- only to cool: Cool and place (when: an object must be cold)",
    ]
    assert "Procedures" not in text
    assert "cool {object}" not in text


def test_empty_selection_is_empty_text(kitchen):
    b, _, _, _ = kitchen
    b.embedder.table["elsewhere"] = (0, 1, 0, 0)
    query = b.query("op:z", text="elsewhere", content=(0, 1, 0, 0))
    assert b.graph.render(query, b.graph.select(query)) == ""


def test_bullets_nearest_to_the_task_are_kept_and_shown_in_the_order_of_their_making():
    b = Builder(render={"variants": 2, "pitfalls": 0})
    flow = b.workflow("op:a")
    bullets(
        b, flow,
        ("variant", "the egg is cold", "warm the egg"), ("variant", "", "about mugs"), ("variant", "a plate", "x"),
        ("variant", "an egg", "look in the fridge"), ("pitfall", "egg", "never drop"),
    )  # fmt: skip
    shown = [
        line for line in show(b, "op:a", text="boil the egg").splitlines() if line.startswith(("Variant", "Avoid"))
    ]
    assert shown == ["Variant: the egg is cold: warm the egg", "Variant: an egg: look in the fridge"]


def test_of_equally_near_bullets_the_newer_are_shown():
    b = Builder(render={"pitfalls": 1})
    flow = b.workflow("op:a")
    bullets(b, flow, ("pitfall", "", "old one"), ("pitfall", "", "new one"))
    assert "Avoid: new one" in show(b, "op:a")
    assert "old one" not in show(b, "op:a")


def test_each_workflow_is_a_block_of_its_own(kitchen):
    b, _, _, _ = kitchen
    b.workflow("op:clean")
    blocks = show(b, "op:heat").split("\n\n")
    assert [block.splitlines()[0][:12] for block in blocks[3:5]] == ["## Procedure", "### t5"]
    assert all(line.strip() and line.isprintable() for block in blocks for line in block.splitlines())
