"""Section 1: nodes, typed edges and the tables they are kept in.

`Graph` holds data and keeps it consistent; it decides nothing. Every change is noted in `touched`, so that an
episode's delta costs what the episode changed. Nodes are immutable values: a change replaces the node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from strata.graph.text import short_hash, slug

NodeType = Literal["atomic", "workflow", "meta"]
AtomicKind = Literal["skill", "code", "role"]
BulletKind = Literal["variant", "pitfall"]

ORDER: dict[str, int] = {"meta": 0, "workflow": 1, "atomic": 2}
"""Rank of the layers: general nodes first (paper section on retrieval)."""

PREFIXES = ("app", "op", "obj")


@dataclass(frozen=True, slots=True)
class Bullet:
    """One line that was added to a node. `key` says when it applies; `source` is the member a meta absorbed."""

    kind: BulletKind
    text: str
    key: str = ""
    episode: int = 0
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One unit of experience.

    `steps` say what it does; `goal` is the task that a workflow was made from, in its own words. `calls` are the atomic
    nodes of a workflow in call order; `called` says that an atomic node once had a caller; `absorbed` are all workflows
    a meta ever had. Nodes name each other by `seq`, which is unique and never used again.
    """

    seq: int
    id: str
    type: NodeType
    title: str
    when: str
    steps: tuple[str, ...]
    tags: tuple[str, ...] = ()
    kind: str = ""
    goal: str = ""
    bullets: tuple[Bullet, ...] = ()
    calls: tuple[int, ...] = ()
    absorbed: tuple[int, ...] = ()
    called: bool = False
    created: int = 0
    updated: int = 0
    episodes: tuple[int, ...] = ()

    @property
    def procedure(self) -> str:
        """What it does: the numbered procedure of a workflow, otherwise the unit itself."""
        if self.type == "workflow":
            return "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        return "\n".join(self.steps)

    def content(self, kind: str) -> str:
        """The text of the content view: `procedure`, `goal` (of a node that has one), or `both`."""
        if not self.goal or kind == "procedure":
            return self.procedure
        return self.goal if kind == "goal" else f"{self.goal}\n{self.procedure}"

    def words(self, kind: str) -> str:
        """The text that the lexical term looks at: content and index view."""
        return f"{self.content(kind)}\n{self.index}"

    @property
    def index(self) -> str:
        """Goal and applicability. The title stands for the goal where there was no task."""
        return ". ".join(part.rstrip(".") for part in (self.goal or self.title, self.when) if part)

    @property
    def group(self) -> str:
        """Its leading tag; empty when it has none."""
        return leading_tag(self.tags)

    @property
    def operators(self) -> frozenset[str]:
        """Its `op:` tags without the prefix."""
        return operators(self.tags)


def operators(tags: Iterable[str]) -> frozenset[str]:
    """The `op:` tags without the prefix."""
    return frozenset(tag[3:] for tag in tags if tag.startswith("op:"))


def leading_tag(tags: Iterable[str]) -> str:
    """The first tag in the order app, op, obj; empty when there is none."""
    tags = list(tags)
    for prefix in PREFIXES:
        for tag in tags:
            if tag.startswith(f"{prefix}:"):
                return tag
    return ""


