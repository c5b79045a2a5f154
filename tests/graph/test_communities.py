"""Section 5, communities, against networkx and planted graphs."""

from __future__ import annotations

import random

import igraph
import networkx as nx
import pytest
from conftest import settings
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from strata.graph.communities import communities
from strata.graph.derived_graph import DerivedGraph

LOUVAIN = settings().meta
LEIDEN = settings(meta={"community": "leiden"}).meta


def derived(graph: nx.Graph) -> DerivedGraph:
    return DerivedGraph({v: {n: graph[v][n].get("weight", 1.0) for n in graph[v]} for v in graph})


def planted(groups=5, size=6, seed=0):
    rng = random.Random(seed)
    graph = nx.Graph()
    graph.add_nodes_from(range(groups * size))
    for a in graph:
        for b in graph:
            if a < b and (a // size == b // size or rng.random() < 0.02):
                graph.add_edge(a, b, weight=0.8 if a // size == b // size else 0.5)
    return graph, [list(range(g * size, (g + 1) * size)) for g in range(groups)]


@st.composite
def weighted_graphs(draw):
    size, seed, share = draw(st.integers(1, 20)), draw(st.integers(0, 999)), draw(st.sampled_from([0.1, 0.2, 0.4]))
    graph = nx.gnp_random_graph(size, share, seed=seed)
    rng = random.Random(seed)
    nx.set_edge_attributes(graph, {edge: rng.choice([0.4, 0.5, 0.75]) for edge in graph.edges}, "weight")
    return graph


@pytest.mark.parametrize("rules", [LOUVAIN, LEIDEN], ids=["louvain", "leiden"])
def test_planted_communities_are_found_exactly(rules):
    for seed in range(5):
        graph, expected = planted(seed=seed)
        assert communities(derived(graph), rules, seed) == expected


@profile(max_examples=60, deadline=None)
@given(weighted_graphs(), st.integers(0, 99))
def test_partition_covers_all_and_is_as_modular_as_networkx_finds(graph, seed):
    parts = communities(derived(graph), LOUVAIN, seed)
    assert sorted(v for part in parts for v in part) == sorted(graph)
    if graph.number_of_edges():
        best = max(
            nx.community.modularity(
                graph, nx.community.louvain_communities(graph, resolution=1.5, seed=s), resolution=1.5
            )
            for s in range(10)
        )
        assert nx.community.modularity(graph, parts, resolution=1.5) >= best - 0.05


@pytest.mark.parametrize("rules", [LOUVAIN, LEIDEN], ids=["louvain", "leiden"])
def test_partition_depends_on_the_seed_alone(rules):
    graph = nx.gnp_random_graph(40, 0.15, seed=3)
    first = communities(derived(graph), rules, 5)
    random.seed(99)
    assert communities(derived(graph), rules, 5) == first
    assert len({str(communities(derived(graph), LOUVAIN, seed)) for seed in range(20)}) > 1


def test_generators_of_the_process_are_left_as_they_were():
    graph = nx.gnp_random_graph(40, 0.15, seed=3)
    random.seed(7)
    expected = random.random()
    random.seed(7)
    communities(derived(graph), LOUVAIN, 5)
    assert random.random() == expected
    random.seed(7)
    one = igraph.Graph.Erdos_Renyi(n=20, p=0.3).get_edgelist()
    random.seed(7)
    communities_between = communities(derived(graph), LOUVAIN, 5)
    assert communities_between
    assert igraph.Graph.Erdos_Renyi(n=20, p=0.3).get_edgelist() == one


def test_isolated_vertices_are_communities_of_their_own():
    graph = nx.Graph([(0, 1)])
    graph.add_nodes_from([2, 3])
    assert communities(derived(graph), LOUVAIN, 0) == [[0, 1], [2], [3]]


def test_empty_graph_has_no_community():
    assert communities(DerivedGraph({}), LOUVAIN, 0) == []
