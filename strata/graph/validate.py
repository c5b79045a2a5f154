"""Section 1, invariants: what must hold of a graph after every operation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from strata.graph.forgetting import has_caller
from strata.graph.model import PREFIXES, Graph, order_tags
from strata.graph.state import _generalizes


def problems(graph: Graph) -> list[str]:
    """Every violated invariant in words; empty when the graph is sound."""
    return [*_nodes(graph), *_calls(graph), *_hierarchy(graph), *_contrasts(graph), *_merges(graph), *_tables(graph)]


def _type(graph: Graph, seq: int) -> str:
    return graph.nodes[seq].type if seq in graph.nodes else "deleted"


def _nodes(graph: Graph) -> Iterator[str]:
    if len({node.id for node in graph.nodes.values()}) != len(graph.nodes):
        yield "two nodes share an id"
    for seq, node in graph.nodes.items():
        if node.seq != seq or graph.by_id.get(node.id) != seq:
            yield f"{node.id}: is filed under {seq}, its number is {node.seq}"
        if not 0 <= seq < graph.values["next_seq"]:
            yield f"{node.id}: its number {seq} was never given"
        if node.tags != order_tags(node.tags) or any(tag.partition(":")[0] not in PREFIXES for tag in node.tags):
            yield f"{node.id}: its tags {node.tags} are not app, op, obj in order and unique"
        if (node.type == "atomic") != bool(node.kind):
            yield f"{node.id}: a {node.type} node with kind {node.kind!r}"
        if node.type == "atomic" and node.bullets:
            yield f"{node.id}: an atomic node with bullets"
    if len(graph.by_id) != len(graph.nodes):
        yield "ids of deleted nodes are still filed"


def _calls(graph: Graph) -> Iterator[str]:
    for seq, node in graph.nodes.items():
        if node.calls and node.type != "workflow":
            yield f"{node.id}: a {node.type} node that calls"
        if len(set(node.calls)) != len(node.calls):
            yield f"{node.id}: calls a node twice"
        for atomic in node.calls:
            if _type(graph, atomic) != "atomic":
                yield f"{node.id}: calls {atomic}, which is {_type(graph, atomic)}"
            elif seq not in graph.callers.get(atomic, ()) or not graph.nodes[atomic].called:
                yield f"{node.id}: its call of {atomic} is not known there"
        if node.called and not has_caller(graph, seq):
            yield f"{node.id}: lost its last caller and is still there"
    for atomic, callers in graph.callers.items():
        for workflow in callers:
            if atomic not in (graph.nodes[workflow].calls if workflow in graph.nodes else ()):
                yield f"{atomic}: filed as called by {workflow}, which does not"


def _hierarchy(graph: Graph) -> Iterator[str]:
    for workflow, meta in _generalizes(graph):
        if (_type(graph, workflow), _type(graph, meta)) != ("workflow", "meta"):
            yield f"generalizes {workflow}->{meta} joins {_type(graph, workflow)} and {_type(graph, meta)}"
        if meta not in graph.parents.get(workflow, ()):
            yield f"generalizes {workflow}->{meta} is known to the meta only"
    for workflow, metas in graph.parents.items():
        if len(set(metas)) != len(metas) or any(workflow not in graph.children.get(meta, ()) for meta in metas):
            yield f"generalizes edges of {workflow} are known to the workflow only"
    for node in graph.nodes.values():
        if node.type == "meta" and not graph.children.get(node.seq):
            yield f"{node.id}: a meta without a live child"
        if node.type == "meta" and not graph.children.get(node.seq, set()) <= set(node.absorbed):
            yield f"{node.id}: has a child that it never absorbed"


def _contrasts(graph: Graph) -> Iterator[str]:
    for a, partners in graph.contrasts.items():
        for b in partners:
            if a == b or (_type(graph, a), _type(graph, b)) != ("workflow", "workflow"):
                yield f"contrasts {a}-{b} joins {_type(graph, a)} and {_type(graph, b)}"
            if a not in graph.contrasts.get(b, ()):
                yield f"contrasts {a}-{b} has one direction only"


def _merges(graph: Graph) -> Iterator[str]:
    for source, target in graph.merged.items():
        if (_type(graph, source), _type(graph, target)) != ("atomic", "atomic") or source >= target:
            yield f"merged_from {source}->{target} joins {_type(graph, source)} and {_type(graph, target)}"


def _tables(graph: Graph) -> Iterator[str]:
    workflows = {seq for seq, node in graph.nodes.items() if node.type == "workflow"}
    if set(graph.ages) != workflows:
        yield "ages are not those of the live workflows"
    for seq, (value, at) in graph.ages.items():
        if not (math.isfinite(value) and value >= 0 and 0 <= at <= graph.values["retrievals"]):
            yield f"{seq}: impossible age {value} at {at}"
    for group, scores in graph.scores.items():
        if not all(0.0 <= score <= 1.0 for score in scores):
            yield f"group {group!r} has a score outside 0..1"
