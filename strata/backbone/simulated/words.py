"""Words of a text, as the simulated agent compares them: lower-case, without endings, numbers and function words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_NUMBER = re.compile(r"\s+\d+\b")
_ARTICLE = re.compile(r"^(?:an?|the|some|any|your|its|one)\s+")

_KEPT = 20_000
_STOP = """
    a about after again all also an and any are as at be been before but by can could did do does done each first for
    from had has have he her here his how i if in into is it its just let like may me more must my need next no not now
    of off on once one onto or other our out own please same shall she should so some such task than that the their them
    then there these they thing things this those to too under until up us was we were what when where which while who
    will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())


def stem(word: str) -> str:
    """A word without its common English ending: heating, heated and heats all give `heat`."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


def noun(name: str) -> str:
    """A name without article and instance number: `a mug 1` gives `mug`."""
    return _NUMBER.sub("", _ARTICLE.sub("", name.lower().strip())).strip()


def content_words(text: str) -> list[str]:
    """Lower-case words without function words, in their order."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


class Lexicon:
    """Content words of texts, with words of one meaning brought to one form (`mains`: its stem -> the word)."""

    def __init__(self, synonyms: Mapping[str, Iterable[str]]) -> None:
        self._canon = {stem(word): stem(main) for main, words in synonyms.items() for word in words}
        self.mains = {stem(main): main for main in synonyms}
        self._known: dict[str, frozenset[str]] = {}
        self._nouns: dict[str, str] = {}

    def word(self, word: str) -> str:
        """The stem that stands for a word."""
        root = stem(word)
        return self._canon.get(root, root)

    def listed(self, text: str) -> list[str]:
        """Content words in their order."""
        return [self.word(word) for word in content_words(text)]

    def noun(self, name: str) -> str:
        """`noun` of a name, remembered."""
        found = self._nouns.get(name)
        if found is None:
            if len(self._nouns) > _KEPT:
                self._nouns.clear()
            found = self._nouns[name] = noun(name)
        return found

    def content(self, text: str) -> frozenset[str]:
        """The set of content words. Remembered for texts of up to 200 characters (names and commands recur)."""
        if len(text) > 200:
            return frozenset(self.listed(text))
        found = self._known.get(text)
        if found is None:
            if len(self._known) > _KEPT:
                self._known.clear()
            found = self._known[text] = frozenset(self.listed(text))
        return found
