"""Section 3, age: workflows compete at each retrieval.

Every live workflow ages by alpha. Those that cleared the gate but lost to the best one, u, age further by
`beta s_i (1 - (s_u - s_i))`, so close losers age fastest; the winner's age becomes `gamma (G_u + alpha)`.
"""

from __future__ import annotations

from collections.abc import Mapping

from strata.graph.exactness import settled
from strata.graph.model import Graph
from strata.graph.settings import Ageing
from strata.types import Json


def age(graph: Graph, workflow: int, settings: Ageing) -> float:
    """Age now. What has passed since it was last written is added here: alpha for each retrieval.

    Settled, because equal ages that came about in different ways must tie: 0.01 + 3 alpha and 0.03 + 2 alpha do not
    in plain floats, and ranks would tell them apart.
    """
    value, at = graph.ages[workflow]
    return settled(value + settings.alpha * (graph.values["retrievals"] - at))


def age_all(graph: Graph, settings: Ageing) -> dict[int, float]:
    """Age of every live workflow."""
    return {workflow: age(graph, workflow, settings) for workflow in graph.ages}


def retrieved(graph: Graph, cleared: Mapping[int, float], settings: Ageing) -> list[dict[str, Json]]:
    """Age the workflows for one retrieval.

    `cleared` maps each workflow that cleared the gate to its score; the best of them, older first on equality, wins.
    Returns one record per workflow in `cleared`, best first: id, score, change and new age.
    """
    now = graph.values["retrievals"] + 1
    graph.set_value("retrievals", now)
    records: list[dict[str, Json]] = []
    order = sorted(cleared, key=lambda seq: (-cleared[seq], seq))
    for place, seq in enumerate(order):
        before = age(graph, seq, settings)
        if place == 0:
            after = settings.gamma * before
        else:
            after = before + settings.beta * cleared[seq] * (1.0 - (cleared[order[0]] - cleared[seq]))
        graph.set_age(seq, after, now)
        records.append({"id": graph.nodes[seq].id, "score": cleared[seq], "winner": place == 0, "age": after})
    return records
