"""Matched mode: a recorded stream replayed through either collector, against the oracle doing the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle.defaults import settings
from oracle.driver import Both
from oracle.forgetting import collect
from oracle.retrieval import age, retrieve
from oracle.state import live, new_state
from oracle.streams import World

from strata.graph.matched import record, replay

EPISODES = 60


@pytest.fixture(scope="module")
def passes():
    return [recorded(seed) for seed in range(10)]


def recorded(seed):
    """A pass of episodes: both graphs, the tasks, and the workflows that each episode wrote as the oracle saw them."""
    world = World(seed)
    both = Both(world)
    queries, written = [], []
    with both.folder:
        for number in range(EPISODES):
            before = set(both.state["nodes"])
            both._episode(None)
            new = [seq for seq in sorted(both.state["nodes"]) if seq not in before]
            written.append([both.state["nodes"][seq] for seq in new if both.state["nodes"][seq]["type"] == "workflow"])
            plan = world.plan(number)
            both.answers.plan(tag=[{"tags": plan["query"]["tags"]}])
            queries.append(both.memory.graph.parse(plan["goal"], "webarena", "none"))
    return both, queries, written


def oracle_replay(world, written, mode):
    """(episode, victim, spared) of every deletion."""
    rules = settings(world.changes)
    rules["forgetting"]["mode"] = mode
    state = new_state(rules)
    deleted = []
    for episode, nodes in enumerate(written):
        age(state, retrieve(state, world.plan(episode)["query"]))
        for node in nodes:
            state["nodes"][node["seq"]] = {**node, "age": Fraction(0)}
            state["calls"][node["seq"]] = []
        for item in collect(state, world.changes["forgetting"]["cap"]):
            deleted.append((episode, item["id"], item["spared"]))
    return deleted, len(live(state, "workflow"))


@pytest.mark.parametrize("mode", ["none", "unprotected", "protected"])
def test_replay_deletes_what_the_oracle_deletes(passes, mode):
    deletions = spared = 0
    for both, queries, written in passes:
        stream = record(both.deltas, queries, "grid", both.world.embedder.dimension)
        events = replay(stream, both.memory.graph.settings, "webarena", mode=mode)
        number = {node.id: node.seq for entry in stream for node, _, _ in entry.written}
        got = [
            (event["episode"], number[event["id"]], [number[name] for name in event["spared"]])
            for event in events
            if event["kind"] == "delete"
        ]
        want, left = oracle_replay(both.world, written, mode)
        assert got == want
        ends = [event["after"] for event in events if event["kind"] == "collect"]
        assert all(end <= both.world.changes["forgetting"]["cap"] for end in ends)
        assert mode == "none" or left <= both.world.changes["forgetting"]["cap"]
        deletions, spared = deletions + len(got), spared + sum(len(item[2]) for item in got)
    assert (deletions > 20) == (mode != "none")
    assert (spared > 0) == (mode == "protected")
