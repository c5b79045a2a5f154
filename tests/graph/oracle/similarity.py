"""Oracle, section 2: one similarity for retrieval, reflection, W and activation.

Written from the specification alone, with plain Python numbers. A thing to compare (node, candidate or query) is a
dict with `content` and `index` (tuples of floats), `tags` (list of str) and `tokens` (frozenset of str).
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import snowballstemmer

Thing = dict[str, Any]
STOP_WORDS = frozenset(
    ["a", "an", "and", "do", "in", "it", "of", "on", "the", "to", "with"]
)  # those that the streams use
TERMS = ("content", "index", "tag", "lexical")


@cache
def tokens(content: str, index: str) -> frozenset[str]:
    """Stemmed words of both views, without stop words."""
    words = [word for word in re.findall(r"[a-z0-9]+", f"{content} {index}".lower()) if word not in STOP_WORDS]
    return frozenset(snowballstemmer.stemmer("english").stemWords(words))


@cache
def cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Clipped to 0 from below; 0 when a vector is zero."""
    dot = length_a = length_b = 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        length_a += x * x
        length_b += y * y
    if length_a == 0 or length_b == 0:
        return 0.0
    return max(0.0, dot / (math.sqrt(length_a) * math.sqrt(length_b)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Overlap of two sets, 0 when both are empty."""
    return len(a & b) / len(a | b) if a or b else 0.0


def weights(settings: dict[str, Any]) -> dict[str, float]:
    """Dropped terms have weight 0, the others are scaled to sum 1."""
    given = settings["similarity"]["weights"]
    total = math.fsum(given[term] for term in TERMS)
    return {term: given[term] / total for term in TERMS}


def parts(a: Thing, b: Thing) -> dict[str, float]:
    """The four signals."""
    return {
        "content": cosine(a["content"], b["content"]),
        "index": cosine(a["index"], b["index"]),
        "tag": jaccard(frozenset(a["tags"]), frozenset(b["tags"])),
        "lexical": jaccard(a["tokens"], b["tokens"]),
    }


def similarity(weight: dict[str, float], a: Thing, b: Thing) -> float:
    """s(q, n) when `a` is a query, s_nn(a, b) when both are nodes: the terms summed in the formula's order, up to 1."""
    part = parts(a, b)
    score = 0.0
    for term in TERMS:
        score += weight[term] * part[term]
    return min(score, 1.0)
