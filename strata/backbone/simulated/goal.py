"""What a goal sentence asks for: its things, where they shall end up, and how many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from strata.backbone.simulated.knowledge import Category, Knowledge

_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)?|[.,;:]")
_FIRST = re.compile(r"(?<=[\w')])[.;]\s+")
_OPENING = re.compile(r"^(?:your task is to|the task is to|please)\s*:?\s*", re.IGNORECASE)
_NUMBERS = {"two": 2, "three": 3, "four": 4}
_PARTS = ("theme", "target", "tool")
_TO = frozenset(["in", "on", "to", "into", "onto", "inside"])
_BY = frozenset(["with", "under", "using", "by", "near", "around", "from", "at"])
_LINKS = frozenset(["and", "then", "or", ".", ";", ",", ":"])


@dataclass(frozen=True, slots=True)
class Goal:
    """Words (stems) of a goal by their part in it. `category` is set when it names only a kind of thing.

    `target` is the first place that it names, `targets` are all of them. `head` is the first sentence, which says what
    is to be achieved, without its opening phrase.
    """

    text: str
    head: str
    words: frozenset[str]
    head_words: frozenset[str]
    themes: frozenset[str]
    target: frozenset[str]
    targets: frozenset[str]
    tools: frozenset[str]
    count: int
    category: Category | None


def read_goal(text: str, knowledge: Knowledge) -> Goal:
    """Part the goal's content words by the prepositions before them."""
    text = " ".join(text.replace("(n)", "").split())
    head = _OPENING.sub("", _FIRST.split(text)[0]).rstrip(".")
    tokens = _TOKEN.findall(text.lower())
    phrases = _phrases(tokens, knowledge)
    words = {part: frozenset(word for own, found in phrases if own == part for word in found) for part in _PARTS}
    head_words = knowledge.lexicon.content(head)
    categories = [kind for kind in knowledge.categories if kind.name <= head_words]
    return Goal(
        text=text,
        head=head,
        words=knowledge.lexicon.content(text),
        head_words=head_words,
        themes=words["theme"] - words["target"],
        target=next((frozenset(found) for part, found in phrases if part == "target" and found), frozenset()),
        targets=words["target"],
        tools=words["tool"],
        count=next((_NUMBERS[token] for token in tokens if token in _NUMBERS), 1),
        category=max(categories, key=lambda kind: len(kind.name), default=None),
    )


def _phrases(tokens: Sequence[str], knowledge: Knowledge) -> list[tuple[str, list[str]]]:
    """The things that are named, as (part, words), a new phrase at every preposition and link."""
    phrases: list[tuple[str, list[str]]] = [("theme", [])]
    for before, token in zip(["", *tokens], tokens, strict=False):
        particle = knowledge.lexicon.word(before) in knowledge.goal_verbs
        started = any(words for _, words in phrases)
        if token in _LINKS:
            phrases.append(("theme", []))
        elif token in _TO | _BY and started and not particle:
            phrases.append(("target" if token in _TO else "tool", []))
        elif token not in _TO | _BY and token not in _NUMBERS:
            phrases[-1][1].extend(knowledge.lexicon.content(token) - knowledge.goal_verbs)
    return phrases
