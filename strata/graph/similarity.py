"""Section 2: one similarity with four terms, and exact search by it.

    s(q, n) = Wc cos(content) + Wi cos(index) + Wt Jaccard(tags) + Wl overlap(words)

Cosines are clipped to [0, 1]; vectors have length 1 or 0. A search scans all nodes in float32, keeps what lies within
`MARGIN` of the cut, and computes those in float64: the order is the float64 formula's, whatever the scan rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.errors import UsageError
from strata.graph.overlap import Floats, Overlap
from strata.graph.settings import Similarity

MARGIN = 5e-4
"""More than a float32 dot product of unit vectors with up to some thousand dimensions can be off."""

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """What similarity sees of a query or a node."""

    content: Vector
    index: Vector
    tags: tuple[str, ...]
    tokens: tuple[str, ...]


def unit_rows(vectors: npt.NDArray[np.floating]) -> Vector:
    """Rows scaled to length 1; zero rows stay. Raises UsageError when an embedder returns something not finite."""
    wide = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(wide).all():
        raise UsageError("The embedder returned a vector that is not finite. Check the embedder and its cache.")
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    scaled: Floats = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled.astype(np.float32)


def jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """|A and B| / |A or B|; 0 when both are empty."""
    left, right = set(a), set(b)
    return len(left & right) / len(left | right) if left or right else 0.0


def _scan(rows: Vector, vector: Vector) -> Vector:
    """Clipped float32 dot products. Not by BLAS, whose threads stall for milliseconds when processes share cores."""
    products: Vector = np.einsum("ij,j->i", rows, vector)
    return products.clip(0.0, 1.0)


def _dots(rows: Vector, vector: Vector) -> Floats:
    """Clipped float64 dot products. One row's result does not depend on the other rows (no BLAS call)."""
    products: Floats = np.einsum("ij,j->i", rows.astype(np.float64), vector.astype(np.float64))
    return products.clip(0.0, 1.0)


class Index:
    """Views of the live nodes in arrays, for search by similarity.

    Slots are rows; a removed node leaves a dead slot until half of them are dead and the arrays are rebuilt. An
    `Index` is derived from the graph and never stored.
    """

    def __init__(self, dimension: int, settings: Similarity) -> None:
        self.dimension = dimension
        self._settings = settings
        self._weights = settings.weights.normalised()
        self.version = 0
        self._clear(16)

    def _clear(self, capacity: int) -> None:
        self._content = np.zeros((capacity, self.dimension), dtype=np.float32)
        self._index = np.zeros((capacity, self.dimension), dtype=np.float32)
        self._live = np.zeros(capacity, dtype=bool)
        self._seqs = np.zeros(capacity, dtype=np.int64)
        self._layers = np.zeros(capacity, dtype=np.int8)
        self._slots: dict[int, int] = {}
        self._words_of: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._used = 0
        self._tags, self._words = Overlap(), Overlap()

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, seq: int) -> bool:
        return seq in self._slots

    def seqs(self) -> set[int]:
        """The nodes it holds."""
        return set(self._slots)

    def views(self, seq: int) -> Views:
        """The views of one node."""
        slot, (tags, tokens) = self._slots[seq], self._words_of[seq]
        return Views(self._content[slot].copy(), self._index[slot].copy(), tags, tokens)

    def add(self, seq: int, layer: int, views: Views) -> None:
        """Insert a node, or replace it. `layer` is 0 for meta, 1 for workflow, 2 for atomic."""
        self.discard(seq)
        if self._used == len(self._live):
            self._grow()
        slot = self._used
        self._content[slot], self._index[slot] = views.content, views.index
        self._live[slot], self._seqs[slot], self._layers[slot] = True, seq, layer
        self._tags.append(set(views.tags))
        self._words.append(views.tokens)
        self._slots[seq], self._words_of[seq] = slot, (views.tags, views.tokens)
        self._used += 1
        self.version += 1

    def discard(self, seq: int) -> None:
        """Remove a node if it is there."""
        slot = self._slots.pop(seq, None)
        if slot is None:
            return
        del self._words_of[seq]
        self._live[slot] = False
        self.version += 1
        if self._used > 64 and len(self._slots) * 2 < self._used:
            self._rebuild()

    def _grow(self) -> None:
        for name in ("_content", "_index", "_live", "_seqs", "_layers"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))

    def _rebuild(self) -> None:
        kept = [(seq, int(self._layers[slot]), self.views(seq)) for seq, slot in self._slots.items()]
        self._clear(max(16, 2 * len(kept)))
        for seq, layer, views in kept:
            self.add(seq, layer, views)

    def search(self, query: Views, *, symmetric: bool = False) -> Search:
        """Prepare a comparison of `query` with every node (`symmetric`: the query is itself a node)."""
        used = self._used
        tags = self._tags.jaccard(query.tags)
        if self._settings.lexical == "bm25":
            words = self._words.bm25(query.tokens, self._live[:used], symmetric=symmetric)
        else:
            words = self._words.jaccard(query.tokens)
        return Search(self, query, tags, words)

    def layer(self, layer: int) -> npt.NDArray[np.int64]:
        """Slots of the live nodes of a layer."""
        used = self._used
        return np.flatnonzero(self._live[:used] & (self._layers[:used] == layer))


