"""Section 6, matched mode: one recorded stream of writes and retrievals, replayed through a collector.

Two free runs write different workflows as soon as their collectors differ, so neither their sizes nor their deletions
are equal. Here the writes and the tasks are given, and only the choice of the victims differs: both collectors delete
equally many at equal size. Atomic and meta nodes take no part. Recorded runs may have used any collector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from strata.graph import forgetting, state
from strata.graph.ageing import retrieved
from strata.graph.derived_graph import PairScores
from strata.graph.model import ORDER, Graph, Node
from strata.graph.retrieval import Query
from strata.graph.settings import Settings
from strata.graph.similarity import Index, Vector, Views
from strata.graph.text import Tokenizer
from strata.types import Json


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one episode did to the workflows: its task as a query, and the workflows that it wrote."""

    episode: int
    query: Query
    written: tuple[tuple[Node, Vector, Vector], ...]


def record(deltas: Iterable[bytes], queries: Sequence[Query], embedder: str, dimension: int) -> list[Recorded]:
    """The stream of a pass from its deltas, one per episode, and the tasks of those episodes.

    Raises CorruptStateError on a damaged delta and ValueError when the numbers differ.
    """
    stream: list[Recorded] = []
    tables = state.Tables()
    for episode, (delta, query) in enumerate(zip(deltas, queries, strict=True)):
        before = set(tables.vector)
        state.extend(tables, f"memory delta {episode}", delta, embedder, dimension)
        new = sorted(set(tables.vector) - before)
        written = tuple((tables.node[seq], *tables.vector[seq]) for seq in new if tables.node[seq].type == "workflow")
        stream.append(Recorded(episode, query, written))
    return stream


def replay(
    stream: Iterable[Recorded],
    settings: Settings,
    environment: str,
    *,
    mode: Literal["none", "unprotected", "protected"],
) -> list[dict[str, Json]]:
    """The `delete` and `collect` events, each with its `episode`, that a collector gives on a stream."""
    limits = replace(settings.forgetting, mode=mode)
    graph, pairs, tokenizer = Graph(), PairScores(settings.meta), Tokenizer()
    index: Index | None = None
    events: list[dict[str, Json]] = []
    for entry in stream:
        index = index or Index(len(entry.query.views.content), settings.similarity)
        cleared = index.search(entry.query.views).above(settings.retrieval.theta_min, ORDER["workflow"])
        retrieved(graph, cleared, settings.ageing)
        for node, content, index_view in entry.written:
            graph.put(replace(node, calls=(), bullets=()))
            graph.set_age(node.seq, 0.0, graph.values["retrievals"])
            tokens = tuple(tokenizer.tokens(node.words(settings.similarity.content_view)))
            index.add(node.seq, ORDER["workflow"], Views(content, index_view, node.tags, tokens))
        if graph.count("workflow") > limits.cap_for(environment) and mode != "none":
            pairs.sync(graph, index)
            found = forgetting.collect(graph, pairs.derive(), limits, settings.ageing, environment)
            events += [{"episode": entry.episode, **event} for event in found]
            for seq in index.seqs() - set(graph.nodes):
                index.discard(seq)
    return events
