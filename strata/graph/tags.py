"""Section 2, tags: texts and nodes are parsed into one space of `app:*`, `op:*` and `obj:*`.

`RulesTagger` finds the words of a vocabulary file; `read_tags` cleans a model's answer with the same vocabulary, so
that both name operators alike (melt, boil and warm are `op:heat`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

import yaml

from strata.errors import DataError
from strata.graph.model import PREFIXES, order_tags
from strata.graph.text import slug

_FALLBACK = "general"


@dataclass(frozen=True)
class Vocabulary:
    """Canonical names and the words that stand for them, for one environment.

    Operators come from specific to general; those in `fallback` count only where a text names no other. Without `apps`
    no app tag is made, because then one tag would be common to all nodes and all groups would collapse into one.
    """

    name: str
    operators: Mapping[str, tuple[str, ...]]
    objects: Mapping[str, tuple[str, ...]]
    apps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    app_from_group: bool = False
    fallback: tuple[str, ...] = ()

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Lower-case word or phrase -> tags. A word may name an app and an object at once."""
        found: dict[str, list[str]] = {}
        for prefix, table in (("app", self.apps), ("op", self.operators), ("obj", self.objects)):
            for canonical, words in table.items():
                for word in (canonical, *words):
                    tags = found.setdefault(word.lower(), [])
                    if f"{prefix}:{canonical}" not in tags:
                        tags.append(f"{prefix}:{canonical}")
        return {word: tuple(tags) for word, tags in found.items()}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any word or phrase of the vocabulary, longest first, with a plural ending allowed."""
        choices = sorted(self.words, key=lambda word: (-len(word), word))
        return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, choices)) + r")(?:e?s)?(?![\w-])", re.IGNORECASE)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All tags that the vocabulary can give, sorted."""
        tables = (("app", self.apps), ("op", self.operators), ("obj", self.objects))
        return tuple(sorted(f"{prefix}:{name}" for prefix, table in tables for name in table))

    def canonical(self, prefix: str, value: str) -> str:
        """`prefix:name` for a word in any of its forms; an unknown one is kept as a slug."""
        for tag in self.words.get(value.lower().strip(), ()):
            if tag.startswith(f"{prefix}:"):
                return tag
        return f"{prefix}:{slug(value)}"


class Vocabularies:
    """The vocabulary files of the package, read when first asked for."""

    def __init__(self) -> None:
        self._root = files("strata.graph") / "vocabulary"
        self._read: dict[str, Vocabulary] = {}

    def get(self, environment: str) -> Vocabulary:
        """The vocabulary of an environment; a variant such as `appworld_test_normal` takes the longest known prefix."""
        if environment not in self._read:
            names = {item.name.removesuffix(".yaml") for item in self._root.iterdir() if item.name.endswith(".yaml")}
            fitting = [name for name in names if environment == name or environment.startswith(f"{name}_")]
            self._read[environment] = self._load(max(fitting, key=len, default=_FALLBACK))
        return self._read[environment]

    def _load(self, name: str) -> Vocabulary:
        raw = yaml.safe_load((self._root / f"{name}.yaml").read_text(encoding="utf-8"))
        try:
            tables = {
                key: {str(entry): tuple(map(str, words)) for entry, words in (raw.get(key) or {}).items()}
                for key in ("operators", "objects", "apps")
            }
        except (AttributeError, TypeError) as error:
            raise DataError(f"Vocabulary {name}.yaml: must map names to lists of words ({error}).") from error
        fallback = tuple(map(str, raw.get("fallback") or ()))
        return Vocabulary(name=name, app_from_group=bool(raw.get("app_from_group")), fallback=fallback, **tables)


def rule_tags(vocabulary: Vocabulary, text: str, group: str = "") -> tuple[str, ...]:
    """Tags of a text: apps and objects in order of mention, operators from specific to general.

    `group` is the task's declared group; it becomes the app tag where the vocabulary says so and the text names none.
    """
    found: list[str] = []
    for match in vocabulary.pattern.finditer(text):
        word = match[0].lower()
        found += vocabulary.words.get(word) or vocabulary.words[match[1].lower()]
    if vocabulary.app_from_group and group and not any(tag.startswith("app:") for tag in found):
        found.insert(0, vocabulary.canonical("app", group))
    ordered = arrange(vocabulary, found)
    weak = {f"op:{name}" for name in vocabulary.fallback}
    operators = [tag for tag in ordered if tag.startswith("op:")]
    if operators:
        kept = [tag for tag in operators if tag not in weak] or operators[:1]
        ordered = tuple(tag for tag in ordered if not tag.startswith("op:") or tag in kept)
    return ordered


def arrange(vocabulary: Vocabulary, tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in order: app, op, obj; operators as the vocabulary lists them, unknown ones after those."""
    rank = {f"op:{name}": place for place, name in enumerate(vocabulary.operators)}
    ordered = order_tags(tags)
    operators = sorted((tag for tag in ordered if tag.startswith("op:")), key=lambda tag: rank.get(tag, len(rank)))
    apps = [tag for tag in ordered if tag.startswith("app:")]
    objects = [tag for tag in ordered if tag.startswith("obj:")]
    return (*apps, *operators, *objects)


def read_tags(vocabulary: Vocabulary, items: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """A model's tags in canonical form, and how many had no known prefix and were dropped."""
    tags, dropped = [], 0
    for item in items:
        prefix, _, value = item.strip().partition(":")
        prefix = prefix.strip().lower()
        if prefix not in PREFIXES or not value.strip():
            dropped += 1
        elif prefix != "app" or vocabulary.apps:
            tags.append(vocabulary.canonical(prefix, value))
    return arrange(vocabulary, tags), dropped


def add_noise(vocabulary: Vocabulary, tags: tuple[str, ...], share: float, rng: random.Random) -> tuple[str, ...]:
    """Each tag replaced, with probability `share`, by another of the same prefix."""
    if share <= 0:
        return tags
    noisy = []
    for tag in tags:
        prefix = tag.partition(":")[0]
        others = [other for other in vocabulary.tags if other.startswith(f"{prefix}:") and other != tag]
        hit = rng.random() < share
        noisy.append(rng.choice(others) if hit and others else tag)
    return arrange(vocabulary, noisy)
