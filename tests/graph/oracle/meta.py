"""Oracle, section 5, second half: which communities of W become, or extend, a meta node. The partition is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from oracle.derived import conductance
from oracle.similarity import Thing, similarity
from oracle.state import State, add_bullet, add_node, link, live, parents, wrote

Vector = tuple[float, ...]


def centroid(state: State, members: list[int]) -> Vector | None:
    """Mean of the unit content vectors, made unit again; None when it has no direction."""
    vectors = [state["nodes"][seq]["content"] for seq in members]
    units = []
    for vector in vectors:
        length = math.sqrt(sum(x * x for x in vector))
        units.append([x / length if length else 0.0 for x in vector])
    mean = [sum(column) / len(units) for column in zip(*units, strict=True)]
    length = math.sqrt(sum(x * x for x in mean))
    return tuple(x / length for x in mean) if length else None


def distance(settings: dict[str, Any], a: Vector, b: Vector) -> float:
    """Of two unit vectors, to 12 decimals: equally far metas tie, whatever the roots were rounded to."""
    if settings["meta"]["distance"] == "cosine":
        return round(1.0 - sum(x * y for x, y in zip(a, b, strict=True)), 12)
    return round(math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True))), 12)


def nearest_meta(state: State, center: Vector) -> tuple[int | None, float]:
    """The closest meta, seen as the centroid of its live children; infinitely far when there is none."""
    best, best_distance = None, math.inf
    for meta in live(state, "meta"):
        other = centroid(state, state["children"][meta])
        if other is None:
            continue
        gap = distance(state["settings"], center, other)
        if gap < best_distance:
            best, best_distance = meta, gap
    return best, best_distance


def joint_tags(state: State, members: list[int], before: list[str]) -> list[str]:
    """Tags of the members, those of `before` first; in the order app, op, obj."""
    tags = list(before)
    for member in members:
        tags += [tag for tag in state["nodes"][member]["tags"] if tag not in tags]
    return [tag for prefix in ("app:", "op:", "obj:") for tag in tags if tag.startswith(prefix)]


def judge(state: State, edges: dict[tuple[int, int], float], members: list[int]) -> dict[str, Any]:
    """What is to become of one community: the decision with its numbers, or the reason against it."""
    rule = state["settings"]["meta"]
    unlinked = [seq for seq in members if not parents(state, seq)]
    verdict: dict[str, Any] = {"members": members, "unlinked": unlinked, "decision": "rejected"}
    if len(members) < rule["n_min"]:
        return {**verdict, "reason": "small"}
    verdict["conductance"] = conductance(edges, members)
    if not verdict["conductance"] < rule["conductance_max"]:
        return {**verdict, "reason": "loose"}
    center = centroid(state, members)
    if center is None:
        state["zero_centroids"] += 1
        return {**verdict, "reason": "zero_centroid"}
    verdict["nearest"], verdict["distance"] = nearest_meta(state, center)
    if verdict["distance"] < rule["r_meta"] and rule["novelty_gate"]:
        return {**verdict, "decision": "update"}
    if len(unlinked) < rule["n_min"]:
        return {**verdict, "reason": "few_unlinked"}
    return {**verdict, "decision": "create"}


def promote(
    state: State,
    edges: dict[tuple[int, int], float],
    partition: list[list[int]],
    describe: Callable[[int], Thing],
    bullet: Callable[[int], dict[str, str]],
) -> list[dict[str, Any]]:
    """Judge and write all communities with an unlinked member, that of the oldest workflow first.

    `describe` gives the views of a new meta by its number, `bullet` the text for an absorbed member: language, which
    is not the oracle's matter. Tags, links and churn are.
    """
    verdicts = []
    for members in sorted(sorted(community) for community in partition):
        if all(parents(state, seq) for seq in members):
            continue
        verdict = judge(state, edges, members)
        verdicts.append(verdict)
        if verdict["decision"] == "create":
            verdict.update(_create(state, verdict, describe))
        elif verdict["decision"] == "update":
            verdict.update(_update(state, verdict))
        for member in verdict.get("linked", []):
            link(state, member, verdict["meta"])
            add_bullet(state, verdict["meta"], "variant", **bullet(member))
        if "meta" in verdict:
            wrote(state, verdict["meta"])
            verdict["support_live"] = len(state["children"][verdict["meta"]])
            verdict["support_ever"] = len(state["children_ever"][verdict["meta"]])
    return verdicts


def _create(state: State, verdict: dict[str, Any], describe: Callable[[int], Thing]) -> dict[str, Any]:
    others = live(state, "meta")
    tags = joint_tags(state, verdict["members"], [])
    meta = add_node(state, "meta", {**describe(state["next"]), "tags": tags})
    closest: int | None = None
    most: float | None = None
    for other in others:
        score = similarity(state["weights"], state["nodes"][meta], state["nodes"][other])
        if most is None or score > most:
            closest, most = other, score
    churn = most is not None and most >= state["settings"]["thresholds"]["g_high"]
    return {"meta": meta, "linked": verdict["unlinked"], "similar_to": closest, "similarity": most, "churn": churn}


def _update(state: State, verdict: dict[str, Any]) -> dict[str, Any]:
    meta = verdict["nearest"]
    before = state["nodes"][meta]["tags"]
    kept = before if state["settings"]["meta"]["accumulate_tags"] else []
    tags = joint_tags(state, verdict["members"], kept)
    state["nodes"][meta]["tags"] = tags
    return {"meta": meta, "linked": verdict["unlinked"], "tags_before": before, "tags": tags}