def order_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without repeats, apps first, then operators, then objects; otherwise in the order given."""
    unique = list(dict.fromkeys(tags))
    return tuple(tag for prefix in PREFIXES for tag in unique if tag.startswith(f"{prefix}:"))


TABLES = ("node", "vector", "age", "score", "generalizes", "contrast", "merged", "value")


class Graph:
    """Nodes, edges, ages and recorded scores.

    Ages are kept as `(value, at)`: the age when the retrieval counter stood at `at`. What has passed since is
    added when an age is read, so that ageing costs nothing per node.
    """

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.by_id: dict[str, int] = {}
        self.by_type: dict[str, dict[int, None]] = {kind: {} for kind in ORDER}
        self.by_operator: dict[str, set[int]] = defaultdict(set)
        self.parents: dict[int, list[int]] = defaultdict(list)
        self.children: dict[int, set[int]] = defaultdict(set)
        self.callers: dict[int, set[int]] = defaultdict(set)
        self.contrasts: dict[int, set[int]] = defaultdict(set)
        self.merged: dict[int, int] = {}
        self.ages: dict[int, tuple[float, int]] = {}
        self.scores: dict[str, list[float]] = {}
        self.values: dict[str, int] = {"next_seq": 0, "retrievals": 0, "workflows_changed": 0}
        self.touched: dict[str, dict[object, int]] = {table: {} for table in TABLES}

    def of_type(self, kind: NodeType) -> list[Node]:
        """Live nodes of a type, oldest first."""
        return [self.nodes[seq] for seq in self.by_type[kind]]

    def count(self, kind: NodeType) -> int:
        """Number of live nodes of a type."""
        return len(self.by_type[kind])

    def live_parents(self, workflow: int) -> list[int]:
        """Meta nodes that generalise a workflow, oldest first."""
        return sorted(self.parents.get(workflow, ()))

    def contrast_pairs(self) -> list[tuple[int, int]]:
        """Each contrast pair once, older member first."""
        return sorted((a, b) for a, partners in self.contrasts.items() for b in partners if a < b)

    def resolve(self, atomic: int) -> int:
        """The atomic node that stands for this one after merges."""
        while atomic in self.merged:
            atomic = self.merged[atomic]
        return atomic

    def set_value(self, name: str, value: int) -> None:
        """Change a counter of the graph."""
        self.values[name] = value
        self._touch("value", name)

    def add(
        self,
        type: NodeType,
        *,
        title: str,
        when: str,
        steps: tuple[str, ...],
        tags: tuple[str, ...],
        episode: int,
        kind: str = "",
        goal: str = "",
        bullets: tuple[Bullet, ...] = (),
        calls: tuple[int, ...] = (),
    ) -> Node:
        """Create a node with the next sequence number and an id that was never used before."""
        seq = self.values["next_seq"]
        self.set_value("next_seq", seq + 1)
        node = Node(
            seq=seq,
            id=f"{slug(title)}-{short_hash(seq)}",
            type=type,
            title=title,
            when=when,
            steps=steps,
            tags=tags,
            kind=kind,
            goal=goal,
            bullets=bullets,
            calls=calls,
            created=episode,
            updated=episode,
            episodes=(episode,),
        )
        self.put(node)
        self._touch("vector", seq)
        if type == "workflow":
            self.set_age(seq, 0.0, self.values["retrievals"])
            self.set_value("workflows_changed", 1)
        for atomic in calls:
            if not self.nodes[atomic].called:
                self.put(replace(self.nodes[atomic], called=True))
        return node

    def put(self, node: Node) -> None:
        """Insert or replace a node; the calls of a workflow follow its record."""
        before = self.nodes.get(node.seq)
        if before is not None:
            self._unfile(before)
        self.nodes[node.seq] = node
        self.by_id[node.id] = node.seq
        self.by_type[node.type][node.seq] = None
        for atomic in node.calls:
            self.callers[atomic].add(node.seq)
        if node.type == "workflow":
            for operator in node.operators:
                self.by_operator[operator].add(node.seq)
        self._touch("node", node.seq)

    def _unfile(self, node: Node) -> None:
        """Forget what a node's own record says about edges and operators."""
        for atomic in node.calls:
            self.callers[atomic].discard(node.seq)
        if node.type == "workflow":
            for operator in node.operators:
                self.by_operator[operator].discard(node.seq)

    def amend(self, seq: int, episode: int, **changes: object) -> Node:
        """Replace fields of a node and note the episode that did it."""
        node = self.nodes[seq]
        episodes = node.episodes if episode in node.episodes else (*node.episodes, episode)
        node = replace(node, updated=episode, episodes=episodes, **changes)  # type: ignore[arg-type]
        self.put(node)
        if {"steps", "title", "when", "goal"} & set(changes):
            self._touch("vector", seq)
        return node

    def remove(self, seq: int) -> Node:
        """Delete a node with all its edges."""
        node = self.nodes.pop(seq)
        del self.by_id[node.id]
        del self.by_type[node.type][seq]
        self._unfile(node)
        for meta in list(self.parents.get(seq, ())):
            self.unlink(seq, meta)
        for workflow in list(self.children.get(seq, ())):
            self.unlink(workflow, seq)
        for partner in list(self.contrasts.get(seq, ())):
            self.remove_contrast(seq, partner)
        for source, target in list(self.merged.items()):
            if seq in (source, target):
                del self.merged[source]
                self._touch("merged", (source, target))
        for table in (self.parents, self.children, self.callers, self.contrasts):
            table.pop(seq, None)
        self._touch("node", seq)
        self._touch("vector", seq)
        if self.ages.pop(seq, None) is not None:
            self._touch("age", seq)
        if node.type == "workflow":
            self.set_value("workflows_changed", 1)
        return node

    def link(self, workflow: int, meta: int) -> None:
        """Add a `generalizes` edge."""
        self.parents[workflow].append(meta)
        self.children[meta].add(workflow)
        self._touch("generalizes", (workflow, meta))

    def unlink(self, workflow: int, meta: int) -> None:
        """Remove a `generalizes` edge."""
        self.parents[workflow].remove(meta)
        self.children[meta].discard(workflow)
        self._touch("generalizes", (workflow, meta))

    def add_contrast(self, a: int, b: int) -> None:
        """Add a `contrasts` edge, in both directions."""
        self.contrasts[a].add(b)
        self.contrasts[b].add(a)
        self._touch("contrast", (min(a, b), max(a, b)))

    def remove_contrast(self, a: int, b: int) -> None:
        """Remove a `contrasts` edge, in both directions."""
        self.contrasts[a].discard(b)
        self.contrasts[b].discard(a)
        self._touch("contrast", (min(a, b), max(a, b)))

    def merge(self, source: int, target: int) -> None:
        """Add a `merged_from` edge: `target` was made from `source`."""
        self.merged[source] = target
        self._touch("merged", (source, target))

    def set_age(self, workflow: int, value: float, at: int) -> None:
        """Set a workflow's age as of the retrieval counter `at`."""
        self.ages[workflow] = (value, at)
        self._touch("age", workflow)

    def record_score(self, group: str, score: float) -> None:
        """Append a score to a group."""
        scores = self.scores.setdefault(group, [])
        self.touched["score"].setdefault(group, len(scores))
        scores.append(score)

    def _touch(self, table: str, key: object) -> None:
        self.touched[table][key] = 1
