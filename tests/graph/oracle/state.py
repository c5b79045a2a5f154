"""Oracle, section 1: the graph as plain dicts. Nodes are named by their creation number."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from oracle.similarity import Thing, weights

State = dict[str, Any]


def new_state(settings: dict[str, Any]) -> State:
    """An empty graph under these settings (nested dicts, keys as in the config)."""
    return {
        "settings": settings,
        "weights": weights(settings),
        "nodes": {},  # seq -> node
        "calls": {},  # workflow -> [atomic, ...] in call order
        "children": {},  # meta -> [live workflow, ...]
        "children_ever": {},  # meta -> [workflow, ...]
        "merged_from": [],  # (source, target), atomics
        "contrasts": [],  # (a, b), a older than b
        "scores": {},  # group -> [score, ...]
        "ever_called": [],
        "next": 0,
        "episode": 0,
        "retrievals": 0,
        "changed": False,  # workflows, since the last round
        "deletions": 0,
        "protections": 0,
        "zero_centroids": 0,
    }


def add_node(state: State, kind: str, views: Thing) -> int:
    """Create a node of type atomic, workflow or meta; its number is never used again."""
    seq = state["next"]
    state["next"] += 1
    node = {key: views[key] for key in ("content", "index", "tokens")}
    state["nodes"][seq] = {
        **node,
        "seq": seq,
        "type": kind,
        "tags": list(views["tags"]),
        "bullets": [],
        "episodes": [state["episode"]],
        "age": Fraction(0),
    }
    if kind == "workflow":
        state["calls"][seq] = []
        state["changed"] = True
    if kind == "meta":
        state["children"][seq] = []
        state["children_ever"][seq] = []
    return int(seq)


def live(state: State, kind: str) -> list[int]:
    """Nodes of a type, older first."""
    return sorted(seq for seq, node in state["nodes"].items() if node["type"] == kind)


def operators(thing: Thing) -> set[str]:
    return {tag.removeprefix("op:") for tag in thing["tags"] if tag.startswith("op:")}


def group(thing: Thing) -> str:
    """Leading tag: the first in the order app, op, obj; mention breaks ties. Without a tag: the empty group."""
    for prefix in ("app:", "op:", "obj:"):
        for tag in thing["tags"]:
            if tag.startswith(prefix):
                return str(tag)
    return ""


def call(state: State, workflow: int, atomics: list[int]) -> None:
    """The workflow calls these, in this order, after those it calls already."""
    state["calls"][workflow].extend(atomics)
    for atomic in atomics:
        if atomic not in state["ever_called"]:
            state["ever_called"].append(atomic)


def link(state: State, workflow: int, meta: int) -> None:
    """Add a `generalizes` edge."""
    state["children"][meta].append(workflow)
    if workflow not in state["children_ever"][meta]:
        state["children_ever"][meta].append(workflow)


def parents(state: State, workflow: int) -> list[int]:
    """Metas above a workflow, older first."""
    return sorted(meta for meta, children in state["children"].items() if workflow in children)


def stand_in(state: State, atomic: int) -> int:
    """The atomic itself, or what it was merged into. Reading: a merged source stays, hidden behind its target."""
    for source, target in state["merged_from"]:
        if source == atomic:
            return stand_in(state, target)
    return atomic


def hidden(state: State) -> set[int]:
    """Atomics that another one stands for."""
    return {source for source, _ in state["merged_from"]}


def is_called(state: State, atomic: int) -> bool:
    """Whether a workflow calls the atomic, or one that was merged into it."""
    if any(atomic in atomics for atomics in state["calls"].values()):
        return True
    return any(is_called(state, source) for source, target in state["merged_from"] if target == atomic)


def normal(text: str) -> str:
    """Bullets equal in this form are one bullet. Reading: letter case, spaces and punctuation do not count."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def add_bullet(state: State, seq: int, kind: str, text: str, when: str = "") -> bool:
    """False when the node has an equal bullet already."""
    for bullet in state["nodes"][seq]["bullets"]:
        if bullet["kind"] == kind and normal(bullet["text"]) == normal(text) and normal(bullet["when"]) == normal(when):
            return False
    state["nodes"][seq]["bullets"].append({"kind": kind, "text": text, "when": when})
    wrote(state, seq)
    return True


def wrote(state: State, seq: int) -> None:
    """The present episode changed the node."""
    if state["episode"] not in state["nodes"][seq]["episodes"]:
        state["nodes"][seq]["episodes"].append(state["episode"])


def size(state: State) -> dict[str, int]:
    """The counters of an episode's end."""
    nodes = state["nodes"].values()
    on_workflows = [bullet for node in nodes if node["type"] == "workflow" for bullet in node["bullets"]]
    return {
        "atomic": len(live(state, "atomic")),
        "workflow": len(live(state, "workflow")),
        "meta": len(live(state, "meta")),
        "call": sum(len(atomics) for atomics in state["calls"].values()),
        "generalizes": sum(len(children) for children in state["children"].values()),
        "merged_from": len(state["merged_from"]),
        "contrasts": len(state["contrasts"]),
        "variants": sum(1 for bullet in on_workflows if bullet["kind"] == "variant"),
        "pitfalls": sum(1 for bullet in on_workflows if bullet["kind"] == "pitfall"),
        "retrievals": state["retrievals"],
    }


def check(state: State) -> None:
    """The invariants of section 1."""
    nodes = state["nodes"]
    for workflow, atomics in state["calls"].items():
        assert nodes[workflow]["type"] == "workflow"
        assert all(nodes[atomic]["type"] == "atomic" for atomic in atomics)
    for meta, children in state["children"].items():
        assert nodes[meta]["type"] == "meta"
        assert children
        assert all(nodes[child]["type"] == "workflow" for child in children)
    for a, b in state["contrasts"]:
        assert a < b
        assert nodes[a]["type"] == nodes[b]["type"] == "workflow"
    for source, target in state["merged_from"]:
        assert source != target
        assert source in nodes
        assert target in nodes
    for atomic in live(state, "atomic"):
        assert is_called(state, atomic) or atomic not in state["ever_called"]
