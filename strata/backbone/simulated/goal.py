"""What a goal sentence asks for: its things, where they shall end up, and how many."""

from __future__ import annotations

import re
from dataclasses import dataclass

from strata.backbone.simulated.knowledge import Category, Knowledge
from strata.backbone.simulated.words import noun, stem

_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)?|[.,;:]")
_FIRST = re.compile(r"[.;]\s")
_NUMBERS = {"two": 2, "three": 3, "four": 4}
_TO = frozenset(["in", "on", "to", "into", "onto", "inside"])
_BY = frozenset(["with", "under", "using", "by", "near", "around", "from", "at"])
_LINKS = frozenset(["and", "then", "or", ".", ";", ",", ":"])


@dataclass(frozen=True, slots=True)
class Goal:
    """Words (stems) of a goal by their part in it. `category` is set when it names only a kind of thing."""

    text: str
    words: frozenset[str]
    themes: frozenset[str]
    targets: frozenset[str]
    tools: frozenset[str]
    count: int
    category: Category | None


def read_goal(text: str, knowledge: Knowledge) -> Goal:
    """Part the goal's content words by the prepositions before them."""
    parts: dict[str, set[str]] = {"theme": set(), "target": set(), "tool": set()}
    part = "theme"
    seen_theme = False
    tokens = _TOKEN.findall(text.lower())
    for before, token in zip(["", *tokens], tokens, strict=False):
        particle = knowledge.lexicon.word(before) in knowledge.goal_verbs
        if token in _LINKS:
            part = "theme"
        elif token in _TO | _BY and seen_theme and not particle:
            part = "target" if token in _TO else "tool"
        elif token not in _TO | _BY:
            for word in knowledge.lexicon.content(token) - knowledge.goal_verbs:
                if stem(token) not in _NUMBERS:
                    parts[part].add(word)
                    seen_theme = True
    words = knowledge.lexicon.content(text)
    asked = knowledge.lexicon.content(_FIRST.split(text)[0])
    categories = [kind for kind in knowledge.categories if kind.name <= asked]
    return Goal(
        text=text,
        words=words,
        themes=frozenset(parts["theme"] - parts["target"]),
        targets=frozenset(parts["target"]),
        tools=frozenset(parts["tool"]),
        count=next((_NUMBERS[token] for token in tokens if token in _NUMBERS), 1),
        category=max(categories, key=lambda kind: len(kind.name), default=None),
    )


def fit(name: str, words: frozenset[str], knowledge: Knowledge) -> bool:
    """Whether all words of a name occur in a set of words."""
    own = knowledge.lexicon.content(noun(name))
    return bool(own) and own <= words
