"""Oracle, section 7: which workflows oppose each other, from the definition, over all pairs."""

from __future__ import annotations

from typing import Any

from oracle.similarity import Thing
from oracle.state import State, live, operators


def opposed(settings: dict[str, Any], a: Thing, b: Thing) -> bool:
    """{op(a), op(b)} in the lexicon, for some operator of each; objects need not match."""
    if settings["contrast"]["same_app"]:
        apps_a, apps_b = ({tag for tag in thing["tags"] if tag.startswith("app:")} for thing in (a, b))
        if not apps_a & apps_b:
            return False
    ops_a, ops_b = operators(a), operators(b)
    for one, other in settings["contrast"]["lexicon"]:
        if (one in ops_a and other in ops_b) or (other in ops_a and one in ops_b):
            return True
    return False


def rule_pairs(state: State) -> list[tuple[int, int]]:
    """All opposed pairs of live workflows, each once."""
    flows = live(state, "workflow")
    nodes, settings = state["nodes"], state["settings"]
    return [(a, b) for a in flows for b in flows if a < b and opposed(settings, nodes[a], nodes[b])]


def renew(state: State, hand: list[tuple[int, int]] | None = None) -> list[tuple[int, int]]:
    """Set the contrast edges by the mode; `hand` are the live pairs of mode hand. Returns those that are new."""
    mode = state["settings"]["contrast"]["mode"]
    wanted = {"none": [], "hand": hand or [], "rule": rule_pairs(state)}[mode]
    new = [pair for pair in wanted if pair not in state["contrasts"]]
    state["contrasts"] = wanted
    return new
