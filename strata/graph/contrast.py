"""Section 7: contrast edges between workflows that do opposite things, and what becomes of a pair when it is shown.

Two workflows contrast when their operators make up a pair of the lexicon; objects need not match. A workflow with both
operators of a pair contrasts with each that has only one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from strata.errors import UsageError
from strata.graph.model import Graph, Node
from strata.graph.settings import Contrast

Pair = tuple[str, str]
Member = tuple[str, ...] | str
"""Of a hand-placed pair: tags that a workflow must all have, or its id or title."""

Role = Literal["procedure", "warning", "unclear"]


def oppositions(a: frozenset[str], b: frozenset[str], lexicon: Iterable[Sequence[str]]) -> list[Pair]:
    """The pairs of the lexicon that two sets of operators make up. Two sets with both operators make up none."""
    found = []
    for first, second in lexicon:
        pair = {first, second}
        left, right = a & pair, b & pair
        if left and right and left | right == pair and not (left == right == pair):
            found.append((first, second))
    return found


def read_pairs(path: str) -> tuple[tuple[Member, Member], ...]:
    """Hand-placed pairs: a YAML list of two-element lists, each element a list of tags, or a node id or title."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"memory.contrast.file={path}: cannot be read ({error}).") from error
    if not isinstance(raw, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in raw):
        raise UsageError(f"memory.contrast.file={path}: must be a list of pairs, such as [[op:heat], [op:cool]].")
    return tuple((_member(pair[0], path), _member(pair[1], path)) for pair in raw)


def _member(value: object, path: str) -> Member:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(tag, str) for tag in value):
        return tuple(value)
    raise UsageError(f"memory.contrast.file={path}: {value!r} is neither a list of tags nor a node id or title.")


def _fits(node: Node, member: Member) -> bool:
    if isinstance(member, str):
        return member in (node.id, node.title)
    return set(member) <= set(node.tags)


@dataclass(frozen=True)
class ContrastRule:
    """Which workflows contrast, by the configured mode."""

    settings: Contrast
    pairs: tuple[tuple[Member, Member], ...] = ()

    @classmethod
    def build(cls, settings: Contrast) -> ContrastRule:
        """Read the file of hand-placed pairs when the mode needs it. Raises UsageError."""
        if settings.mode == "hand" and settings.file is not None:
            return cls(settings, read_pairs(settings.file))
        return cls(settings)

    def holds(self, a: Node, b: Node) -> bool:
        """Whether two workflows contrast."""
        if a.seq == b.seq or self.settings.mode == "none":
            return False
        if self.settings.mode == "hand":
            return any((_fits(a, x) and _fits(b, y)) or (_fits(a, y) and _fits(b, x)) for x, y in self.pairs if x != y)
        if self.settings.same_app and not (_apps(a) & _apps(b)):
            return False
        return bool(oppositions(a.operators, b.operators, self.settings.lexicon))

    def update(self, graph: Graph, workflow: int) -> tuple[list[int], list[int]]:
        """Make a workflow's edges what the rule says. Returns the partners that came and went, oldest first."""
        node = graph.nodes[workflow]
        wanted = {seq for seq in self._candidates(graph, node) if self.holds(node, graph.nodes[seq])}
        present = set(graph.contrasts.get(workflow, ()))
        for partner in sorted(wanted - present):
            graph.add_contrast(workflow, partner)
        for partner in sorted(present - wanted):
            graph.remove_contrast(workflow, partner)
        return sorted(wanted - present), sorted(present - wanted)

    def _candidates(self, graph: Graph, node: Node) -> Iterable[int]:
        """Workflows that can contrast with a node: by rule, those with an operator opposite to one of its own."""
        if self.settings.mode == "hand":
            return graph.by_type["workflow"]
        opposite = {y for x, y in self._directed() if x in node.operators}
        return {seq for operator in opposite for seq in graph.by_operator.get(operator, ())}

    def _directed(self) -> list[Pair]:
        return [(x, y) for first, second in self.settings.lexicon for x, y in ((first, second), (second, first))]

    def roles(self, query: frozenset[str], a: Node, b: Node) -> tuple[Role, Role]:
        """Of a contrast pair: who is the procedure for a query with these operators, and who the warning.

        The member that shares the query's operator is the procedure, whichever was retrieved. Where the query's
        operator is unknown, or it has both, both are unclear.
        """
        pairs = oppositions(a.operators, b.operators, self.settings.lexicon)
        for pair in pairs:
            asked, left, right = query & set(pair), a.operators & set(pair), b.operators & set(pair)
            if len(asked) != 1:
                continue
            if asked <= left and asked <= right:  # one of the two has both operators: the other is meant
                return ("procedure", "warning") if left == asked else ("warning", "procedure")
            return ("procedure", "warning") if asked <= left else ("warning", "procedure")
        if not pairs:
            left, right = query & (a.operators - b.operators), query & (b.operators - a.operators)
            if bool(left) != bool(right):
                return ("procedure", "warning") if left else ("warning", "procedure")
        return "unclear", "unclear"


def _apps(node: Node) -> set[str]:
    return {tag for tag in node.tags if tag.startswith("app:")}
