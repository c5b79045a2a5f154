"""Section 6: collection of workflows under pressure, sparing those that hold clusters together.

    Q_i = 0.35 rank(A_i) + 0.65 (1 - rank(G_i))

`A_i` is the weighted degree among surviving neighbours in W, `G_i` the age; ranks are average ranks scaled to [0, 1].
While there are too many workflows, the non-cut vertex with the lowest Q goes, and cut vertices and Q are found anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.graph.ageing import age_all
from strata.graph.blocks import Blocks
from strata.graph.derived_graph import DerivedGraph
from strata.graph.exactness import DECIMALS
from strata.graph.model import Graph
from strata.graph.overlap import Floats
from strata.graph.settings import Ageing, Forgetting
from strata.types import Json


def scaled_ranks(values: Floats) -> Floats:
    """Average ranks scaled to [0, 1]; 0.5 for a single value. Values that settle to the same tie."""
    if len(values) == 1:
        return np.full(1, 0.5)
    _, inverse, counts = np.unique(np.round(values, DECIMALS), return_inverse=True, return_counts=True)
    average: Floats = np.cumsum(counts) - (counts + 1) / 2.0
    return average[inverse] / (len(values) - 1)


@dataclass(frozen=True, slots=True)
class Quality:
    """Q of some workflows and what it is made of, as columns in the order of `workflows`."""

    workflows: npt.NDArray[np.int64]
    value: Floats
    activation: Floats
    age: Floats
    activation_rank: Floats
    age_rank: Floats

    def order(self) -> list[int]:
        """Places from the lowest Q up, the older workflow first on equality."""
        return [int(place) for place in np.lexsort((self.workflows, self.value))]


def quality(workflows: npt.NDArray[np.int64], activation: Floats, ages: Floats, settings: Forgetting) -> Quality:
    """Q of all workflows, settled."""
    by_activation, by_age = scaled_ranks(activation), scaled_ranks(ages)
    value = np.round(settings.activation_weight * by_activation + settings.age_weight * (1.0 - by_age), DECIMALS)
    return Quality(workflows, value, activation, ages, by_activation, by_age)


def choose(candidates: Iterable[int], cut: Collection[int]) -> tuple[int, list[int]]:
    """The victim and those spared for it: cut vertices of lower quality.

    `candidates` come lowest first. When all of them are cut vertices the first goes, so that collection makes
    progress; nobody is spared then.
    """
    spared: list[int] = []
    for candidate in candidates:
        if candidate not in cut:
            return candidate, spared
        spared.append(candidate)
    return spared[0], []


class _Survivors:
    """The workflows that are left, with the columns that Q is made of, and W among them."""

    def __init__(self, graph: Graph, derived: DerivedGraph, settings: Forgetting, ageing: Ageing) -> None:
        ages = age_all(graph, ageing)
        self._settings = settings
        self.near = {seq: dict(near) for seq, near in derived.neighbours.items()}
        self._seqs = np.array(derived.vertices, dtype=np.int64)
        self._activation = np.array([math.fsum(self.near[seq].values()) for seq in derived.vertices])
        self._ages = np.array([ages[seq] for seq in derived.vertices])
        self._blocks = Blocks(derived.neighbours) if settings.mode == "protected" else None

    def __len__(self) -> int:
        return len(self._seqs)

    def delete_one(self, graph: Graph) -> tuple[int, dict[str, Json]]:
        """Choose and drop one workflow; returns it and the numbers of the choice."""
        found = quality(self._seqs, self._activation, self._ages, self._settings)
        order, cut = found.order(), self._blocks.cut if self._blocks else set()
        victim, spared = choose((int(self._seqs[place]) for place in order), cut)
        place = int(np.searchsorted(self._seqs, victim))
        event: dict[str, Json] = {
            "kind": "delete",
            "id": graph.nodes[victim].id,
            "created": graph.nodes[victim].created,
            "quality": float(found.value[place]),
            "activation": float(found.activation[place]),
            "age": float(found.age[place]),
            "activation_rank": float(found.activation_rank[place]),
            "age_rank": float(found.age_rank[place]),
            "spared": [graph.nodes[seq].id for seq in spared],
            "cut_vertices": len(cut),
            "fallback": victim in cut,
        }
        self._drop(victim, place)
        return victim, event

    def _drop(self, victim: int, place: int) -> None:
        if self._blocks:
            self._blocks.remove(victim)
        columns = (self._seqs, self._activation, self._ages)
        self._seqs, self._activation, self._ages = (np.delete(column, place) for column in columns)
        for neighbour in self.near.pop(victim):
            del self.near[neighbour][victim]
            at = np.searchsorted(self._seqs, neighbour)
            self._activation[at] = math.fsum(self.near[neighbour].values())


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
    survivors = _Survivors(graph, derived, settings, ageing)
    events: list[dict[str, Json]] = []
    while len(survivors) > settings.lower_mark(environment):
        victim, event = survivors.delete_one(graph)
        events.append(event | remove_workflow(graph, victim))
    summary = {
        "kind": "collect",
        "cap": cap,
        "before": before,
        "after": len(survivors),
        "protections": sum(len(event["spared"]) for event in events),
        "protected": sorted({name for event in events for name in event["spared"]}),
    }
    return [*events, summary]


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
