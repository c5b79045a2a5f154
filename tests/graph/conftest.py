"""Doubles for the graph's tests: an embedder whose sums are exact, and graphs built by hand."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from strata.canonical import digest
from strata.graph import Draft, ExperienceGraph, Settings
from strata.settings import read_settings

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import the oracle beside them

GRID = [
    *np.eye(4, dtype=np.float32),
    *(np.array(signs, dtype=np.float32) / 2 for signs in itertools.product((1, 1, -1), repeat=4)),
]
"""Vectors of length 1 with entries 0, 1, -1/2 and 1/2: their dot products are multiples of 1/4, without rounding."""


class GridEmbedder:
    """Vectors from a table, or else chosen from `GRID` by the text's digest; nothing for an empty text."""

    name = "grid"

    def __init__(self, table: Mapping[str, Sequence[float]] | None = None, dimension: int = 4) -> None:
        self.dimension = dimension
        self.table = {text: np.array(vector, dtype=np.float32) for text, vector in (table or {}).items()}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> np.ndarray:
        if text in self.table:
            return self.table[text]
        if not text:
            return np.zeros(self.dimension, dtype=np.float32)
        return GRID[int(digest(text)[:8], 16) % len(GRID)]


def settings(**groups) -> Settings:
    return read_settings(Settings, groups, where="memory")


class Builder:
    """Makes graphs with chosen embeddings: a node's content is its step, its index view is its title."""

    def __init__(self, **groups) -> None:
        self.embedder = GridEmbedder()
        self.graph = ExperienceGraph(self.embedder, settings(**groups))
        self.count = 0

    def view(self, content=(1, 0, 0, 0), index=(1, 0, 0, 0)) -> tuple[str, str]:
        """A step and a title with these embeddings, in words of their own."""
        self.count += 1
        step, title = f"w{self.count}", f"t{self.count}"
        self.embedder.table[f"1. {step}"] = np.array(content, dtype=np.float32)
        self.embedder.table[step] = np.array(content, dtype=np.float32)
        self.embedder.table[title] = np.array(index, dtype=np.float32)
        return step, title

    def draft(self, *tags, content=(1, 0, 0, 0), index=(1, 0, 0, 0), calls=(), kind="") -> Draft:
        step, title = self.view(content, index)
        return Draft(title=title, when="", steps=(step,), tags=tags, calls=tuple(calls), kind=kind)

    def workflow(self, *tags, episode=0, **views) -> int:
        draft = self.draft(*tags, **views)
        return self.seq(self.graph.write_workflow(draft, episode)[0]["id"])

    def atomic(self, *tags, episode=0, kind="skill", **views) -> int:
        event, seq = self.graph.write_atomic("create", self.draft(*tags, kind=kind, **views), [], episode)
        assert event["decision"] == "create"
        return seq

    def meta(self, *children, tags=(), content=(1, 0, 0, 0), index=(1, 0, 0, 0), episode=0) -> int:
        step, title = self.view(content, index)
        data = self.graph.graph
        node = data.add("meta", title=title, when="", steps=(step,), tags=tags, episode=episode)
        for child in children:
            data.link(child, node.seq)
        data.amend(node.seq, episode, absorbed=tuple(children))
        self.graph._refresh(node.seq)
        return node.seq

    def query(self, *tags, content=(1, 0, 0, 0), text="query words"):
        self.embedder.table[text] = np.array(content, dtype=np.float32)
        self.graph._tag_text = lambda *_: tags
        return self.graph.parse(text)

    def seq(self, node_id: str) -> int:
        return self.graph.graph.by_id[node_id]

    def age(self, seq: int) -> float:
        from strata.graph.ageing import age

        return age(self.graph.graph, seq, self.graph.settings.ageing)


@pytest.fixture
def build():
    """Makes a `Builder`; keyword arguments are groups of settings."""
    return Builder
