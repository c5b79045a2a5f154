"""The agent's knowledge before any experience, from `knowledge.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from strata.backbone.simulated.words import Lexicon, content_words

_CLAUSE = re.compile(r"\s*[,:;]\s|\s+(?:when|if|because|unless|since)\b", re.IGNORECASE)


class Cues:
    """Generic cues in text: negation, what a negation refers to, failure, and the kinds of labels."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        self._negation = _pattern(words["negation"])
        self._references = _pattern(words["references"])
        self._failures = _pattern(words["failures"])
        self._refusals = _pattern(words["refusals"])
        labels = words["labels"]
        self.perceptions = frozenset(labels["perceptions"])
        self.names = frozenset(labels["names"])
        self.descriptions = frozenset(labels["descriptions"]) | self.names
        self.verdicts = frozenset(labels["verdicts"])
        self.plain_labels = frozenset(labels["plain"]) | self.perceptions | self.verdicts

    def negates(self, text: str) -> bool:
        """Whether a text tells not to do something."""
        return self._negation.search(text) is not None

    def refers(self, text: str) -> bool:
        """Whether a negation is about a neighbouring text as a whole."""
        return self._references.search(text) is not None

    def fails(self, text: str) -> bool:
        """Whether a text reports a failure."""
        return self._failures.search(text) is not None

    def refuses(self, observation: str) -> bool:
        """Whether an observation says that the action before it did nothing."""
        return self._refusals.search(observation) is not None

    def without_negation(self, text: str) -> str:
        """What a sentence forbids: what follows its last cue of negation, without a condition or reason after that."""
        ends = [found.end() for found in self._negation.finditer(text)]
        return _CLAUSE.split(text[ends[-1] :].lstrip(" :,-"))[0] if ends else text


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of task and the generic steps known for it (none: nothing is known)."""

    world: str
    name: str
    all: tuple[str, ...]
    any: tuple[str, ...]
    none: tuple[str, ...]
    steps: tuple[str, ...]

    def fits(self, goal: frozenset[str]) -> bool:
        """Whether goal words (stems) belong to this family."""
        return (
            goal.issuperset(self.all) and (not self.any or not goal.isdisjoint(self.any)) and goal.isdisjoint(self.none)
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of thing that a goal may ask for, with the words of things that are of it and that are not."""

    name: frozenset[str]
    words: frozenset[str]
    excluded: frozenset[str]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything in `knowledge.yaml`, words as stems."""

    lexicon: Lexicon
    cues: Cues
    verbs: Mapping[str, frozenset[str]]
    goal_verbs: frozenset[str]
    weak_verbs: frozenset[str]
    families: tuple[Family, ...]
    categories: tuple[Category, ...]
    decisions: Mapping[str, str]
    kinds: Mapping[str, str]
    scopes: Mapping[str, re.Pattern[str]]

    def decision_of(self, word: str) -> str:
        """What a decision means (same, near, joined, new); empty for a word that is none."""
        return self.decisions.get(word, "")

    def kind_of(self, word: str) -> str:
        """What a kind of experience needs (task, unit, code); empty for a word that is none."""
        return self.kinds.get(word, "")

    def asks(self, scope: str, description: str) -> bool:
        """Whether a prompt or description asks for a scope (unit, difference, general)."""
        return self.scopes[scope].search(description) is not None

    def spoken(self, text: str) -> dict[str, str]:
        """Stem -> the word as it stands in a text, for the content words of the text."""
        return {self.lexicon.word(word): word for word in content_words(text)}

    def is_verb(self, kind: str, verb: str) -> bool:
        """Whether a template's verb is of a kind (navigate, open, take, release, look, idle, meddle)."""
        return (verb if verb in self.verbs[kind] else verb.split(" ", 1)[0]) in self.verbs[kind]


def load_knowledge() -> Knowledge:
    """Read the packaged file."""
    text = files("strata.backbone.simulated").joinpath("knowledge.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    lexicon = Lexicon(data["synonyms"])
    return Knowledge(
        lexicon=lexicon,
        cues=Cues(data),
        verbs={kind: frozenset(words) for kind, words in data["verbs"].items()},
        goal_verbs=_stems(data["goal_verbs"], lexicon),
        weak_verbs=_stems(data["weak_verbs"], lexicon),
        families=tuple(_family(item, lexicon) for item in data["families"]),
        categories=tuple(
            Category(lexicon.content(name), _stems(item["words"], lexicon), _stems(item["not"], lexicon))
            for name, item in data["categories"].items()
        ),
        decisions={word: group for group, words in data["decisions"].items() for word in words},
        kinds={word: group for group, words in data["kinds"].items() for word in words},
        scopes={scope: _pattern(phrases) for scope, phrases in data["scopes"].items()},
    )


def _family(item: Mapping[str, Any], lexicon: Lexicon) -> Family:
    words = {key: tuple(map(lexicon.word, item.get(key, ()))) for key in ("all", "any", "none")}
    return Family(world=item["world"], name=item["family"], steps=tuple(item.get("steps", ())), **words)


def _stems(words: Iterable[str], lexicon: Lexicon) -> frozenset[str]:
    return frozenset(map(lexicon.word, words))


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    choices = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"\b(?:{choices})\b", re.IGNORECASE)
