"""Overlap of token sets through inverted lists: tags (Jaccard) and words (Jaccard or BM25).

A slot is a row number. Lists only grow; the owner rebuilds them when many slots are dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

K1, B = 1.2, 0.75
"""The usual constants of BM25."""


class _Column:
    """Numbers, growing by doubling."""

    __slots__ = ("_array", "_size")

    def __init__(self, dtype: type) -> None:
        self._array: npt.NDArray[Any] = np.zeros(4, dtype=dtype)
        self._size = 0

    def append(self, value: int) -> None:
        if self._size == len(self._array):
            self._array = np.concatenate([self._array, np.zeros_like(self._array)])
        self._array[self._size] = value
        self._size += 1

    @property
    def values(self) -> npt.NDArray[Any]:
        return self._array[: self._size]


class _List:
    """Slots that hold a token, with the number of times."""

    __slots__ = ("count", "slot")

    def __init__(self) -> None:
        self.slot = _Column(np.int64)
        self.count = _Column(np.float64)

    def append(self, slot: int, count: int) -> None:
        self.slot.append(slot)
        self.count.append(count)


class Overlap:
    """Token counts of many slots, compared with a query's all at once."""

    def __init__(self) -> None:
        self._lists: dict[str, _List] = {}
        self._unique = _Column(np.float64)
        self._length = _Column(np.float64)
        self._size = 0

    def append(self, tokens: Iterable[str]) -> None:
        """Add the next slot."""
        counts = Counter(tokens)
        for token, count in counts.items():
            self._lists.setdefault(token, _List()).append(self._size, count)
        self._size += 1
        self._unique.append(len(counts))
        self._length.append(sum(counts.values()))

    def jaccard(self, tokens: Iterable[str]) -> Floats:
        """|A and B| / |A or B| with every slot; 0 where both are empty."""
        query = set(tokens)
        size = self._size
        shared = np.zeros(size)
        for token in query:
            found = self._lists.get(token)
            if found is not None:
                shared[found.slot.values] += 1.0
        union = self._unique.values + float(len(query)) - shared
        return np.divide(shared, union, out=np.zeros(size), where=union > 0)

    def bm25(self, tokens: Iterable[str], live: npt.NDArray[np.bool_], *, symmetric: bool) -> Floats:
        """BM25 with every slot as a share of the highest value the query could reach, so in [0, 1].

        `live` marks the slots that document frequencies and the mean length are taken from. With `symmetric` the
        mean of both directions is returned, each slot once taking the query's part.
        """
        query = Counter(tokens)
        size = self._size
        idf = self._idf(live)
        length = self._length.values
        mean = float(length[live].mean()) if live.any() else 0.0
        norm = K1 * (1 - B + B * length / mean) if mean > 0 else np.full(size, K1)
        own = K1 * (1 - B + B * sum(query.values()) / mean) if mean > 0 else K1
        there, back = np.zeros(size), np.zeros(size)
        for token in sorted(query):
            found = self._lists.get(token)
            if found is None:
                continue
            slot, count = found.slot.values, found.count.values
            there[slot] += idf[token] * count * (K1 + 1) / (count + norm[slot])
            back[slot] += idf[token] * query[token] * (K1 + 1) / (query[token] + own)
        unseen = float(np.log(1 + (live.sum() + 0.5) / 0.5))
        best = sum(idf.get(token, unseen) for token in query) * (K1 + 1)
        forward = there / best if best > 0 else np.zeros(size)
        if not symmetric:
            return forward
        reach = self._reach(idf) * (K1 + 1)
        backward = np.divide(back, reach, out=np.zeros(size), where=reach > 0)
        return (forward + backward) / 2

    def _idf(self, live: npt.NDArray[np.bool_]) -> Mapping[str, float]:
        total = int(live.sum())
        found = {token: int(live[items.slot.values].sum()) for token, items in self._lists.items()}
        return {token: float(np.log(1 + (total - n + 0.5) / (n + 0.5))) for token, n in found.items()}

    def _reach(self, idf: Mapping[str, float]) -> Floats:
        reach = np.zeros(self._size)
        for token, items in self._lists.items():
            reach[items.slot.values] += idf[token]
        return reach
