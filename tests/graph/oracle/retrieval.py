"""Oracle, section 3: seeds, what they pull in, the roles of contrast pairs, ageing."""

from __future__ import annotations

from typing import Any

from oracle.similarity import Thing, similarity
from oracle.state import State, live, operators, parents

ORD = {"meta": 0, "workflow": 1, "atomic": 2}


def rank_score(settings: dict[str, Any], score: float, kind: str) -> float:
    """s~ = s + beta_layer (2 - ord) / 2."""
    return float(score + settings["retrieval"]["beta_layer"] * (2 - ORD[kind]) / 2)


def retrieve(state: State, query: Thing) -> dict[str, Any]:
    """What would be injected for a query. Changes nothing; `age` does."""
    settings, nodes = state["settings"], state["nodes"]
    scores = {seq: similarity(settings, query, node) for seq, node in nodes.items()}
    cleared = [seq for seq in scores if scores[seq] >= settings["retrieval"]["theta_min"]]
    ranked = sorted(cleared, key=lambda seq: (-rank_score(settings, scores[seq], nodes[seq]["type"]), seq))
    seeds = ranked[: settings["retrieval"]["top_k"]]
    pulled = _around(state, seeds, set(cleared))
    pairs = _pairs(state, query, seeds)
    return {
        "scores": scores,
        "cleared": cleared,
        "ranked": ranked,
        "seeds": seeds,
        **pulled,
        "pairs": pairs,
        "roles": _roles(state, {*seeds, *pulled["metas"], *pulled["atomics"], *pulled["neighbours"]}, pairs),
    }


def _around(state: State, seeds: list[int], cleared: set[int]) -> dict[str, list[int]]:
    """Meta parents that clear the gate, atomics in call order, contrast neighbours: of the seeds alone."""
    metas: list[int] = []
    atomics: list[int] = []
    neighbours: list[int] = []
    for seed in seeds:
        if state["nodes"][seed]["type"] != "workflow":
            continue
        metas += [meta for meta in parents(state, seed) if meta in cleared and meta not in metas]
        atomics += [atomic for atomic in state["calls"][seed] if atomic not in atomics]
        neighbours += [other for other in opposites(state, seed) if other not in neighbours]
    return {"metas": metas, "atomics": atomics, "neighbours": neighbours}


def opposites(state: State, workflow: int) -> list[int]:
    """Contrast neighbours, older first."""
    return sorted(a if b == workflow else b for a, b in state["contrasts"] if workflow in (a, b))


def _pairs(state: State, query: Thing, seeds: list[int]) -> dict[tuple[int, int], tuple[str, str]]:
    """(seed, neighbour) -> their roles: who shares the query's operator is the procedure, whichever was the seed."""
    pairs = {}
    for seed in seeds:
        for other in opposites(state, seed):
            first = bool(operators(state["nodes"][seed]) & operators(query))
            second = bool(operators(state["nodes"][other]) & operators(query))
            if first and not second:
                pairs[seed, other] = ("procedure", "warning")
            elif second and not first:
                pairs[seed, other] = ("warning", "procedure")
            else:
                pairs[seed, other] = ("unclear", "unclear")
    return pairs


def _roles(state: State, shown: set[int], pairs: dict[tuple[int, int], tuple[str, str]]) -> dict[int, str]:
    """One role per shown node; of a node in several pairs the most careful one."""
    roles = {}
    for seq in shown:
        said = [role for pair, both in pairs.items() for member, role in zip(pair, both, strict=True) if member == seq]
        kind = state["nodes"][seq]["type"]
        roles[seq] = "procedure" if kind == "workflow" else kind
        for role in ("warning", "unclear"):
            if role in said:
                roles[seq] = role
                break
    return roles


def age(state: State, found: dict[str, Any]) -> dict[int, float]:
    """Age all live workflows after a retrieval. Returns the new ages of those that cleared the gate, best first."""
    alpha, beta, gamma = (state["settings"]["ageing"][key] for key in ("alpha", "beta", "gamma"))
    state["retrievals"] += 1
    scores, nodes = found["scores"], state["nodes"]
    retrieved = sorted(
        (seq for seq in live(state, "workflow") if seq in found["cleared"]), key=lambda s: (-scores[s], s)
    )
    for seq in live(state, "workflow"):
        nodes[seq]["age"] += alpha
    for seq in retrieved[1:]:
        margin = scores[retrieved[0]] - scores[seq]
        nodes[seq]["age"] += beta * scores[seq] * (1 - margin)
    for seq in retrieved[:1]:
        nodes[seq]["age"] = gamma * nodes[seq]["age"]  # alpha is in it already
    return {seq: nodes[seq]["age"] for seq in retrieved}
