"""Section 3, rendering: principles, then warnings and procedures, then callable units.

A contrast neighbour is named under a warning and its steps are not shown. Of a pair whose side is unclear, both are
shown under one warning that names both. Every item is one line, sections are set apart by blank lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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

    sections = [
        *_principles(
            [(graph.nodes[seq], nearest(graph.nodes[seq], "variant", settings.routes)) for seq in selection.metas]
        ),
        *_warnings(graph, query, selection),
        *_unclear(graph, selection),
        *_procedures(
            [
                (
                    graph.nodes[seq],
                    nearest(graph.nodes[seq], "variant", settings.variants),
                    nearest(graph.nodes[seq], "pitfall", settings.pitfalls),
                )
                for seq in selection.procedures
            ]
        ),
        *_units([graph.nodes[seq] for seq in selection.atomics]),
    ]
    return "\n\n".join([_HEAD, *("\n".join(section) for section in sections)])


def _bullets(node: Node, kind: BulletKind, count: int, wanted: Iterable[str], tokens: Tokens) -> list[str]:
    """The bullets that share most words with the task, newer first on equality, shown in the order they were added."""
    found = [(place, bullet) for place, bullet in enumerate(node.bullets) if bullet.kind == kind]
    best = sorted(found, key=lambda item: (-jaccard(wanted, tokens(f"{item[1].key} {item[1].text}")), -item[0]))
    return [f"{b.key}: {b.text}" if b.key else b.text for _, b in sorted(best[:count], key=lambda item: item[0])]


def _headline(node: Node) -> str:
    return f"{node.title} (when: {node.when})" if node.when and node.when != node.title else node.title


def _operators(node: Node) -> str:
    return ", ".join(sorted(node.operators)) or "another operation"


def _numbered(node: Node) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(node.steps, start=1)]


def _principles(metas: Sequence[tuple[Node, list[str]]]) -> list[list[str]]:
    blocks = [[f"### {_headline(node)}", *node.steps, *(f"- if {route}" for route in routes)] for node, routes in metas]
    return _titled("## Principles", blocks)


def _procedures(workflows: Sequence[tuple[Node, list[str], list[str]]]) -> list[list[str]]:
    blocks = [
        [
            f"### {_headline(node)}",
            *_numbered(node),
            *(f"Variant: {text}" for text in variants),
            *(f"Avoid: {text}" for text in pitfalls),
        ]
        for node, variants, pitfalls in workflows
    ]
    return _titled("## Procedures", blocks)


def _titled(title: str, blocks: list[list[str]]) -> list[list[str]]:
    return [[title, *blocks[0]], *blocks[1:]] if blocks else []


def _units(units: Sequence[Node]) -> list[list[str]]:
    lines = [f"- {node.kind}: {_headline(node)}: {'; '.join(node.steps)}" for node in units]
    return [["## Units to call", *lines]] if lines else []


def _warnings(graph: Graph, query: Query, selection: Selection) -> list[list[str]]:
    if not selection.warnings:
        return []
    asked = ", ".join(sorted(query.operators))
    lines = [f"## WARNING - DO NOT CONFUSE. This task asks to {asked}. Do NOT do what these opposite tasks did:"]
    for seq in selection.warnings:
        node = graph.nodes[seq]
        lines.append(f"- not this ({_operators(node)}): {_headline(node)}")
    return [lines]


def _unclear(graph: Graph, selection: Selection) -> list[list[str]]:
    if not selection.unclear:
        return []
    lines = [
        "## WARNING - DO NOT CONFUSE. These are opposites. See which one the task asks for, never follow the other:"
    ]
    for seq in selection.unclear:
        node = graph.nodes[seq]
        lines.append(f"- only to {_operators(node)}: {_headline(node)}")
        lines += _numbered(node) if seq in selection.seeds else []
    return [lines]
