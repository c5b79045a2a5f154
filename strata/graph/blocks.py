"""Section 6, cut vertices under deletion: only the block that lost a vertex is looked at again.

A vertex is a cut vertex when it lies in two or more blocks (maximal biconnected parts, Tarjan 1972). Deleting a vertex
changes nothing outside its own blocks, so what is left of those is decomposed anew and the rest stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import igraph

from strata.graph.derived_graph import DerivedGraph


def as_igraph(derived: DerivedGraph) -> tuple[igraph.Graph, list[float]]:
    """W with its vertices numbered from the oldest workflow, and the weights of its edges."""
    vertices = derived.vertices
    place = {seq: number for number, seq in enumerate(vertices)}
    edges = derived.edges()
    graph = igraph.Graph(n=len(vertices), edges=[(place[a], place[b]) for a, b, _ in edges])
    return graph, [weight for _, _, weight in edges]


class Blocks:
    """The blocks of a graph that loses vertices. `cut` are the cut vertices of what is left."""

    def __init__(self, neighbours: Mapping[int, Mapping[int, float]]) -> None:
        derived = DerivedGraph(neighbours)
        self._vertices = derived.vertices
        self._place = {seq: number for number, seq in enumerate(self._vertices)}
        self._graph, _ = as_igraph(derived)
        self._blocks: dict[int, frozenset[int]] = {}
        self._of: dict[int, set[int]] = {seq: set() for seq in self._vertices}
        self._next = 0
        self.cut: set[int] = set()
        self._decompose(self._vertices)

    def remove(self, vertex: int) -> None:
        """Delete a vertex."""
        for block in list(self._of[vertex]):
            left = self._blocks.pop(block) - {vertex}
            for member in left:
                self._of[member].discard(block)
            self._decompose(sorted(left))
        del self._of[vertex]
        self.cut.discard(vertex)

    def _decompose(self, members: Sequence[int]) -> None:
        """Find the blocks of the part of the graph that some vertices span."""
        part = self._graph.induced_subgraph([self._place[seq] for seq in members])
        for found in part.biconnected_components():
            self._blocks[self._next] = frozenset(members[place] for place in found)
            for seq in self._blocks[self._next]:
                self._of[seq].add(self._next)
            self._next += 1
        for seq in members:
            (self.cut.add if len(self._of[seq]) > 1 else self.cut.discard)(seq)


def cut_vertices(neighbours: Mapping[int, Mapping[int, float]]) -> set[int]:
    """Vertices whose removal would split their component."""
    return Blocks(neighbours).cut
