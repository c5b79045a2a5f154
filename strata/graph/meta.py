"""Section 5, the meta layer: communities of W become meta nodes, or extend the nearest one.

A community is looked at when one of its workflows has no meta above it, and promoted when it is large, tight and
novel. Its novelty is the distance of its centroid to the nearest meta, which stands for its live children.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from strata.graph.derived_graph import DerivedGraph
from strata.graph.exactness import settled
from strata.graph.model import ORDER, Bullet, Graph, Node, order_tags
from strata.graph.overlap import Floats
from strata.graph.settings import Meta
from strata.graph.similarity import Index
from strata.graph.text import line, normal
from strata.types import Json

Refresh = Callable[[int], None]
"""Called with the sequence number of a new or changed meta, so that searches see it as it is now."""

_BULLET_CHARS = 400


def centroid(index: Index, members: Iterable[int]) -> Floats | None:
    """Mean of the members' unit content vectors, scaled to length 1; None when it is zero."""
    total = np.zeros(index.dimension)
    for member in sorted(members):
        total += index.views(member).content.astype(np.float64)
    length = math.sqrt(float((total * total).sum()))
    return total / length if length > 0 else None


def distance(a: Floats, b: Floats, kind: str) -> float:
    """Between unit vectors, settled: Euclidean, or one minus the cosine."""
    if kind == "cosine":
        return settled(1.0 - float((a * b).sum()))
    return settled(math.sqrt(float(((a - b) ** 2).sum())))


def nearest_meta(graph: Graph, index: Index, middle: Floats, kind: str) -> tuple[float, int | None]:
    """Distance to the nearest meta and its number, older first on equality; infinite without any."""
    best: tuple[float, int | None] = (math.inf, None)
    for meta in graph.of_type("meta"):
        other = centroid(index, graph.children[meta.seq])
        if other is not None and (away := distance(middle, other, kind)) < best[0]:
            best = (away, meta.seq)
    return best


def run_round(
    graph: Graph,
    index: Index,
    derived: DerivedGraph,
    parts: Sequence[Sequence[int]],
    settings: Meta,
    g_high: float,
    episode: int,
    refresh: Refresh,
) -> list[dict[str, Json]]:
    """One round over a partition of W. Returns an event per community that was looked at."""
    events = []
    for part in sorted(map(sorted, parts)):
        unlinked = [seq for seq in part if not graph.parents.get(seq)]
        if unlinked:
            events.append(_consider(graph, index, derived, part, unlinked, settings, g_high, episode, refresh))
    return events


def _consider(
    graph: Graph,
    index: Index,
    derived: DerivedGraph,
    part: list[int],
    unlinked: list[int],
    settings: Meta,
    g_high: float,
    episode: int,
    refresh: Refresh,
) -> dict[str, Json]:
    event: dict[str, Json] = {
        "kind": "community",
        "members": [graph.nodes[seq].id for seq in part],
        "unlinked": [graph.nodes[seq].id for seq in unlinked],
    }
    if len(part) < settings.n_min:
        return event | {"decision": "rejected", "reason": "small"}
    event["conductance"] = derived.conductance(part)
    if not event["conductance"] < settings.conductance_max:
        return event | {"decision": "rejected", "reason": "loose"}
    middle = centroid(index, part)
    if middle is None:
        return event | {"decision": "rejected", "reason": "zero_centroid"}
    away, nearest = nearest_meta(graph, index, middle, settings.distance)
    event["distance"] = away if nearest is not None else None
    event["nearest"] = graph.nodes[nearest].id if nearest is not None else None
    if settings.novelty_gate and nearest is not None and away < settings.r_meta:
        update = _update(graph, nearest, part, unlinked, settings, episode)
        refresh(nearest)
        return event | update
    if len(unlinked) < settings.n_min:
        return event | {"decision": "rejected", "reason": "few_unlinked"}
    return event | _create(graph, index, part, unlinked, g_high, episode, refresh)


