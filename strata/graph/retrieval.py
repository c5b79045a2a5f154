"""Section 3: a query becomes a small subgraph, or nothing.

Seeds are the best nodes that clear the gate. Around them stand the meta nodes above them that clear it too, the atomic
nodes they call, and their contrast neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strata.graph.contrast import ContrastRule, Role
from strata.graph.model import ORDER, Graph, Node, operators
from strata.graph.settings import Retrieval
from strata.graph.similarity import Index, Search, Views


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A task in the nodes' own geometry. `group` is the task's declared group, such as its site."""

    text: str
    environment: str
    group: str
    views: Views

    @property
    def tags(self) -> tuple[str, ...]:
        """Structured tags of the task."""
        return self.views.tags

    @property
    def operators(self) -> frozenset[str]:
        """The task's operators without prefix."""
        return operators(self.views.tags)


@dataclass(frozen=True, slots=True)
class Warned:
    """A contrast pair as it is shown. `roles` belong to `(seed, neighbour)`."""

    seed: int
    neighbour: int
    roles: tuple[Role, Role]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown for a query, by layer and in order of rank; all empty when nothing clears the gate.

    `scores` holds the raw score of every shown node and of every node that cleared the gate.
    """

    seeds: tuple[int, ...] = ()
    metas: tuple[int, ...] = ()
    procedures: tuple[int, ...] = ()
    warnings: tuple[int, ...] = ()
    unclear: tuple[int, ...] = ()
    atomics: tuple[int, ...] = ()
    pairs: tuple[Warned, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict)
    cleared: Mapping[int, float] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[int, ...]:
        """All shown nodes: meta, then workflow, then atomic."""
        return (*self.metas, *self.warnings, *self.unclear, *self.procedures, *self.atomics)


def rank_score(score: float, node: Node, beta_layer: float) -> float:
    """Raw score with the bonus of the layer: full for meta, half for workflow, none for atomic."""
    return score + beta_layer * (2 - ORDER[node.type]) / 2


def select(graph: Graph, index: Index, query: Query, rule: ContrastRule, settings: Retrieval) -> Selection:
    """The subgraph to show. Atomic nodes that were merged into another stay hidden behind it."""
    search = index.search(query.views)
    cleared = {seq: score for seq, score in search.above(settings.theta_min).items() if seq not in graph.merged}

    def rank(seq: int) -> tuple[float, int]:
        return -rank_score(cleared[seq], graph.nodes[seq], settings.beta_layer), seq

    seeds = sorted(cleared, key=rank)[: settings.top_k]
    pairs = _pairs(graph, query, rule, seeds)
    roles = _roles(seeds, graph, pairs)
    parents = {meta for seed in seeds for meta in graph.live_parents(seed) if meta in cleared}
    metas = {seed for seed in seeds if graph.nodes[seed].type == "meta"} | parents
    atomics = [seed for seed in seeds if graph.nodes[seed].type == "atomic"]
    for seed in seeds:
        if roles.get(seed) == "procedure":
            atomics += [graph.resolve(atomic) for atomic in graph.nodes[seed].calls]
    scores = _scores(search, cleared, [*metas, *roles, *atomics])
    best = sorted(roles, key=lambda seq: (-scores[seq], seq))
    return Selection(
        seeds=tuple(seeds),
        metas=tuple(sorted(metas, key=lambda seq: (-scores[seq], seq))),
        procedures=tuple(seq for seq in best if roles[seq] == "procedure"),
        warnings=tuple(seq for seq in best if roles[seq] == "warning"),
        unclear=tuple(seq for seq in best if roles[seq] == "unclear"),
        atomics=tuple(dict.fromkeys(atomics)),
        pairs=tuple(pairs),
        scores=scores,
        cleared=cleared,
    )


def _pairs(graph: Graph, query: Query, rule: ContrastRule, seeds: list[int]) -> list[Warned]:
    pairs = []
    for seed in seeds:
        for neighbour in sorted(graph.contrasts.get(seed, ())):
            if neighbour in seeds and seeds.index(neighbour) < seeds.index(seed):
                continue
            roles = rule.roles(query.operators, graph.nodes[seed], graph.nodes[neighbour])
            pairs.append(Warned(seed, neighbour, roles))
    return pairs


def _roles(seeds: list[int], graph: Graph, pairs: list[Warned]) -> dict[int, Role]:
    """One role per workflow: a warning in any pair makes it a warning."""
    strength: dict[Role, int] = {"procedure": 0, "unclear": 1, "warning": 2}
    roles: dict[int, Role] = {seed: "procedure" for seed in seeds if graph.nodes[seed].type == "workflow"}
    for pair in pairs:
        for seq, role in zip((pair.seed, pair.neighbour), pair.roles, strict=True):
            roles[seq] = max(roles.get(seq, role), role, key=strength.__getitem__)
    return roles


def _scores(search: Search, cleared: Mapping[int, float], others: list[int]) -> dict[int, float]:
    missing = sorted(set(others) - set(cleared))
    return {**cleared, **(search.exact(missing) if missing else {})}
