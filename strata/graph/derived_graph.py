"""Section 5, the derived graph W over workflows: never stored, kept in step with the workflows.

A pair is joined when its similarity exceeds the threshold of its group, or the fixed one between groups; an edge then
survives if either end ranks it among its strongest. `PairScores` remembers what was computed, so that a round in which
one workflow changed costs one row, not all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from strata.graph.exactness import settled
from strata.graph.model import ORDER, Graph
from strata.graph.overlap import Floats
from strata.graph.settings import Meta
from strata.graph.similarity import Index
from strata.graph.thresholds import around, between, shrink

_WORKFLOW = ORDER["workflow"]


@dataclass(frozen=True, slots=True)
class DerivedGraph:
    """W: for each workflow its neighbours and their weights. Workflows without edges are present."""

    neighbours: Mapping[int, Mapping[int, float]]

    @property
    def vertices(self) -> list[int]:
        """Workflows, oldest first."""
        return sorted(self.neighbours)

    def edges(self) -> list[tuple[int, int, float]]:
        """Each edge once, older end first, sorted."""
        return [(a, b, w) for a in self.vertices for b, w in sorted(self.neighbours[a].items()) if a < b]

    def volume(self, members: Iterable[int]) -> float:
        """Sum of the weighted degrees."""
        return math.fsum(w for member in members for w in self.neighbours[member].values())

    def conductance(self, members: Iterable[int]) -> float:
        """Weight that leaves a set over the smaller volume of set and rest, settled; 0 when that is 0."""
        inside = set(members)
        outside = [vertex for vertex in self.neighbours if vertex not in inside]
        cut = math.fsum(w for a in inside for b, w in self.neighbours[a].items() if b not in inside)
        smaller = min(self.volume(inside), self.volume(outside))
        return settled(cut / smaller) if smaller > 0 else 0.0


@dataclass
class _Group:
    """All pair scores inside one group; row i belongs to `members[i]`, the diagonal is -1."""

    members: list[int] = field(default_factory=list)
    table: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    summary: tuple[float, dict[int, dict[int, float]]] | None = None

    @property
    def scores(self) -> Floats:
        size = len(self.members)
        return self.table[:size, :size]

    def append(self, seq: int, row: Floats) -> None:
        size = len(self.members)
        if size == len(self.table):
            grown = np.full((max(8, 2 * size), max(8, 2 * size)), -1.0)
            grown[:size, :size] = self.scores
            self.table = grown
        self.table[size, :size] = row
        self.table[:size, size] = row
        self.table[size, size] = -1.0
        self.members.append(seq)
        self.summary = None

    def keep(self, alive: set[int]) -> None:
        kept = [place for place, seq in enumerate(self.members) if seq in alive]
        if len(kept) < len(self.members):
            self.table = self.table[np.ix_(kept, kept)]
            self.members = [self.members[place] for place in kept]
            self.summary = None


class PairScores:
    """Similarities of workflow pairs, as far as W needs them: all inside groups, those above the cut between groups."""

    def __init__(self, settings: Meta) -> None:
        self._settings = settings
        self._groups: dict[str, _Group] = {}
        self._group_of: dict[int, str] = {}
        self._across: dict[int, dict[int, float]] = {}

    def forget(self, workflow: int) -> None:
        """Drop what was computed for a workflow whose views or tags changed."""
        group = self._group_of.pop(workflow, None)
        if group is not None:
            self._groups[group].keep(set(self._groups[group].members) - {workflow})
            for other in self._across.pop(workflow, {}):
                self._across[other].pop(workflow, None)

    def clear(self) -> None:
        """Drop everything."""
        self._groups.clear()
        self._group_of.clear()
        self._across.clear()

    def sync(self, graph: Graph, index: Index) -> None:
        """Compute what is missing and drop what died."""
        live = {node.seq: node.group for node in graph.of_type("workflow")}
        gone = set(self._group_of) - set(live)
        for seq in gone:
            for other in self._across.pop(seq):
                if other not in gone:
                    self._across[other].pop(seq, None)
        for group in {self._group_of.pop(seq) for seq in gone}:
            self._groups[group].keep(set(live))
        for seq, group in live.items():
            if seq not in self._group_of:
                self._insert(index, seq, group)

    def _insert(self, index: Index, seq: int, group: str) -> None:
        search = index.search(index.views(seq), symmetric=True)
        block = self._groups.setdefault(group, _Group())
        known = search.exact(block.members)
        block.append(seq, np.array([known[member] for member in block.members]))
        self._across[seq] = {}
        near = search.above(self._settings.cross_group, _WORKFLOW)
        for other, score in near.items():
            if score > self._settings.cross_group and self._group_of.get(other, group) != group:
                self._across[seq][other] = score
                self._across[other][seq] = score
        self._group_of[seq] = group

    def thresholds(self) -> dict[str, float]:
        """The edge threshold inside each group that has members."""
        return {name: self._summary(block)[0] for name, block in sorted(self._groups.items()) if block.members}

    def derive(self) -> DerivedGraph:
        """W as of the last `sync`."""
        candidates: dict[int, dict[int, float]] = {}
        for block in self._groups.values():
            candidates.update(self._summary(block)[1])
        picked: dict[int, dict[int, float]] = {seq: {} for seq in self._group_of}
        for seq in self._group_of:
            near = {**candidates.get(seq, {}), **self._across[seq]}
            for other, score in strongest(near, self._settings.k_edges):
                picked[seq][other] = score
                picked[other][seq] = score
        return DerivedGraph({seq: dict(sorted(near.items())) for seq, near in sorted(picked.items())})

    def _summary(self, block: _Group) -> tuple[float, dict[int, dict[int, float]]]:
        """Threshold, and for each member the pairs above it that can be among its strongest."""
        if block.summary is None:
            cut = self._threshold(block)
            scores, keep = block.scores, self._settings.k_edges
            size = len(block.members)
            least = np.full(size, -1.0)
            if size > keep:
                least = np.partition(scores, size - keep, axis=1)[:, size - keep]
            rows, columns = np.nonzero((scores > cut) & (scores >= least[:, None]))
            near: dict[int, dict[int, float]] = {seq: {} for seq in block.members}
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
                near[block.members[row]][block.members[column]] = float(scores[row, column])
            block.summary = cut, near
        return block.summary

    def _threshold(self, block: _Group) -> float:
        settings, size = self._settings, len(block.members)
        pairs = size * (size - 1) // 2
        if settings.edge_threshold == "fixed" or pairs == 0:
            return settings.intra_default
        return shrink(pairs, _pair_quantile(block.scores, settings.p_edge), settings.kappa_edge, settings.intra_default)


def _pair_quantile(scores: Floats, share: float) -> Fraction:
    """Linearly interpolated quantile of the entries below the diagonal."""
    values = scores[np.tril_indices(len(scores), -1)]
    below, above, along = around(len(values), share)
    ordered = np.partition(values, [below, above])
    return between(float(ordered[below]), float(ordered[above]), along)


def strongest(near: Mapping[int, float], count: int) -> Sequence[tuple[int, float]]:
    """The `count` largest weights, the older neighbour first on equality."""
    return sorted(near.items(), key=lambda item: (-item[1], item[0]))[:count]