class Search:
    """One query against an `Index`. Valid until the index changes."""

    def __init__(self, index: Index, query: Views, tags: Floats, words: Floats) -> None:
        self._index, self._query, self._tags, self._words = index, query, tags, words

    def approximate(self) -> npt.NDArray[np.float32]:
        """Float32 score of every slot, off by less than `MARGIN`."""
        used, (content, index, tag, word) = self._index._used, self._index._weights
        score = (tag * self._tags + word * self._words).astype(np.float32)
        if content:
            score += np.float32(content) * _scan(self._index._content[:used], self._query.content)
        if index:
            score += np.float32(index) * _scan(self._index._index[:used], self._query.index)
        return score

    def exact_slots(self, slots: npt.NDArray[np.int64]) -> Floats:
        """Float64 score of some slots."""
        content, index, tag, word = self._index._weights
        score = np.zeros(len(slots))
        if content:
            score += content * _dots(self._index._content[slots], self._query.content)
        if index:
            score += index * _dots(self._index._index[slots], self._query.index)
        return np.minimum(score + tag * self._tags[slots] + word * self._words[slots], 1.0)

    def exact(self, seqs: Sequence[int]) -> dict[int, float]:
        """Float64 score of some nodes."""
        slots = np.array([self._index._slots[seq] for seq in seqs], dtype=np.int64)
        return dict(zip(seqs, map(float, self.exact_slots(slots)), strict=True))

    def parts(self, seq: int) -> dict[str, float]:
        """The four terms of one node before weighting."""
        slot = np.array([self._index._slots[seq]])
        return {
            "content": float(_dots(self._index._content[slot], self._query.content)[0]),
            "index": float(_dots(self._index._index[slot], self._query.index)[0]),
            "tag": float(self._tags[slot[0]]),
            "lexical": float(self._words[slot[0]]),
        }

    def above(self, cut: float, layer: int | None = None) -> dict[int, float]:
        """Every live node with a score of at least `cut`, exactly."""
        used = self._index._used
        wanted = self._index._live[:used] & (self.approximate() >= cut - MARGIN)
        if layer is not None:
            wanted &= self._index._layers[:used] == layer
        slots = np.flatnonzero(wanted)
        scores = self.exact_slots(slots)
        seqs = self._index._seqs[slots]
        return {int(seq): float(score) for seq, score in zip(seqs, scores, strict=True) if score >= cut}

    def nearest(self, layer: int) -> tuple[int, float] | None:
        """The most similar node of a layer and its score, the older one on equality; None when there is none."""
        ranked = self.top(layer, 1)
        return ranked[0] if ranked else None

    def top(self, layer: int, count: int, skip: Iterable[int] = ()) -> list[tuple[int, float]]:
        """The `count` most similar nodes of a layer, best first, older first on equality."""
        if count < 1:
            return []
        slots = self._index.layer(layer)
        hidden = set(skip)
        if hidden:
            slots = slots[[int(seq) not in hidden for seq in self._index._seqs[slots]]]
        if len(slots) > count:
            rough = self.approximate()[slots]
            cut = np.partition(rough, len(rough) - count)[len(rough) - count]
            slots = slots[rough >= cut - 2 * MARGIN]
        scores = self.exact_slots(slots)
        found = [(int(self._index._seqs[slot]), float(score)) for slot, score in zip(slots, scores, strict=True)]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:count]
