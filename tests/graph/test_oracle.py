"""The graph against an independent oracle, decision by decision, on random streams of operations.

`oracle/` holds a second implementation, written from the specification alone, and the driver that feeds both. Of a
failure the message names the number that differs; `World(seed)` with the number of operations replays it.

STRATA_ORACLE_OPERATIONS sets how many operations a run makes (10,000), STRATA_ORACLE_SEED where their seeds start.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.driver import Both
from oracle.streams import World

OPERATIONS = int(os.environ.get("STRATA_ORACLE_OPERATIONS", "10000"))
FIRST_SEED = int(os.environ.get("STRATA_ORACLE_SEED", "0"))
DRIVERS = {"comparison.py", "driver.py", "streams.py"}

EXERCISED = [
    "atomic create", "atomic duplicate", "atomic merge", "atomic refine",
    "community of all workflows", "community zero_centroid", "community create", "community update",
    "community few_unlinked", "community loose", "community small", "churn",
    "conductance at the limit", "distance at the limit", "contrast edge", "deletion",
    "deleted with atomics", "deleted with contrasts_removed", "deleted with metas",
    "edit by hand", "empty group", "equal bullet", "export and import", "failure add_bullet", "failure none",
    "first workflow", "frozen episode", "group without tags", "isolated workflow", "killed after reflection",
    "killed before reflection", "look at W", "losers", "more cleared than seeds", "negative cosine",
    "neighbour shown as procedure", "nothing shown", "protection", "query without tags", "resume", "score at the gate",
    "score equals a threshold", "seed shown as warning", "shown atomic", "shown meta", "shown procedure",
    "shown unclear", "shown warning", "single workflow", "snapshot", "tied seeds", "winner deleted",
    "workflow add_bullet", "workflow create", "workflow noop",
]  # fmt: skip


def test_every_decision_is_the_oracles():
    seen: Counter[str] = Counter()
    operations, seed = 0, FIRST_SEED
    while operations < OPERATIONS:
        world = World(seed)
        both = Both(world)
        try:
            both.run(world.length)
        except Exception as error:
            error.add_note(f"World({seed}), operation {both.operations}: {world.changes}")
            raise
        operations, seed = operations + both.operations, seed + 1
        seen.update(both.compare.seen)
    never = [what for what in EXERCISED if not seen[what]]
    assert never == [], f"{operations} operations never led to these"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_any_short_stream_agrees(seed, operations):
    Both(World(seed)).run(operations)


def test_oracle_shares_no_code_with_the_graph():
    modules = [path for path in Path(next(iter(oracle.__path__))).glob("*.py") if path.name not in DRIVERS]
    assert len(modules) >= 9
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.partition(".")[0] not in {"strata", "numpy", "igraph", "scipy"}, f"{path.name}: {name}"
