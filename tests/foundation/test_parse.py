"""From a reply to an action."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import parse
from strata.types import Action, ParseFailure


@pytest.mark.parametrize(
    ("reply", "thought", "command"),
    [
        ("Thought: look first\nAction: go to desk 1", "look first", "go to desk 1"),
        ("**Thought:** look\n**Action:** `go to desk 1`", "look", "go to desk 1"),
        ("thought: a\nACTION: go to desk 1", "a", "go to desk 1"),
        ("I should look.\nAction: look", "I should look.", "look"),
        ("Action: look", "", "look"),
        ("Thought: two\nlines\nAction: look", "two lines", "look"),
        ("Thought: x\nAction:\nlook", "x", "look"),
        ("> Thought: x\n> Action: look", "x", "look"),
        ("- Action: 'go to desk 1'", "", "go to desk 1"),
    ],
)
def test_usual_forms_are_read(reply: str, thought: str, command: str) -> None:
    assert parse.action(reply) == Action(text=command, thought=thought)


def test_what_is_imagined_after_the_first_action_is_dropped() -> None:
    reply = "Thought: a\nAction: look\nObservation: you see a mug\nAction: take mug"
    assert parse.action(reply) == Action(text="look", thought="a")


@pytest.mark.parametrize("reply", ["", "I am done.", "Thought: hm", "Action:", "Action: ``", "reaction: none"])
def test_a_reply_without_an_action_is_a_failure_that_keeps_the_reply(reply: str) -> None:
    result = parse.action(reply)
    assert isinstance(result, ParseFailure)
    assert result.raw == reply
    assert result.reason


@given(st.text())
def test_any_text_is_answered(reply: str) -> None:
    result = parse.action(reply)
    if isinstance(result, Action):
        assert result.text
        assert "\n" not in result.text


words = st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1)


@given(thought=st.lists(words, min_size=1), command=st.lists(words, min_size=1))
def test_the_demanded_form_is_read_back(thought: list[str], command: list[str]) -> None:
    wanted = Action(text=" ".join(command), thought=" ".join(thought))
    assert parse.action(f"Thought: {wanted.thought}\nAction: {wanted.text}") == wanted
