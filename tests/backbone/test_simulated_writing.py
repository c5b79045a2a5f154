"""What the simulated agent writes about an attempt: facts of the trajectory, in the fields that the prompt declares."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from strata.backbone.simulated import SimulatedBackbone
from strata.prompts import render_trajectory
from strata.prompts.fields import FieldType, read_fields
from strata.types import Message, Reply, Sampling, Turn

TASK = "put a clean mug in coffeemachine."
SOLVED = [
    ("go to drawer 1", "You arrive at drawer 1. The drawer 1 is closed."),
    ("open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a fork 1."),
    ("take fork 1 from drawer 1", "You pick up the fork 1 from the drawer 1."),
    ("move fork 1 to drawer 1", "You move the fork 1 to the drawer 1."),
    ("close drawer 1", "You close the drawer 1."),
    ("go to shelf 2", "You arrive at shelf 2. On the shelf 2, you see a mug 1."),
    ("clean mug 1 with sinkbasin 1", "Nothing happens."),
    ("take mug 1 from shelf 2", "You pick up the mug 1 from the shelf 2."),
    ("go to microwave 1", "You arrive at microwave 1. The microwave 1 is closed."),
    ("heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1."),
    ("go to sinkbasin 1", "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing."),
    ("clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1."),
    ("inventory", "You are carrying: a mug 1."),
    ("go to coffeemachine 1", "You arrive at coffeemachine 1. On the coffeemachine 1, you see nothing."),
    ("move mug 1 to coffeemachine 1", "You move the mug 1 to the coffeemachine 1."),
]
TYPES: dict[str, FieldType] = {
    "title": "text",
    "steps": "list of text",
    "when": "text",
    "lesson": "text",
    "reason": "text",
    "keywords": "list of text",
    "tags": "list of text",
    "kinds": "list of text",
    "indices": "list of number",
    "decision": "text",
    "success": "yes or no",
}
DESCRIPTIONS = {
    "steps": "actions in order, specific names generalised",
    "kinds": "those of skill, code, workflow that this teaches something about",
    "decision": "create, refine or merge",
}


def trajectory(pairs: list[tuple[str, str]]) -> str:
    return render_trajectory([Turn(f"I do it {at}.", action, seen, 0.0) for at, (action, seen) in enumerate(pairs)])


def prompt(fields: list[str], outcome: str = "success", task: str = TASK, pairs: Any = None, items: str = "") -> str:
    lines = [f"- {name} ({TYPES[name]}): {DESCRIPTIONS.get(name, 'what you think')}" for name in fields]
    steps = trajectory(SOLVED if pairs is None else pairs)
    known = f"\nKnown items:\n{items}\n" if items else ""
    head = f"Look back.\n\nTask: {task}\n" + (f"Outcome: {outcome}\n" if outcome else "")
    return f"{head}\nTrajectory:\n{steps}\n{known}\nReply with one JSON object:\n" + "\n".join(lines)


def ask(text: str, **changes: Any) -> Reply:
    backbone = SimulatedBackbone.build(changes, seed=0)
    return backbone.complete([Message("user", text)], sampling=Sampling(), purpose="reflect")


def answer(text: str, fields: list[str], **changes: Any) -> dict[str, Any]:
    return read_fields(ask(text, **changes).text, {name: TYPES[name] for name in fields})


def test_every_field_of_the_vocabulary_is_filled_and_readable() -> None:
    fields = list(TYPES)
    found = answer(prompt(fields, items="1. Clean things: clean {object} with sinkbasin"), fields)
    assert set(found) == set(fields)
    assert all(found[name] for name in fields if name != "indices")


def test_the_vocabulary_here_is_the_one_that_prompts_document() -> None:
    import strata.prompts

    documented = [line.split() for line in str(strata.prompts.__doc__).splitlines() if line.startswith("    ")]
    names = {words[0] for words in documented if len(words) > 2 and words[1] in ("text", "list", "yes")}
    assert names == set(TYPES)


def test_a_solved_attempt_becomes_its_procedure_without_the_dead_ends() -> None:
    assert answer(prompt(["steps"]), ["steps"])["steps"] == [
        "go to {place}",
        "take {object} from {place}",
        "go to sinkbasin",
        "clean {object} with sinkbasin",
        "go to {target}",
        "move {object} to {target}",
    ]


def test_names_are_generalised_only_where_the_prompt_asks_for_it() -> None:
    text = prompt(["steps"]).replace(", specific names generalised", "")
    steps = answer(text, ["steps"])["steps"]
    assert steps[-1] == "move mug 1 to coffeemachine 1"
    assert "fork 1" not in " ".join(steps)


def test_a_failed_attempt_gives_a_warning_and_no_procedure() -> None:
    fields = ["steps", "lesson", "success"]
    found = answer(prompt(fields, outcome="failure", pairs=SOLVED[8:10]), fields)
    assert found["steps"] == []
    assert "heat" in found["lesson"]
    assert "Do not" in found["lesson"]
    assert found["success"] is False


@pytest.mark.parametrize("order", list(itertools.permutations(["lesson", "steps", "keywords", "success"])))
def test_the_order_of_the_fields_changes_no_value(order: tuple[str, ...]) -> None:
    fields = sorted(order)
    assert answer(prompt(list(order)), fields) == answer(prompt(fields), fields)


def test_a_third_partys_prompt_in_its_own_words_works() -> None:
    """Its own field name, its own wording, messages split over roles, the outcome before the task."""
    system = (
        "You keep a cookbook for a robot.\nReply in JSON:\n* recipe (list of text): the moves\n"
        "* steps (list of text): with placeholders for names\n* kinds (list of text): skill or workflow"
    )
    user = f"Outcome: success\nTask: {TASK}\n\n{trajectory(SOLVED)}"
    backbone = SimulatedBackbone.build({}, seed=0)
    reply = backbone.complete(
        [Message("system", system), Message("user", user)], sampling=Sampling(), purpose="third_party"
    )
    found = json.loads(reply.text)
    assert found["steps"][-1] == "move {object} to {target}"
    assert found["kinds"] == ["skill", "workflow"]
    assert isinstance(found["recipe"], list)


def test_the_use_of_one_action_is_the_particular_one() -> None:
    text = prompt(["title", "steps"]).replace("actions in order", "the use of one action")
    found = answer(text, ["title", "steps"])
    assert found["steps"] == ["clean {object} with sinkbasin"]
    assert found["title"] == "Clean {object} with sinkbasin"


@pytest.mark.parametrize(
    ("items", "decision", "indices"),
    [
        ("", "create", []),
        ("1. Examine a statue: take {object} from {place}; use desklamp", "create", []),
        (
            "1. Examine a statue: use desklamp\n"
            "2. Put a clean {object} in {target} (put a clean mug in coffeemachine): go to {place}; take {object} from "
            "{place}; go to sinkbasin; clean {object} with sinkbasin; move {object} to {target}",
            "refine",
            [2],
        ),
    ],
)
def test_a_decision_follows_the_nearest_known_item(items: str, decision: str, indices: list[int]) -> None:
    fields = ["decision", "indices", "title", "steps"]
    found = answer(prompt(fields, items=items), fields)
    assert (found["decision"], found["indices"]) == (decision, indices)


def test_kinds_and_decisions_are_always_among_those_offered() -> None:
    text = prompt(["decision", "kinds"]).replace("create, refine or merge", "noop, add or update")
    found = answer(text.replace("skill, code, workflow", "strategic, operational"), ["decision", "kinds"])
    assert found["decision"] == "add"
    assert set(found["kinds"]) <= {"strategic", "operational"}


def test_without_an_outcome_it_judges_rightly_as_often_as_it_is_told_to() -> None:
    goals = [f"put a clean {thing} in coffeemachine." for thing in ("mug", "cup", "bowl", "fork", "plate", "pan") * 1]
    verdicts = {}
    for share in (1.0, 0.0):
        verdicts[share] = [
            answer(
                prompt(["success"], "", goal, [(a.replace("mug", goal.split()[3]), s) for a, s in SOLVED]),
                ["success"],
                p_judge=share,
            )["success"]
            for goal in goals
        ]
    assert verdicts == {1.0: [True] * 6, 0.0: [False] * 6}


def test_tags_name_the_goals_operation_and_thing() -> None:
    assert answer(prompt(["tags"], task="put a hot apple in fridge."), ["tags"])["tags"] == [
        "op:heat",
        "op:put",
        "obj:apple",
    ]


def test_a_prompt_without_fields_gets_plain_words() -> None:
    text = f"What do you learn from this?\n\nTask: {TASK}\nOutcome: success\n\n{trajectory(SOLVED)}"
    reply = ask(text).text
    assert reply.startswith("Do this in order: ")
    assert "clean mug 1 with sinkbasin 1" in reply


def test_an_attempt_shown_in_part_is_still_told_from_its_ends() -> None:
    long = [(f"go to shelf {at}", f"You arrive at shelf {at}. On the shelf {at}, you see nothing.") for at in range(40)]
    text = prompt(["steps"], pairs=[*long, *SOLVED[5:]])
    assert "steps left out" in text
    assert answer(text, ["steps"])["steps"][-1] == "move {object} to {target}"


@pytest.mark.parametrize(
    "text", ["", "- steps (list of text): x", "Task:", "{}", "Outcome: maybe\n- success (yes or no)"]
)
def test_a_prompt_that_shows_nothing_still_gets_a_well_formed_answer(text: str) -> None:
    assert ask(text).text