def _create(
    graph: Graph,
    index: Index,
    part: list[int],
    unlinked: list[int],
    g_high: float,
    episode: int,
    refresh: Refresh,
) -> dict[str, Json]:
    members = [graph.nodes[seq] for seq in unlinked]
    tags = shared_tags(graph, part)
    node = graph.add(
        "meta", title=name(tags), when=applicability(tags), steps=paradigm(members), tags=tags, episode=episode
    )
    _absorb(graph, node.seq, unlinked, episode)
    refresh(node.seq)
    rival, score = _nearest_other(graph, index, node.seq)
    return {
        "decision": "create",
        "meta": node.id,
        "linked": [member.id for member in members],
        "support_live": len(graph.children[node.seq]),
        "support_ever": len(graph.nodes[node.seq].absorbed),
        "similar_to": rival,
        "similarity": score,
        "churn": score is not None and score >= g_high,
    }


def _nearest_other(graph: Graph, index: Index, meta: int) -> tuple[str | None, float | None]:
    ranked = index.search(index.views(meta), symmetric=True).top(ORDER["meta"], 1, skip=[meta])
    return (graph.nodes[ranked[0][0]].id, ranked[0][1]) if ranked else (None, None)


def _update(
    graph: Graph, meta: int, part: list[int], unlinked: list[int], settings: Meta, episode: int
) -> dict[str, Json]:
    before = graph.nodes[meta]
    found = shared_tags(graph, part)
    tags = order_tags([*before.tags, *found]) if settings.accumulate_tags else found
    graph.amend(meta, episode, tags=tags)
    _absorb(graph, meta, unlinked, episode)
    return {
        "decision": "update",
        "meta": before.id,
        "linked": [graph.nodes[seq].id for seq in unlinked],
        "support_live": len(graph.children[meta]),
        "support_ever": len(graph.nodes[meta].absorbed),
        "tags_before": list(before.tags),
        "tags": list(tags),
    }


def _absorb(graph: Graph, meta: int, unlinked: list[int], episode: int) -> None:
    """Link workflows to a meta, each with one variant bullet keyed by when it applies."""
    node = graph.nodes[meta]
    bullets, absorbed = list(node.bullets), list(node.absorbed)
    known = {normal(f"{bullet.key} {bullet.text}") for bullet in bullets}
    for seq in unlinked:
        graph.link(seq, meta)
        member = graph.nodes[seq]
        if seq not in absorbed:
            absorbed.append(seq)
        key, text = member.when or member.title, _in_short(member)
        if normal(f"{key} {text}") not in known:
            known.add(normal(f"{key} {text}"))
            bullets.append(Bullet("variant", text, key=key, episode=episode, source=seq))
    graph.amend(meta, episode, bullets=tuple(bullets), absorbed=tuple(absorbed))


def _in_short(member: Node) -> str:
    """A member's steps on one line; of a long procedure the first ones, never half a step."""
    kept: list[str] = []
    for step in member.steps:
        if kept and len("; ".join([*kept, step])) > _BULLET_CHARS:
            return "; ".join([*kept, "..."])
        kept.append(step)
    return "; ".join(kept)


def shared_tags(graph: Graph, part: Iterable[int]) -> tuple[str, ...]:
    """The tags of a community's members, those of older members first."""
    return order_tags(tag for seq in sorted(part) for tag in graph.nodes[seq].tags)


def _values(tags: Iterable[str], prefix: str) -> list[str]:
    return [tag.partition(":")[2] for tag in tags if tag.startswith(f"{prefix}:")]


def name(tags: Sequence[str]) -> str:
    """A family's name, from its tags."""
    parts = [", ".join(_values(tags, prefix)[:3]) for prefix in ("app", "op")]
    return line("Family: " + (" - ".join(part for part in parts if part) or "related tasks"), 120)


def applicability(tags: Sequence[str]) -> str:
    """When a family applies, from its tags."""
    operators, objects = ", ".join(_values(tags, "op")), ", ".join(_values(tags, "obj"))
    return line(f"{operators or 'tasks'} with {objects}" if objects else operators, 200)


def paradigm(members: Sequence[Node]) -> tuple[str, ...]:
    """What the family shares: steps of the oldest member that at least half of the members have too.

    Without such a step only the cases are named, since one member's procedure may be wrong for another.
    """
    having = Counter(key for member in members for key in {normal(step) for step in member.steps})
    common: dict[str, str] = {}
    for step in members[0].steps:
        if 2 * having[normal(step)] >= len(members) > 1:
            common.setdefault(normal(step), step)
    if common:
        return (line("Common steps: " + "; ".join(common.values()), 600),)
    return (line("Cases: " + "; ".join(dict.fromkeys(member.title for member in members)), 600),)
