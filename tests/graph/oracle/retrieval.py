"""Oracle, section 3: seeds, what they pull in, the roles of contrast pairs, ageing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.contrast import Roles, roles_of_pair
from oracle.reflection import exact
from oracle.similarity import Thing, similarity
from oracle.state import State, hidden, live, parents, stand_in

ORD = {"meta": 0, "workflow": 1, "atomic": 2}


def rank_score(settings: dict[str, Any], score: float, kind: str) -> float:
    """s~ = s + beta_layer (2 - ord) / 2."""
    return float(score + settings["retrieval"]["beta_layer"] * (2 - ORD[kind]) / 2)


def retrieve(state: State, query: Thing) -> dict[str, Any]:
    """What would be injected for a query. Changes nothing; `age` does."""
    settings, nodes = state["settings"], state["nodes"]
    scores = {seq: similarity(state["weights"], query, node) for seq, node in nodes.items()}
    unseen = hidden(state)
    cleared = [seq for seq in scores if scores[seq] >= settings["retrieval"]["theta_min"] and seq not in unseen]
    ranked = sorted(cleared, key=lambda seq: (-rank_score(settings, scores[seq], nodes[seq]["type"]), seq))
    seeds = ranked[: settings["retrieval"]["top_k"]]
    pairs = _pairs(state, query, seeds)
    workflows = _roles([seq for seq in seeds if nodes[seq]["type"] == "workflow"], pairs)
    metas = [seq for seq in seeds if nodes[seq]["type"] == "meta"]
    atomics = [seq for seq in seeds if nodes[seq]["type"] == "atomic"]
    for seed in seeds:
        if nodes[seed]["type"] == "workflow":
            metas += [meta for meta in parents(state, seed) if meta in cleared and meta not in metas]
        if workflows.get(seed) == "procedure":  # reading: units of a procedure that one is warned of are not offered
            called = [stand_in(state, atomic) for atomic in state["calls"][seed]]
            atomics += [atomic for atomic in dict.fromkeys(called) if atomic not in atomics]
    roles = {**dict.fromkeys(metas, "meta"), **workflows, **dict.fromkeys(atomics, "atomic")}
    return {
        "scores": scores,
        "cleared": cleared,
        "seeds": seeds,
        "pairs": pairs,
        "roles": roles,
        "atomics": atomics,
        "rank_scores": {seq: rank_score(settings, scores[seq], nodes[seq]["type"]) for seq in seeds},
    }


def opposites(state: State, workflow: int) -> list[int]:
    """Contrast neighbours, older first."""
    return sorted(a if b == workflow else b for a, b in state["contrasts"] if workflow in (a, b))


def _pairs(state: State, query: Thing, seeds: list[int]) -> dict[tuple[int, int], Roles]:
    """(seed, neighbour) -> their roles; a pair of two seeds once, the better one first."""
    pairs: dict[tuple[int, int], Roles] = {}
    for seed in seeds:
        for other in opposites(state, seed):
            if (other, seed) not in pairs:
                a, b = state["nodes"][seed], state["nodes"][other]
                pairs[seed, other] = roles_of_pair(state["settings"], query, a, b)
    return pairs


def _roles(seeds: list[int], pairs: dict[tuple[int, int], Roles]) -> dict[int, str]:
    """One role per shown workflow. Reading: of a workflow in several pairs the most careful one."""
    roles = dict.fromkeys(seeds, "procedure")
    for role in ("procedure", "unclear", "warning"):
        for pair, both in pairs.items():
            for member, said in zip(pair, both, strict=True):
                if said == role:
                    roles[member] = role
    return roles


def age(state: State, found: dict[str, Any]) -> dict[int, Fraction]:
    """Age all live workflows after a retrieval. Returns the new ages of those that cleared the gate, best first.

    Ages are exact fractions, so two workflows have the same age exactly when the formulas say so.
    """
    alpha, beta, gamma = (exact(state["settings"]["ageing"][key]) for key in ("alpha", "beta", "gamma"))
    state["retrievals"] += 1
    scores, nodes = found["scores"], state["nodes"]
    retrieved = sorted(
        (seq for seq in live(state, "workflow") if seq in found["cleared"]), key=lambda s: (-scores[s], s)
    )
    for seq in live(state, "workflow"):
        nodes[seq]["age"] += alpha
    for seq in retrieved[1:]:
        margin = Fraction(scores[retrieved[0]]) - Fraction(scores[seq])
        nodes[seq]["age"] += beta * Fraction(scores[seq]) * (1 - margin)
    for seq in retrieved[:1]:
        nodes[seq]["age"] = gamma * nodes[seq]["age"]  # alpha is in it already
    return {seq: nodes[seq]["age"] for seq in retrieved}
