"""Oracle, section 6: which workflows are deleted, in which order, and what goes with them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import networkx as nx
from oracle.derived import Pair, derive
from oracle.reflection import exact
from oracle.retrieval import opposites
from oracle.state import State, is_called, live


def scaled_ranks(values: dict[int, float]) -> dict[int, Fraction]:
    """Average rank from 0 (smallest) to 1; one value alone has 0.5. Values equal to 12 decimals are equal."""
    if len(values) == 1:
        return dict.fromkeys(values, Fraction(1, 2))
    ranks = {}
    rounded = [round(value, 12) for value in values.values()]
    for key, value in zip(values, rounded, strict=True):
        smaller = sum(1 for other in rounded if other < value)
        equal = sum(1 for other in rounded if other == value)
        ranks[key] = Fraction(2 * smaller + equal - 1, 2 * (len(values) - 1))
    return ranks


def qualities(state: State, edges: dict[Pair, float]) -> dict[int, dict[str, Any]]:
    """Q of every live workflow with its parts, as exact fractions; `edges` are those among survivors."""
    rule = state["settings"]["forgetting"]
    weight_a, weight_g = exact(rule["activation_weight"]), exact(rule["age_weight"])
    flows = live(state, "workflow")
    activation = {seq: math.fsum(weight for pair, weight in edges.items() if seq in pair) for seq in flows}
    ages = {seq: float(state["nodes"][seq]["age"]) for seq in flows}
    rank_a, rank_g = scaled_ranks(activation), scaled_ranks(ages)
    return {
        seq: {
            "quality": weight_a * rank_a[seq] + weight_g * (1 - rank_g[seq]),
            "activation": activation[seq],
            "age": ages[seq],
            "activation_rank": rank_a[seq],
            "age_rank": rank_g[seq],
        }
        for seq in flows
    }


def choose(order: list[int], cut: set[int]) -> tuple[int, list[int], bool]:
    """Victim, those it was preferred to because they are cut vertices, and whether all are. Lowest quality first."""
    for place, seq in enumerate(order):
        if seq not in cut:
            return seq, order[:place], False
    return order[0], [], True


def delete(state: State, workflow: int) -> dict[str, list[int]]:
    """Remove a workflow with the atomics and metas that it alone held up, and every edge to what is gone."""
    called, above = state["calls"].pop(workflow), [m for m, c in state["children"].items() if workflow in c]
    contrasts = opposites(state, workflow)
    for meta in above:
        state["children"][meta].remove(workflow)
    atomics = _uncalled(state, called)
    metas = sorted(meta for meta in above if not state["children"][meta])
    for meta in metas:
        del state["children"][meta]
        del state["children_ever"][meta]
    gone = {workflow, *atomics, *metas}
    for seq in gone:
        del state["nodes"][seq]
    state["contrasts"] = [pair for pair in state["contrasts"] if workflow not in pair]
    state["merged_from"] = [pair for pair in state["merged_from"] if not gone & set(pair)]
    state["changed"] = True
    return {"atomics": atomics, "metas": metas, "contrasts_removed": contrasts}


def _uncalled(state: State, called: list[int]) -> list[int]:
    """Of the atomics that a deleted workflow called, and those they were merged into, the ones nothing calls now."""
    found, stack = set(), list(called)
    while stack:
        atomic = stack.pop()
        if not is_called(state, atomic):
            found.add(atomic)
            stack += [target for source, target in state["merged_from"] if source == atomic]
    return sorted(found)


def collect(state: State, cap: int) -> list[dict[str, Any]]:
    """Delete workflows when there are more than `cap`. One entry per deletion, in order."""
    rule = state["settings"]["forgetting"]
    if rule["mode"] == "none" or len(live(state, "workflow")) <= cap:
        return []
    edges = derive(state)["edges"]
    done = []
    while len(live(state, "workflow")) > cap * (1 - exact(rule["hysteresis"])):
        quality = qualities(state, edges)
        order = sorted(quality, key=lambda seq: (quality[seq]["quality"], seq))
        cut: set[int] = set()
        if rule["mode"] == "protected":
            graph = nx.Graph()
            graph.add_nodes_from(order)
            graph.add_edges_from(edges)
            cut = set(nx.articulation_points(graph))
        victim, spared, fallback = choose(order, cut)
        numbers = quality[victim]
        tied = sum(1 for seq in order if quality[seq]["quality"] == numbers["quality"]) > 1
        fell = delete(state, victim)
        edges = {pair: weight for pair, weight in edges.items() if victim not in pair}
        done.append({"id": victim, **numbers, "spared": spared, "cut": cut, "fallback": fallback, "tied": tied, **fell})
        state["deletions"] += 1
        state["protections"] += len(spared)
    return done
