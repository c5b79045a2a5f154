"""Prompt files, the agent's messages, and the reading of structured replies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import UsageError
from strata.prompts import PromptLibrary, build_messages, render_trajectory
from strata.prompts.fields import ReplyError, read_fields
from strata.types import ActionGrammar, EnvironmentGuide, Observation, Turn

GUIDE = EnvironmentGuide("A house.", ActionGrammar(("go to {place}", "look")))
START = Observation("You see a desk.", instruction="find a pen", admissible=("go to desk 1", "look"))


def messages(turns: tuple[Turn, ...] = (), now: Observation = START, **options: str) -> list[tuple[str, str]]:
    built = build_messages(PromptLibrary().get("agent/act"), GUIDE, "find a pen", START, turns, now, **options)
    return [(message.role, message.content) for message in built]


def test_every_prompt_has_a_version_and_an_owner() -> None:
    library = PromptLibrary()
    assert "agent/act" in library.names()
    for name in library.names():
        assert library.get(name).version >= 1


def test_a_replaced_prompt_is_used_and_hashed(tmp_path: Path) -> None:
    text = "version: 7\n$description $actions $irreversible $hints"
    (tmp_path / "mine.txt").write_text(text)
    library = PromptLibrary({"agent/act": str(tmp_path / "mine.txt")})
    assert library.get("agent/act").version == 7
    assert library.hashes(["agent"]) != PromptLibrary().hashes(["agent"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("agent/atc", "version: 1\n", "no such prompt"),
        ("agent/act", None, "cannot read"),
        ("agent/act", "no version", "must start with a line"),
        ("agent/act", "version: 1\n$descripton", "placeholders"),
    ],
)
def test_a_wrong_replacement_is_named(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    path = tmp_path / "mine.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=message):
        PromptLibrary({name: str(path)}).get(name).fill(description="", actions="", irreversible="", hints="")


def test_the_first_message_shows_grammar_task_and_commands() -> None:
    (_, system), (role, user) = messages()
    assert "- go to {place}\n- look" in system
    assert "\n\n\n" not in system
    assert role == "user"
    assert user == ("Task: find a pen\n\nObservation: You see a desk.\n\nAdmissible actions:\n- go to desk 1\n- look")


def test_memory_ends_the_system_message_and_none_leaves_it_untouched() -> None:
    assert messages(memory="") == messages()
    with_memory = messages(memory="Use the desk.\n")
    assert with_memory[0][1] == messages()[0][1] + "\n\nUse the desk."
    assert with_memory[1:] == messages()[1:]


def test_only_the_last_observation_lists_commands() -> None:
    turn = Turn("walk", "go to desk 1", "On the desk you see a pen.", 0.0)
    now = Observation("On the desk you see a pen.", admissible=("take pen 1",))
    shown = messages((turn,), now, note="Mind the cat.")
    assert [role for role, _ in shown] == ["system", "user", "assistant", "user"]
    assert "Admissible" not in shown[1][1]
    assert shown[2][1] == "Thought: walk\nAction: go to desk 1"
    assert shown[3][1].endswith("- take pen 1\n\nMind the cat.")


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 20))
def test_a_long_trajectory_keeps_both_ends_and_says_what_is_missing(count: int, head: int, tail: int) -> None:
    turns = [Turn("t", f"act {number}", "seen", 0.0) for number in range(1, count + 1)]
    text = render_trajectory(turns, head=head, tail=tail)
    kept = [line for line in text.splitlines() if line.startswith("Action: ")]
    expected = [n for n in range(1, count + 1) if n <= head or n > count - tail]
    assert kept == [f"Action: act {n}" for n in expected]
    assert (f"[{count - len(expected)} steps left out]" in text) == (len(expected) < count)


def test_a_long_observation_is_cut_and_says_so() -> None:
    text = render_trajectory([Turn("", "look", "x" * 30, 0.0)], observation_chars=10)
    assert text.endswith("Observation: xxxxxxxxxx [20 characters left out]")


FIELDS = {"steps": "list of text", "when": "text", "indices": "list of number", "success": "yes or no"}
VALID = '{"steps": ["go to desk"], "when": "always", "indices": [1], "success": "yes"}'
READ = {"steps": ["go to desk"], "when": "always", "indices": [1], "success": True}


@pytest.mark.parametrize(
    "reply",
    [
        VALID,
        f"```json\n{VALID}\n```",
        f"Sure, here it is:\n{VALID}\nHope this helps!",
        VALID.replace('["go to desk"]', '"go to desk"').replace("[1]", '["1"]'),
        VALID.replace('"yes"', "true"),
        VALID[:-1] + ', "more": 1}',
        VALID[:-1] + ",}",
    ],
)
def test_usual_wrappings_are_read(reply: str) -> None:
    assert read_fields(reply, FIELDS) == READ  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        ('{"when": "always"}', "fields missing"),
        (VALID.replace('"always"', "[1]"), "when is not text"),
        (VALID.replace("[1]", '["one"]'), "indices is not"),
        (VALID.replace("[1]", "[true]"), "indices is not"),
        (VALID.replace('"yes"', '"perhaps"'), "neither yes nor no"),
        (VALID.replace('["go to desk"]', "null"), "steps is not"),
        (VALID.replace('["go to desk"]', "[null]"), "steps is not"),
        ("[1, 2]", "no JSON object"),
        (VALID[:20], "cut off"),
        (VALID[:-1], "cut off"),
        (VALID[:-1] + "\n```", "cut off"),
        ("{" * 100_000, "cut off"),
    ],
)
def test_anything_else_is_an_error_and_never_an_empty_value(reply: str, message: str) -> None:
    with pytest.raises(ReplyError, match=message):
        read_fields(reply, FIELDS)  # type: ignore[arg-type]


@given(st.text())
def test_any_reply_is_read_or_refused(reply: str) -> None:
    try:
        found = read_fields(reply, {"when": "text"})
    except ReplyError:
        return
    assert isinstance(found["when"], str)
