"""Oracle, section 5, first half: the similarity graph W of the workflows, derived from nothing but their views."""

from __future__ import annotations

import math
from typing import Any

from oracle.reflection import shrunk
from oracle.similarity import similarity
from oracle.state import State, group, live

Pair = tuple[int, int]


def pair_scores(state: State) -> dict[Pair, float]:
    """s_nn of every pair of live workflows, older first in the pair."""
    flows, nodes = live(state, "workflow"), state["nodes"]
    return {(a, b): similarity(state["weights"], nodes[a], nodes[b]) for a in flows for b in flows if a < b}


def group_thresholds(state: State, scores: dict[Pair, float]) -> dict[str, float]:
    """Edge threshold inside each group of live workflows."""
    rule, nodes = state["settings"]["meta"], state["nodes"]
    inside: dict[str, list[float]] = {group(nodes[seq]): [] for seq in live(state, "workflow")}
    for (a, b), score in scores.items():
        if group(nodes[a]) == group(nodes[b]):
            inside[group(nodes[a])].append(score)
    if rule["edge_threshold"] == "fixed":
        return dict.fromkeys(inside, rule["intra_default"])
    return {
        name: shrunk(values, rule["p_edge"], rule["kappa_edge"], rule["intra_default"])
        for name, values in inside.items()
    }


def derive(state: State) -> dict[str, Any]:
    """W as `edges` {(older, younger): weight} and the `thresholds` it was made with."""
    nodes, rule = state["nodes"], state["settings"]["meta"]
    scores = pair_scores(state)
    thresholds = group_thresholds(state, scores)
    strong: dict[Pair, float] = {}
    for (a, b), score in scores.items():
        same = group(nodes[a]) == group(nodes[b])
        if score > (thresholds[group(nodes[a])] if same else rule["cross_group"]):
            strong[a, b] = score
    kept: set[Pair] = set()
    for seq in live(state, "workflow"):
        own = [(-score, a if b == seq else b) for (a, b), score in strong.items() if seq in (a, b)]
        for _, other in sorted(own)[: rule["k_edges"]]:
            kept.add((min(seq, other), max(seq, other)))
    edges = {pair: score for pair, score in strong.items() if pair in kept}
    return {"edges": edges, "thresholds": thresholds, "workflows": live(state, "workflow")}


def conductance(edges: dict[Pair, float], community: list[int]) -> float:
    """Weight that leaves the community over the smaller of the two volumes; 0 when that is 0.

    To 12 decimals, so that three of five equal weights are exactly 0.6.
    """
    leaving = [weight for (a, b), weight in edges.items() if (a in community) != (b in community)]
    inside = [weight for pair, weight in edges.items() for end in pair if end in community]
    outside = [weight for pair, weight in edges.items() for end in pair if end not in community]
    smaller = min(math.fsum(inside), math.fsum(outside))
    return round(math.fsum(leaving) / smaller, 12) if smaller > 0 else 0.0
