"""Model text becomes one bounded line; words are stemmed; identifiers are unique."""

from __future__ import annotations

import pytest

from strata.graph.text import Tokenizer, line, normal, short_hash, slug, steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  take  the\tegg \n then heat it ", "take the egg then heat it"),
        ("a\x00b\x1b[31mc\u2028d\x85e", "a b [31mc d e"),
        ("", ""),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_text_is_one_bounded_line(text, expected):
    assert line(text) == expected


def test_steps_lose_numbering_bullets_and_empty_entries():
    given = ["1. go to {place}", "2) take {object}", "- open it", "Step 3: close it", " \n", "• look", "10 apples"]
    assert steps(given) == ("go to {place}", "take {object}", "open it", "close it", "look", "10 apples")


def test_texts_that_differ_in_case_space_and_punctuation_are_equal_after_normalisation():
    assert normal("If it is HOT,  wait!") == normal("if it is hot - wait") != normal("if it is hot, run")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Put a hot egg!", "put-a-hot-egg"), ("", "node"), ("***", "node"), ("a" * 60, "a" * 40), ("ab " * 30, None)],
)
def test_slug_is_readable_and_short(text, expected):
    made = slug(text)
    assert len(made) <= 40
    assert made == (expected or made)
    assert not made.startswith("-")
    assert not made.endswith("-")


def test_hashes_of_sequence_numbers_never_repeat():
    assert len({short_hash(seq) for seq in range(200_000)}) == 200_000
    assert all(len(short_hash(seq)) == 6 for seq in (0, 1, 2**24 - 1))


def test_tokens_are_stems_without_stop_words_and_keep_repeats():
    assert Tokenizer().tokens("The heated eggs, and an egg: heating {eggs}") == ["heat", "egg", "egg", "heat", "egg"]
    assert Tokenizer().tokens("the and of") == []
