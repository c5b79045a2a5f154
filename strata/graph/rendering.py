"""Section 3, rendering: principles, then warnings and procedures, then callable units.

A contrast neighbour is named under a warning and its steps are not shown. Of a pair whose side is unclear, both are
shown under one warning that names both. Everything is one line per item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from strata.graph.model import BulletKind, Graph, Node
from strata.graph.retrieval import Query, Selection
from strata.graph.settings import Render
from strata.graph.similarity import jaccard

Tokens = Callable[[str], list[str]]

_HEAD = "Experience from earlier tasks. Use what fits this task."


def render(graph: Graph, query: Query, selection: Selection, settings: Render, tokens: Tokens) -> str:
    """The text for the agent; empty when nothing was selected."""
    if not selection.shown:
        return ""
    wanted = tokens(query.text)

    def nearest(node: Node, kind: BulletKind, count: int) -> list[str]:
        return _bullets(node, kind, count, wanted, tokens)

    lines = [_HEAD]
    if selection.metas:
        lines.append("Principles:")
        for seq in selection.metas:
            lines += _meta(graph.nodes[seq], nearest(graph.nodes[seq], "variant", settings.routes))
    lines += _warnings(graph, query, selection)
    lines += _unclear(graph, selection)
    if selection.procedures:
        lines.append("Procedures:")
        for seq in selection.procedures:
            node = graph.nodes[seq]
            lines += _workflow(
                node, nearest(node, "variant", settings.variants), nearest(node, "pitfall", settings.pitfalls)
            )
    if selection.atomics:
        lines.append("Units to call:")
        lines += [_atomic(graph.nodes[seq]) for seq in selection.atomics]
    return "\n".join(lines)


def _bullets(node: Node, kind: BulletKind, count: int, wanted: Iterable[str], tokens: Tokens) -> list[str]:
    """The bullets that share most words with the task, newer first on equality, shown in the order they were added."""
    found = [(place, bullet) for place, bullet in enumerate(node.bullets) if bullet.kind == kind]
    best = sorted(found, key=lambda item: (-jaccard(wanted, tokens(f"{item[1].key} {item[1].text}")), -item[0]))
    return [f"{b.key}: {b.text}" if b.key else b.text for _, b in sorted(best[:count], key=lambda item: item[0])]


def _headline(node: Node) -> str:
    return f"{node.title} (when: {node.when})" if node.when and node.when != node.title else node.title


def _meta(node: Node, routes: list[str]) -> list[str]:
    return [f"* {_headline(node)}", *(f"  {step}" for step in node.steps), *(f"  - if {route}" for route in routes)]


def _workflow(node: Node, variants: list[str], pitfalls: list[str]) -> list[str]:
    numbered = [f"{number}. {step}" for number, step in enumerate(node.steps, start=1)]
    return [f"* {_headline(node)}", *numbered, *(f"Variant: {v}" for v in variants), *(f"Avoid: {p}" for p in pitfalls)]


def _atomic(node: Node) -> str:
    return f"- {node.kind}: {_headline(node)}: {'; '.join(node.steps)}"


def _operators(node: Node) -> str:
    return ", ".join(sorted(node.operators)) or "another operation"


def _warnings(graph: Graph, query: Query, selection: Selection) -> list[str]:
    if not selection.warnings:
        return []
    asked = ", ".join(sorted(query.operators))
    lines = [f"WARNING - DO NOT CONFUSE. This task asks to {asked}. Do NOT do what these opposite tasks did:"]
    return lines + [
        f"- not this ({_operators(graph.nodes[seq])}): {_headline(graph.nodes[seq])}" for seq in selection.warnings
    ]


def _unclear(graph: Graph, selection: Selection) -> list[str]:
    if not selection.unclear:
        return []
    lines = [
        "WARNING - DO NOT CONFUSE. These do opposite things. See which one the task asks for, never follow the other:"
    ]
    for seq in selection.unclear:
        node = graph.nodes[seq]
        lines.append(f"- only to {_operators(node)}: {_headline(node)}")
        lines += (
            [f"  {number}. {step}" for number, step in enumerate(node.steps, start=1)] if seq in selection.seeds else []
        )
    return lines
