"""Oracle, sections 7 and 3: which workflows oppose each other, over all pairs, and who of a pair is warned of."""

from __future__ import annotations

from typing import Any

from oracle.similarity import Thing
from oracle.state import State, live, operators

Roles = tuple[str, str]


def opposed(settings: dict[str, Any], a: Thing, b: Thing) -> bool:
    """{op(a), op(b)} in the lexicon, for some operator of each; objects need not match.

    Reading: a workflow with both operators of a pair has an edge with each single-operator partner only.
    """
    if settings["contrast"]["same_app"]:
        apps_a, apps_b = ({tag for tag in thing["tags"] if tag.startswith("app:")} for thing in (a, b))
        if not apps_a & apps_b:
            return False
    return bool(oppositions(settings, a, b))


def oppositions(settings: dict[str, Any], a: Thing, b: Thing) -> list[list[str]]:
    """The pairs of the lexicon that the operators of two workflows make up."""
    found = []
    ops_a, ops_b = operators(a), operators(b)
    for one, other in settings["contrast"]["lexicon"]:
        if {one, other} <= ops_a and {one, other} <= ops_b:
            continue
        if (one in ops_a and other in ops_b) or (other in ops_a and one in ops_b):
            found.append([one, other])
    return found


def rule_pairs(state: State) -> list[tuple[int, int]]:
    """All opposed pairs of live workflows, each once."""
    flows = live(state, "workflow")
    nodes, settings = state["nodes"], state["settings"]
    return [(a, b) for a in flows for b in flows if a < b and opposed(settings, nodes[a], nodes[b])]


def hand_pairs(state: State) -> list[tuple[int, int]]:
    """All pairs of live workflows that a hand-placed pair of tag lists describes, in either direction."""
    flows, nodes = live(state, "workflow"), state["nodes"]
    found = []
    for a in flows:
        for b in flows:
            for x, y in state["settings"]["contrast"]["hand"]:
                for one, other in ((x, y), (y, x)):
                    if a < b and set(one) <= set(nodes[a]["tags"]) and set(other) <= set(nodes[b]["tags"]):
                        found.append((a, b))
    return list(dict.fromkeys(found))


def renew(state: State) -> list[tuple[int, int]]:
    """Set the contrast edges by the mode. Returns those that are new."""
    mode = state["settings"]["contrast"]["mode"]
    wanted = {"none": lambda _: [], "hand": hand_pairs, "rule": rule_pairs}[mode](state)
    new = [pair for pair in wanted if pair not in state["contrasts"]]
    state["contrasts"] = wanted
    return new


def roles_of_pair(settings: dict[str, Any], query: Thing, a: Thing, b: Thing) -> Roles:
    """The member that shares the query's operator is the procedure, the other the warning; unknown: both unclear.

    Readings: only the operators of the lexicon's pair count, for the first pair that the query names one side of; a
    member with both sides is the warning; without a lexicon pair (hand-placed) operators that only one has count.
    """
    asked, ops_a, ops_b = operators(query), operators(a), operators(b)
    pairs = oppositions(settings, a, b)
    for one, other in pairs:
        if (one in asked) == (other in asked):
            continue
        wanted, unwanted = (one, other) if one in asked else (other, one)
        a_fits, b_fits = wanted in ops_a, wanted in ops_b
        if a_fits and b_fits:
            a_fits, b_fits = unwanted not in ops_a, unwanted not in ops_b
        return ("procedure", "warning") if a_fits else ("warning", "procedure")
    if not pairs:
        a_fits, b_fits = bool(asked & (ops_a - ops_b)), bool(asked & (ops_b - ops_a))
        if a_fits != b_fits:
            return ("procedure", "warning") if a_fits else ("warning", "procedure")
    return ("unclear", "unclear")
