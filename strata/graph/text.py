"""Text of models made fit to store, compare and show: one line, no control characters, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable

import snowballstemmer

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NUMBERING = re.compile(r"^(?:step\s+\d+\s*[:.)-]|\d+\s*[.):](?=\s|$)|[-*•](?=\s|$))\s*", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")
_SLUG = re.compile(r"[^a-z0-9]+")

_STOP_WORDS = """
a about after all also an and any are as at be been before but by can could did do does each for from had has have he
her here him his how i if in into is it its just may me more my no not of off on once one only or other our out own
please same she should so some such than that the their them then there these they this those to too under up us was
we were what when where which while who whose will with would you your
"""


def line(text: str, limit: int = 300) -> str:
    """`text` on one line without control characters, at most `limit` characters long."""
    flat = " ".join(_CONTROL.sub(" ", text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def steps(items: Iterable[str], limit: int = 200) -> tuple[str, ...]:
    """Steps on one line each, without numbering or bullets, empty ones dropped."""
    cleaned = (_NUMBERING.sub("", line(item, limit)) for item in items)
    return tuple(item for item in cleaned if item)


def normal(text: str) -> str:
    """What two texts share when they differ only in letter case, spaces and punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def slug(text: str, limit: int = 40) -> str:
    """A readable identifier part: lower-case words joined by hyphens, cut at a word where possible."""
    words = _SLUG.sub("-", text.lower()).strip("-")
    if len(words) > limit:
        words = words[:limit].rsplit("-", 1)[0] if "-" in words[:limit] else words[:limit]
    return words or "node"


def short_hash(seq: int) -> str:
    """Six hexadecimal digits, different for every sequence number below 2**24 (an odd factor permutes them)."""
    return f"{(seq * 0x9E3779) % 0x1000000:06x}"


class Tokenizer:
    """Words of a text, lower-case, stemmed (Snowball English), without stop words."""

    def __init__(self) -> None:
        self._stop_words = frozenset(_STOP_WORDS.split())
        self._stemmer = snowballstemmer.stemmer("english")
        self._stems: dict[str, str] = {}

    def tokens(self, text: str) -> list[str]:
        """Stems in order, repeats kept."""
        return [self._stem(word) for word in _WORD.findall(text.lower()) if word not in self._stop_words]

    def _stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            stem = self._stems[word] = str(self._stemmer.stemWord(word))
        return stem
