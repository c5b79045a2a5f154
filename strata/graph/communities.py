"""Section 5, community detection in W, by igraph (or leidenalg, optional)."""

from __future__ import annotations

import random

import igraph

from strata.errors import UsageError
from strata.graph.blocks import as_igraph
from strata.graph.derived_graph import DerivedGraph
from strata.graph.settings import Meta


def communities(derived: DerivedGraph, settings: Meta, seed: int) -> list[list[int]]:
    """A partition of W's vertices: members oldest first, communities by their oldest member.

    igraph's generator is global to the process: it is set to one seeded here and set back afterwards.
    """
    vertices = derived.vertices
    graph, weights = as_igraph(derived)
    if settings.community == "leiden":
        membership = _leiden(graph, weights, settings.resolution, seed)
    else:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            found = graph.community_multilevel(weights=weights, resolution=settings.resolution)
        finally:
            igraph.set_random_number_generator(random)
        membership = found.membership
    parts: dict[int, list[int]] = {}
    for vertex, label in zip(vertices, membership, strict=True):
        parts.setdefault(label, []).append(vertex)
    return sorted(parts.values())


def _leiden(graph: igraph.Graph, weights: list[float], resolution: float, seed: int) -> list[int]:
    try:
        import leidenalg
    except ImportError as error:
        raise UsageError(
            "memory.meta.community=leiden: leidenalg is not installed. Install it with: pip install -e '.[leiden]'"
        ) from error
    found = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,
        weights=weights,
        resolution_parameter=resolution,
        seed=seed,
    )
    return list(found.membership)
