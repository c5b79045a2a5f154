"""What the simulated agent makes of a memory's text: form must not matter, meaning must."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from envs.alfworld.guide import GUIDE
from strata.backbone.simulated.grammar import Grammar
from strata.backbone.simulated.knowledge import load_knowledge
from strata.backbone.simulated.recollection import Procedure, Reader, Recollection

HEAT = ["take {object} from {place}", "heat {object} with microwave 1", "move {object} to {target}"]
COOL = ["take {object} from {place}", "cool {object} with fridge 1", "move {object} to {target}"]

HEADINGS: dict[str, Callable[[str], str]] = {
    "hashes": lambda title: f"## {title}",
    "deeper hashes": lambda title: f"#### {title}",
    "bold": lambda title: f"**{title}**",
    "bullet": lambda title: f"* {title}",
    "label": lambda title: f"Title: {title}",
    "plain": lambda title: title,
}
MARKS = {
    "numbers": "{at}. {step}",
    "parentheses": "  ({at}) {step}",
    "brackets": "{at}) {step}.",
    "dashes": "- {step}",
    "dots": "  • {step}",
    "step labels": "Step {at}: {step}",
    "code": "{at}. `{step}`",
    "bold numbers": "**{at}.** {step}",
    "action labels": "Action: {step}",
    "connectives": "{lead}, {step}.",
    "nothing": "{step}",
}


@pytest.fixture(scope="module")
def read() -> Callable[..., Recollection]:
    knowledge = load_knowledge()
    reader = Reader(Grammar(GUIDE.grammar.templates), knowledge.lexicon, knowledge.cues)
    return lambda text, reach=1000: reader.read(text, reach)


def shapes(procedures: tuple[Procedure, ...]) -> list[tuple[bool, list[tuple[str, tuple[str, ...]]]]]:
    return [(found.warned, [(step.template, step.slots) for step in found.steps]) for found in procedures]


def record(title: str, steps: list[str], heading: str, mark: str) -> str:
    leads = ["First", *["Then"] * len(steps)]
    lines = [MARKS[mark].format(at=at + 1, step=step, lead=leads[at]) for at, step in enumerate(steps)]
    return "\n".join([HEADINGS[heading](title), *lines])


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_bullets_and_numbering_do_not_matter(
    read: Callable[..., Recollection], heading: str, mark: str
) -> None:
    expected = read(
        f"## Heat an egg\n1. {HEAT[0]}\n2. {HEAT[1]}\n3. {HEAT[2]}\n\n## Cool a mug\n1. " + "\n2. ".join(COOL)
    )
    found = read(record("Heat an egg", HEAT, heading, mark) + "\n\n" + record("Cool a mug", COOL, heading, mark))
    assert shapes(found.procedures) == shapes(expected.procedures)
    assert [("egg" in each.context, "mug" in each.context) for each in found.procedures] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("heading", HEADINGS)
def test_a_warning_over_a_procedure_is_seen_in_every_form(
    read: Callable[..., Recollection], heading: str, mark: str
) -> None:
    warning = "Do not confuse with this"
    text = record(warning, COOL, heading, mark) + "\n\n" + record("Heat an egg", HEAT, heading, mark)
    assert [found.warned for found in read(text).procedures] == [True, False]


FIELDS = {
    "title": "Title: Heat an egg",
    "when": "When: something shall be hot",
    "steps": "Steps:\n" + "\n".join(f"- {step}" for step in HEAT),
    "lesson": "Lesson: the microwave is quick",
}


@pytest.mark.parametrize("order", list(itertools.permutations(FIELDS)), ids="-".join)
def test_the_order_of_fields_does_not_matter(read: Callable[..., Recollection], order: tuple[str, ...]) -> None:
    other = "Title: Cool a mug\nSteps:\n" + "\n".join(f"- {step}" for step in COOL)
    found = read("\n".join(FIELDS[name] for name in order) + "\n\n" + other)
    assert [[step.verb for step in each.steps] for each in found.procedures] == [
        ["take", "heat", "move"],
        ["take", "cool", "move"],
    ]
    assert {"egg", "quick"} <= found.procedures[0].context
    assert not {"egg", "quick"} & found.procedures[1].context


@pytest.mark.parametrize("separator", ["; ", " -> ", " then ", ", then ", ". Then ", " → "])
@pytest.mark.parametrize(
    "lead", ["Do this in order: ", "Reflection: it worked so: ", "", "- skill: Heat it (when: cold): "]
)
def test_steps_within_a_line_are_found(read: Callable[..., Recollection], lead: str, separator: str) -> None:
    found = read(f"Task: heat some egg\n{lead}{separator.join(HEAT)}.")
    assert [[step.verb for step in each.steps] for each in found.procedures] == [["take", "heat", "move"]]


@pytest.mark.parametrize(
    "text",
    [
        "Put a clean mug in the coffeemachine and examine the rest.",
        "Task: clean some bowl and put it in cabinet.",
        "The open question is how to heat up the economy.",
        "You open the fridge 1. The fridge 1 is open. In it, you see a mug 1.",
        "Thought: I should go to the desk.\nObservation: go to desk 1",
        "Use what fits this task.",
    ],
)
def test_prose_is_no_procedure(read: Callable[..., Recollection], text: str) -> None:
    assert read(text).procedures == ()


@pytest.mark.parametrize(
    "warning",
    [
        "WARNING - DO NOT CONFUSE. Do NOT do what these opposite tasks did:",
        "Avoid this procedure, it is for the opposite task:",
        "Never do the following:",
        "Do not follow these steps:",
        "### Wrong procedure",
        "**Beware, misleading**",
        "Don't confuse this with what you want:",
        "## Instead of this",
    ],
)
def test_warnings_are_recognised_by_generic_cues(read: Callable[..., Recollection], warning: str) -> None:
    text = f"{warning}\n- Cool a mug\n  1. {COOL[0]}\n  2. {COOL[1]}\n\n## Heat an egg\n1. {HEAT[0]}\n2. {HEAT[1]}"
    assert [found.warned for found in read(text).procedures] == [True, False]


def test_a_warning_ends_at_the_next_section(read: Callable[..., Recollection]) -> None:
    text = (
        "Experience from earlier tasks.\nWARNING, do not confuse with these:\n- not this: Cool a mug\n1. "
        + "\n2. ".join(COOL)
        + "\nProcedures:\n* Heat an egg (when: hot)\n1. "
        + "\n2. ".join(HEAT)
        + "\n* Heat a mug\n1. "
        + "\n2. ".join(HEAT)
    )
    assert [found.warned for found in read(text).procedures] == [True, False, False]


def test_a_pitfall_beside_a_procedure_does_not_forbid_the_procedure(read: Callable[..., Recollection]) -> None:
    found = read(
        "## Heat an egg\n1. " + "\n2. ".join(HEAT) + "\nAvoid: do not examine mug 1.\nPitfall: never slice it."
    )
    assert [each.warned for each in found.procedures] == [False]
    assert [step.text for step in found.avoided] == ["examine mug 1"]


@pytest.mark.parametrize("verdict", ["Outcome: failure", "Result: failed", "Status: unsuccessful"])
def test_a_failed_record_stands_under_a_warning(read: Callable[..., Recollection], verdict: str) -> None:
    text = f"1. Task: heat some egg\n{verdict}\nStep 1\nAction: take egg 1 from desk 1\nObservation: You take it."
    good = text.replace(verdict, "Outcome: success").replace("1. Task", "2. Task")
    assert [found.warned for found in read(f"{text}\n\n{good}").procedures] == [True, False]


def test_lines_beyond_the_reach_are_not_read(read: Callable[..., Recollection]) -> None:
    text = "\n\n".join(
        [record("Heat an egg", HEAT, "hashes", "numbers"), record("Cool a mug", COOL, "hashes", "numbers")]
    )
    assert len(read(text, 8).procedures) == 2
    assert len(read(text, 5).procedures) == 1
    assert len(read(text, 3).procedures[0].steps) == 2
    assert read(text, 1).procedures == ()
