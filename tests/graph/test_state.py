"""Section 9: deltas and snapshots restore the live state byte for byte; damage and strangers are refused."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from conftest import GRID, Builder, GridEmbedder, settings
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from strata import canonical
from strata.errors import CorruptStateError
from strata.graph import ExperienceGraph

TAGS = ["op:heat", "op:cool", "op:clean", "obj:egg", "obj:tin"]


def busy(seed, steps=25, cap=5, **more):
    """Random operations on a graph; yields it after each, with the delta."""
    rng = random.Random(seed)
    b = Builder(forgetting={"cap": cap, "hysteresis": 0.4}, **more)
    for episode in range(steps):
        tags = sorted(rng.sample(TAGS, rng.randrange(4)), reverse=True)
        views = {"content": rng.choice(GRID), "index": rng.choice(GRID)}
        b.graph.retrieve(b.query(*tags, content=rng.choice(GRID), text=f"query {episode % 5}"))
        units = [node.seq for node in b.graph.graph.of_type("atomic") if node.seq not in b.graph.graph.merged]
        kind = rng.choice(["workflow", "workflow", "workflow", "atomic", "merge", "refine", "bullet"])
        if kind == "workflow":
            draft = b.draft(*tags, calls=rng.sample(units, min(len(units), rng.randrange(3))), **views)
            b.graph.record(b.graph.judge_workflow(draft))
            b.graph.write_workflow(draft, episode)
        elif kind == "bullet" and (flows := b.graph.graph.of_type("workflow")):
            b.graph.write_bullet(
                rng.choice(["variant", "pitfall"]), rng.choice(flows).seq, "", f"x{rng.randrange(4)}", episode
            )
        elif kind == "merge" and len(units) > 1:
            b.graph.write_atomic("merge", b.draft(kind="skill", **views), rng.sample(units, 2), episode)
        elif kind == "refine" and units:
            b.graph.write_atomic("refine", b.draft(kind="skill", **views), [rng.choice(units)], episode)
        else:
            b.graph.write_atomic("create", b.draft(*tags, kind="skill", **views), [], episode)
        b.graph.maintain("alfworld", episode)
        b.graph.validate()
        yield b


def copy_of(b):
    return ExperienceGraph(b.embedder, b.graph.settings)


@profile(max_examples=25, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 24))
def test_snapshot_and_deltas_restore_the_live_state(seed, cut):
    snapshot, deltas = None, []
    for number, b in enumerate(busy(seed)):
        deltas.append(b.graph.changes())
        if number == cut:
            snapshot, after = b.graph.snapshot(), len(deltas)
    live = b.graph.snapshot()
    for start, rest in ((None, deltas), (snapshot, deltas[after:]), (live, [])):
        other = copy_of(b)
        other.restore(start, rest)
        other.validate()
        assert other.snapshot() == live
        assert other.derived() == b.graph.derived()


def test_restored_graph_goes_on_as_the_live_one():
    stream = busy(3, steps=30)
    for _ in range(15):
        b = next(stream)
    other = copy_of(b)
    other.restore(b.graph.snapshot(), [])
    query = b.query("op:heat", text="query 1")
    assert other.retrieve(query) == b.graph.retrieve(query)
    for episode in (20, 21, 22):
        draft = b.draft("op:heat", "obj:egg")
        assert other.judge_workflow(draft).event == b.graph.judge_workflow(draft).event
        assert other.write_workflow(draft, episode) == b.graph.write_workflow(draft, episode)
        assert other.maintain("alfworld", episode) == b.graph.maintain("alfworld", episode)
    assert other.changes() == b.graph.changes()


def test_equal_graphs_give_equal_bytes_and_nothing_changed_gives_an_empty_delta():
    (*_, one), (*_, two) = busy(5), busy(5)
    assert one.graph.snapshot() == two.graph.snapshot()
    document, arrays = canonical.unpack(one.graph.changes(), source="delta")
    assert not any(document["put"].values())
    assert not any(document["drop"].values())
    assert len(arrays["vector_seq"]) == 0


def test_delta_costs_what_changed_not_what_is_stored():
    sizes = []
    for count in (10, 200):
        b = Builder(contrast={"mode": "none"}, forgetting={"mode": "none"}, meta={"enabled": False})
        for _ in range(count):
            b.workflow("op:heat", content=(0, 1, 0, 0), index=(0, 1, 0, 0))
        b.graph.changes()
        b.graph.retrieve(b.query("op:cool"))
        b.workflow("op:cool")
        b.graph.maintain("alfworld", 1)
        sizes.append(len(b.graph.changes()))
    assert sizes[1] < sizes[0] * 1.05


def test_bullet_does_not_store_the_embeddings_again():
    b = Builder()
    flow = b.workflow("op:heat")
    b.graph.changes()
    b.graph.write_bullet("pitfall", flow, "", "hot", 1)
    _, arrays = canonical.unpack(b.graph.changes(), source="delta")
    assert len(arrays["vector_seq"]) == 0


def snapshot_with(change):
    """A sound snapshot, altered and packed again with a right checksum."""
    (*_, b) = busy(8)
    document, arrays = canonical.unpack(b.graph.snapshot(), source="x")
    change(document, arrays)
    return b, canonical.pack(document, arrays)


def first(document, kind):
    return next(record for record in document["put"]["node"].values() if record["type"] == kind)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, _: d.update(format=2), "format 2"),
        (lambda d, _: d.update(memory="other"), "not the state of a STRATA graph"),
        (lambda d, _: d.update(embedder="bigger"), "bigger"),
        (lambda d, _: d["put"].pop("node"), "not the state"),
        (lambda d, _: d["put"].update(node=[]), "not the state"),
        (lambda d, _: first(d, "workflow").pop("title"), "not the state"),
        (lambda d, _: first(d, "workflow").update(type="secret"), "not the state"),
        (lambda d, _: first(d, "workflow").update(calls=[999]), "inconsistent"),
        (lambda d, _: first(d, "workflow").update(tags=["verb:x"]), "inconsistent"),
        (lambda d, _: d["put"]["generalizes"].append([0, 1]), "inconsistent"),
        (lambda d, _: d["put"]["contrast"].append([0, 998]), "inconsistent"),
        (lambda d, _: d["put"]["age"].clear(), "inconsistent"),
        (lambda d, _: d["put"]["value"].update(next_seq=0), "inconsistent"),
        (lambda _, a: a.update(vector_content=a["vector_content"][:, :2]), "not the state"),
        (lambda _, a: a.update(vector_seq=a["vector_seq"][:-1], vector_content=a["vector_content"][:-1],
                               vector_index=a["vector_index"][:-1]), "embeddings"),
    ],
)  # fmt: skip
def test_state_that_does_not_fit_is_refused_and_leaves_the_graph_as_it_was(change, message):
    b, blob = snapshot_with(change)
    before = b.graph.snapshot()
    with pytest.raises(CorruptStateError, match=message):
        b.graph.restore(blob, [])
    assert b.graph.snapshot() == before


def test_flipped_byte_is_noticed_wherever_it_is():
    (*_, b) = busy(2, steps=8)
    blob = b.graph.snapshot()
    for at in range(0, len(blob), max(1, len(blob) // 60)):
        broken = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        with pytest.raises(CorruptStateError, match="memory snapshot"):
            b.graph.restore(broken, [])


def test_missing_delta_is_noticed():
    deltas = [b.graph.changes() for b in busy(4)]
    scored = [n for n, blob in enumerate(deltas) if canonical.unpack(blob, source="x")[0]["put"]["score"]]
    other = ExperienceGraph(GridEmbedder(), settings())
    with pytest.raises(CorruptStateError, match="memory delta"):
        other.restore(None, deltas[: scored[0]] + deltas[scored[0] + 1 :])


def test_restoring_nothing_gives_an_empty_graph():
    (*_, b) = busy(1, steps=5)
    empty = copy_of(b).snapshot()
    b.graph.restore(None, [])
    assert b.graph.snapshot() == empty


def test_state_is_json_and_float32_and_holds_no_object():
    (*_, b) = busy(6)
    document, arrays = canonical.unpack(b.graph.snapshot(), source="x")
    json.dumps(document)
    assert {name: array.dtype for name, array in arrays.items()} == {
        "vector_seq": np.int64, "vector_content": np.float32, "vector_index": np.float32
    }  # fmt: skip
