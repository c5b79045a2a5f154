"""Section 6, matched mode: both collectors see one stream, delete equally many, and choose for themselves."""

from __future__ import annotations

import random

import pytest
from conftest import GRID, Builder

from strata.errors import CorruptStateError
from strata.graph.matched import record, replay

TAGS = ["op:heat", "op:cool", "op:clean", "obj:egg", "obj:tin"]


def run(seed, mode, episodes=60, cap=8):
    """A pass over random tasks and writes; its deltas, its tasks and its deletions."""
    rng = random.Random(seed)
    b = Builder(forgetting={"cap": cap, "mode": mode}, meta={"cross_group": 0.3})
    deltas, queries, deleted = [], [], []
    for episode in range(episodes):
        tags = sorted(rng.sample(TAGS, rng.randrange(3)), reverse=True)
        query = b.query(*tags, content=rng.choice(GRID), text=f"q{episode}")
        b.graph.retrieve(query)
        unit = b.atomic(episode=episode, content=rng.choice(GRID), index=rng.choice(GRID))
        if rng.random() < 0.7:
            b.workflow(*tags, episode=episode, content=rng.choice(GRID), index=rng.choice(GRID), calls=(unit,))
        events = b.graph.maintain("alfworld", episode)
        deleted += [{"episode": episode, **event} for event in events if event["kind"] in ("delete", "collect")]
        deltas.append(b.graph.changes())
        queries.append(query)
    return b, deltas, queries, deleted


def same(events):
    """Events without what the replay leaves out."""
    hidden = ("atomics", "metas", "contrasts_removed")
    return [{key: value for key, value in event.items() if key not in hidden} for event in events]


@pytest.mark.parametrize("mode", ["protected", "unprotected"])
@pytest.mark.parametrize("seed", range(3))
def test_replay_with_the_collector_of_the_run_repeats_its_deletions(seed, mode):
    b, deltas, queries, deleted = run(seed, mode)
    assert deleted
    stream = record(deltas, queries, "grid", 4)
    assert same(replay(stream, b.graph.settings, "alfworld", mode=mode)) == same(deleted)


def test_both_collectors_delete_equally_many_at_the_same_time_but_not_the_same():
    different = 0
    for seed in range(6):
        b, deltas, queries, _ = run(seed, "none")
        stream = record(deltas, queries, "grid", 4)
        two = [replay(stream, b.graph.settings, "alfworld", mode=mode) for mode in ("unprotected", "protected")]
        assert [event["episode"] for event in two[0]] == [event["episode"] for event in two[1]]
        assert [event.get("after") for event in two[0]] == [event.get("after") for event in two[1]]
        different += [event.get("id") for event in two[0]] != [event.get("id") for event in two[1]]
        assert sum(event.get("protections", 0) for event in two[0]) == 0
    assert different


def test_mode_none_deletes_nothing():
    b, deltas, queries, _ = run(0, "protected", episodes=30)
    assert replay(record(deltas, queries, "grid", 4), b.graph.settings, "alfworld", mode="none") == []


def test_stream_names_what_each_episode_wrote():
    b, deltas, queries, _ = run(1, "none", episodes=20)
    stream = record(deltas, queries, "grid", 4)
    written = {node.seq: entry.episode for entry in stream for node, _, _ in entry.written}
    assert written == {node.seq: node.created for node in b.graph.graph.of_type("workflow")}


def test_damaged_or_missing_delta_is_refused():
    _, deltas, queries, _ = run(1, "none", episodes=5)
    with pytest.raises(CorruptStateError, match="memory delta 2"):
        record([*deltas[:2], b"x", *deltas[3:]], queries, "grid", 4)
    with pytest.raises(ValueError, match="argument"):
        record(deltas[:3], queries, "grid", 4)
