"""Section 6: collection of workflows under pressure, sparing those that hold clusters together.

    Q_i = 0.35 rank(A_i) + 0.65 (1 - rank(G_i))

`A_i` is the weighted degree among surviving neighbours in W, `G_i` the age; ranks are average ranks scaled to [0, 1].
While there are too many workflows, the non-cut vertex with the lowest Q goes, and cut vertices and Q are found anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from strata.graph.ageing import age_all
from strata.graph.communities import cut_vertices
from strata.graph.derived_graph import DerivedGraph
from strata.graph.model import Graph
from strata.graph.settings import Ageing, Forgetting
from strata.types import Json


@dataclass(frozen=True, slots=True)
class Quality:
    """Q of a workflow and what it was made of."""

    workflow: int
    value: float
    activation: float
    age: float
    activation_rank: float
    age_rank: float


def scaled_ranks(values: Sequence[float]) -> list[float]:
    """Average ranks scaled to [0, 1]; 0.5 for a single value."""
    if len(values) == 1:
        return [0.5]
    ranks = rankdata(np.array(values), method="average")
    return [(float(rank) - 1.0) / (len(values) - 1) for rank in ranks]


def qualities(activation: Mapping[int, float], ages: Mapping[int, float], settings: Forgetting) -> list[Quality]:
    """Q of all workflows, lowest first, the older first on equality."""
    order = sorted(activation)
    by_activation = scaled_ranks([activation[seq] for seq in order])
    by_age = scaled_ranks([ages[seq] for seq in order])
    found = [
        Quality(
            workflow=seq,
            value=settings.activation_weight * first + settings.age_weight * (1.0 - second),
            activation=activation[seq],
            age=ages[seq],
            activation_rank=first,
            age_rank=second,
        )
        for seq, first, second in zip(order, by_activation, by_age, strict=True)
    ]
    return sorted(found, key=lambda quality: (quality.value, quality.workflow))


def choose(candidates: Sequence[Quality], cut: Collection[int]) -> tuple[Quality, list[Quality]]:
    """The victim and those spared for it: cut vertices with lower quality.

    `candidates` come lowest first. When all of them are cut vertices the first goes, so that collection makes
    progress; nobody is spared then.
    """
    spared: list[Quality] = []
    for candidate in candidates:
        if candidate.workflow not in cut:
            return candidate, spared
        spared.append(candidate)
    return candidates[0], []


def collect(
    graph: Graph, derived: DerivedGraph, settings: Forgetting, ageing: Ageing, environment: str
) -> list[dict[str, Json]]:
    """Delete workflows until the cap's lower mark is reached, then what they alone kept alive.

    Returns one `delete` event per deletion and a `collect` event, or nothing when the cap is not exceeded.
    """
    cap = settings.cap_for(environment)
    before = graph.count("workflow")
    if settings.mode == "none" or before <= cap:
        return []
    alive = {seq: dict(near) for seq, near in derived.neighbours.items()}
    ages = age_all(graph, ageing)
    events: list[dict[str, Json]] = []
    protected: set[str] = set()
    while len(alive) > settings.lower_mark(environment):
        event, spared = _delete_one(graph, alive, ages, settings)
        protected |= set(spared)
        events.append(event)
    summary = {
        "kind": "collect",
        "cap": cap,
        "before": before,
        "after": len(alive),
        "protections": sum(len(event["spared"]) for event in events),
        "protected": sorted(protected),
    }
    return [*events, summary]


def _delete_one(
    graph: Graph, alive: dict[int, dict[int, float]], ages: dict[int, float], settings: Forgetting
) -> tuple[dict[str, Json], list[str]]:
    activation = {seq: math.fsum(near.values()) for seq, near in alive.items()}
    candidates = qualities(activation, ages, settings)
    cut = cut_vertices(alive) if settings.mode == "protected" else set()
    victim, spared = choose(candidates, cut)
    for neighbour in alive.pop(victim.workflow):
        del alive[neighbour][victim.workflow]
    del ages[victim.workflow]
    names = [graph.nodes[quality.workflow].id for quality in spared]
    event: dict[str, Json] = {
        "kind": "delete",
        "id": graph.nodes[victim.workflow].id,
        "created": graph.nodes[victim.workflow].created,
        "quality": victim.value,
        "activation": victim.activation,
        "age": victim.age,
        "activation_rank": victim.activation_rank,
        "age_rank": victim.age_rank,
        "spared": names,
        "cut_vertices": len(cut),
        "fallback": victim.workflow in cut,
    }
    return event | remove_workflow(graph, victim.workflow), names


def remove_workflow(graph: Graph, workflow: int) -> dict[str, Json]:
    """Delete a workflow and what it alone kept alive: atomics without a caller, metas without a live child."""
    calls, metas = graph.nodes[workflow].calls, graph.live_parents(workflow)
    partners = [graph.nodes[seq].id for seq in sorted(graph.contrasts.get(workflow, ()))]
    graph.remove(workflow)
    gone_metas = [graph.remove(meta).id for meta in metas if not graph.children[meta]]
    gone_atomics: list[str] = []
    for atomic in dict.fromkeys(calls):
        gone_atomics += _drop_uncalled(graph, atomic)
    return {"atomics": gone_atomics, "metas": gone_metas, "contrasts_removed": partners}


def _drop_uncalled(graph: Graph, atomic: int) -> list[str]:
    """Delete an atomic node that nothing calls any more, directly or through a node merged into it."""
    if atomic not in graph.nodes or has_caller(graph, atomic):
        return []
    target = graph.merged.get(atomic)
    gone = [graph.remove(atomic).id]
    return gone + (_drop_uncalled(graph, target) if target is not None else [])


def has_caller(graph: Graph, atomic: int) -> bool:
    """Whether a workflow calls an atomic node, or one that was merged into it."""
    if graph.callers.get(atomic):
        return True
    return any(has_caller(graph, source) for source, target in graph.merged.items() if target == atomic)
