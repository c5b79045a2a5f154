"""Section 9, exact serialisation: snapshots and deltas as canonical bytes.

A delta holds, per table, what was put and what was dropped since the last one; a snapshot is the delta from an empty
graph. Embeddings travel as float32 arrays beside the JSON document. Derived structures (index, W) are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from strata import canonical
from strata.errors import CorruptStateError
from strata.graph.model import TABLES, Bullet, Graph, Node
from strata.graph.similarity import Vector
from strata.types import Json

FORMAT = 1

Vectors = Mapping[int, tuple[Vector, Vector]]
"""Sequence number -> content and index embedding."""


@dataclass
class Tables:
    """The stored content of a graph, before edges are indexed."""

    node: dict[int, Node] = field(default_factory=dict)
    vector: dict[int, tuple[Vector, Vector]] = field(default_factory=dict)
    age: dict[int, tuple[float, int]] = field(default_factory=dict)
    score: dict[str, list[float]] = field(default_factory=dict)
    generalizes: set[tuple[int, int]] = field(default_factory=set)
    contrast: set[tuple[int, int]] = field(default_factory=set)
    merged: set[tuple[int, int]] = field(default_factory=set)
    value: dict[str, int] = field(default_factory=dict)


def snapshot(graph: Graph, vectors: Vectors, embedder: str, dimension: int) -> bytes:
    """The whole state. Equal graphs give equal bytes."""
    return _pack("snapshot", graph, everything(graph), vectors, embedder, dimension)


def everything(graph: Graph) -> dict[str, dict[Any, int]]:
    """`touched` as if the whole graph were new."""
    return {
        "node": dict.fromkeys(graph.nodes, 1),
        "vector": dict.fromkeys(graph.nodes, 1),
        "age": dict.fromkeys(graph.ages, 1),
        "score": dict.fromkeys(graph.scores, 0),
        "generalizes": dict.fromkeys(_generalizes(graph), 1),
        "contrast": dict.fromkeys(graph.contrast_pairs(), 1),
        "merged": dict.fromkeys(graph.merged.items(), 1),
        "value": dict.fromkeys(graph.values, 1),
    }


def delta(graph: Graph, vectors: Vectors, embedder: str, dimension: int) -> bytes:
    """What changed since `graph.touched` was last cleared."""
    return _pack("delta", graph, graph.touched, vectors, embedder, dimension)


def clear_touched(graph: Graph) -> None:
    """Begin a new delta."""
    graph.touched = {table: {} for table in TABLES}


def _generalizes(graph: Graph) -> list[tuple[int, int]]:
    return sorted((workflow, meta) for meta, children in graph.children.items() for workflow in children)


def _pack(
    kind: str, graph: Graph, touched: Mapping[str, Mapping[Any, int]], vectors: Vectors, embedder: str, dimension: int
) -> bytes:
    is_there: dict[str, Callable[[int, int], bool]] = {
        "generalizes": lambda workflow, meta: workflow in graph.children.get(meta, ()),
        "contrast": lambda a, b: b in graph.contrasts.get(a, ()),
        "merged": lambda source, target: graph.merged.get(source) == target,
    }
    put: dict[str, Json] = {
        "node": {str(seq): encode(graph.nodes[seq]) for seq in touched["node"] if seq in graph.nodes},
        "age": {str(seq): list(graph.ages[seq]) for seq in touched["age"] if seq in graph.ages},
        "score": {group: [start, graph.scores[group][start:]] for group, start in touched["score"].items()},
        "value": {name: graph.values[name] for name in touched["value"]},
    }
    drop: dict[str, Json] = {
        "node": sorted(seq for seq in touched["node"] if seq not in graph.nodes),
        "age": sorted(seq for seq in touched["age"] if seq not in graph.ages),
    }
    for table, present in is_there.items():
        put[table] = sorted(list(edge) for edge in touched[table] if present(*edge))
        drop[table] = sorted(list(edge) for edge in touched[table] if not present(*edge))
    embedded = sorted(seq for seq in touched["vector"] if seq in graph.nodes)
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "vector_seq": np.array(embedded, dtype=np.int64),
        "vector_content": _stack([vectors[seq][0] for seq in embedded], dimension),
        "vector_index": _stack([vectors[seq][1] for seq in embedded], dimension),
    }
    head = {"format": FORMAT, "kind": kind, "memory": "strata", "embedder": embedder, "dimension": dimension}
    return canonical.pack(head | {"put": put, "drop": drop}, arrays)


def _stack(rows: list[Vector], dimension: int) -> Vector:
    return np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32)


def encode(node: Node) -> dict[str, Json]:
    """A node as a JSON object; tuples become lists, empty fields stay."""
    record: dict[str, Json] = {}
    for item in fields(Node):
        value = getattr(node, item.name)
        record[item.name] = list(value) if isinstance(value, tuple) else value
    record["bullets"] = [[b.kind, b.text, b.key, b.episode, b.source] for b in node.bullets]
    return record


def decode(record: Mapping[str, Json]) -> Node:
    """The node of `encode`. Raises KeyError, TypeError or ValueError on anything else."""
    names = {item.name for item in fields(Node)}
    if set(record) != names:
        raise ValueError(f"a node's fields are {sorted(record)}")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    values["bullets"] = tuple(
        Bullet(kind, text, key, episode, source) for kind, text, key, episode, source in record["bullets"]
    )
    node = Node(**values)
    if not isinstance(node.seq, int) or node.type not in ("atomic", "workflow", "meta"):
        raise ValueError(f"node {node.id!r} has seq {node.seq!r} and type {node.type!r}")
    return node


def read(blobs: Iterable[tuple[str, bytes]], embedder: str, dimension: int) -> Tables:
    """The tables after a snapshot and the deltas that follow it; `blobs` are (what it is, bytes) pairs.

    Raises CorruptStateError naming the blob that is damaged, of another format, or made with another embedder.
    """
    tables = Tables()
    for source, blob in blobs:
        extend(tables, source, blob, embedder, dimension)
    return tables


def extend(tables: Tables, source: str, blob: bytes, embedder: str, dimension: int) -> None:
    """Add one snapshot or delta to what came before it. Raises CorruptStateError as `read` does."""
    document, arrays = canonical.unpack(blob, source=source)
    _check_head(document, source, embedder, dimension)
    try:
        _apply(tables, document, arrays, dimension)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CorruptStateError(f"{source}: not the state of a STRATA graph ({error!r}).") from error


def _check_head(document: Json, source: str, embedder: str, dimension: int) -> None:
    if not isinstance(document, dict) or document.get("memory") != "strata":
        raise CorruptStateError(f"{source}: not the state of a STRATA graph.")
    if document.get("format") != FORMAT:
        raise CorruptStateError(
            f"{source}: written in format {document.get('format')}, this version reads format {FORMAT}. "
            "Read it with the version of this project that wrote it."
        )
    if (document.get("embedder"), document.get("dimension")) != (embedder, dimension):
        raise CorruptStateError(
            f"{source}: its embeddings come from {document.get('embedder')} with {document.get('dimension')} "
            f"dimensions, this run uses {embedder} with {dimension}. Choose the same embedder."
        )


def _apply(tables: Tables, document: Json, arrays: Mapping[str, np.ndarray[Any, Any]], dimension: int) -> None:
    put, drop = document["put"], document["drop"]
    for seq in drop["node"]:
        tables.node.pop(seq, None)
        tables.vector.pop(seq, None)
    for seq in drop["age"]:
        tables.age.pop(seq, None)
    tables.node.update({int(seq): decode(record) for seq, record in put["node"].items()})
    tables.age.update({int(seq): (float(value), int(at)) for seq, (value, at) in put["age"].items()})
    tables.value.update({str(name): int(value) for name, value in put["value"].items()})
    for group, (start, scores) in put["score"].items():
        known = tables.score.setdefault(group, [])
        if start != len(known):
            raise ValueError(f"scores of {group!r} start at {start}, {len(known)} are known; a delta is missing")
        known.extend(map(float, scores))
    for table in ("generalizes", "contrast", "merged"):
        edges: set[tuple[int, int]] = getattr(tables, table)
        edges.difference_update((int(a), int(b)) for a, b in drop[table])
        edges.update((int(a), int(b)) for a, b in put[table])
    content, index = arrays["vector_content"], arrays["vector_index"]
    if content.shape != index.shape or content.shape != (len(arrays["vector_seq"]), dimension):
        raise ValueError(f"embeddings have shapes {content.shape} and {index.shape}")
    for row, seq in enumerate(arrays["vector_seq"].tolist()):
        tables.vector[seq] = content[row].astype(np.float32), index[row].astype(np.float32)


def build(tables: Tables) -> Graph:
    """A graph from its tables. Raises CorruptStateError when edges or embeddings do not fit the nodes."""
    graph = Graph()
    for _, node in sorted(tables.node.items()):
        graph.put(node)
    graph.ages = dict(sorted(tables.age.items()))
    graph.scores = {group: list(scores) for group, scores in sorted(tables.score.items())}
    graph.values.update(tables.value)
    for workflow, meta in sorted(tables.generalizes):
        graph.link(workflow, meta)
    for a, b in sorted(tables.contrast):
        graph.add_contrast(a, b)
    graph.merged = dict(sorted(tables.merged))
    if set(tables.vector) != set(graph.nodes):
        raise CorruptStateError("The memory state lacks embeddings of some nodes, or has some too many.")
    clear_touched(graph)
    return graph
