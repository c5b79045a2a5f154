"""Section 9, interchange: the graph as a networkx `MultiDiGraph`, and as GraphML or GEXF files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from strata.errors import UsageError
from strata.graph.model import Graph

if TYPE_CHECKING:
    import networkx as nx


def as_networkx(graph: Graph) -> nx.MultiDiGraph:
    """Nodes by id with type, kind, title, tags and provenance; edges keyed by their type, `call` with its order.

    `contrasts` has both directions. Lists are joined by newlines, since GraphML knows no lists.
    """
    import networkx as nx

    view = nx.MultiDiGraph()
    for node in graph.nodes.values():
        view.add_node(
            node.id,
            seq=node.seq,
            type=node.type,
            kind=node.kind,
            title=node.title,
            goal=node.goal,
            when=node.when,
            steps="\n".join(node.steps),
            tags=" ".join(node.tags),
            variants=sum(bullet.kind == "variant" for bullet in node.bullets),
            pitfalls=sum(bullet.kind == "pitfall" for bullet in node.bullets),
            created=node.created,
            updated=node.updated,
        )
    names = {seq: node.id for seq, node in graph.nodes.items()}
    for seq, node in graph.nodes.items():
        for order, atomic in enumerate(node.calls):
            view.add_edge(node.id, names[atomic], key="call", type="call", order=order)
        for meta in graph.live_parents(seq):
            view.add_edge(node.id, names[meta], key="generalizes", type="generalizes")
        for partner in sorted(graph.contrasts.get(seq, ())):
            view.add_edge(node.id, names[partner], key="contrasts", type="contrasts")
        if seq in graph.merged:
            view.add_edge(node.id, names[graph.merged[seq]], key="merged_from", type="merged_from")
    return view


def write_graph(graph: Graph, path: Path) -> None:
    """Write a `.graphml` or `.gexf` file. Raises UsageError for another ending."""
    import networkx as nx

    writers = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf}
    if path.suffix not in writers:
        raise UsageError(f"{path}: must end in .graphml or .gexf.")
    writers[path.suffix](as_networkx(graph), path)
