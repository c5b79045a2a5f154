"""Section 10: each switch is configuration alone, and changes what it says and nothing else.

One pass over the same tasks and replies is made with and without a switch; whole kinds of events are then compared.
"""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest

from strata.canonical import digest
from strata.graph.memory import StrataMemory
from strata.prompts import PromptLibrary
from strata.types import Episode, MemoryContext, Observation, Reply, TaskView, Turn, Usage

START = Observation("A kitchen.")
WORDS = {"heat": "hot", "cool": "cool", "clean": "clean"}
OBJECTS = ["egg", "mug", "apple", "plate", "tomato", "potato", "cup", "bread"]


class WordEmbedder:
    """Unit vectors in 24 dimensions from the words of a text."""

    name, dimension = "words", 24

    def embed(self, texts):
        rows = np.zeros((len(texts), 24), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"[a-z]+", text.lower()):
                row[int(digest(word)[:4], 16) % 24] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


class Cook:
    """A language model that writes the task's own words into every field."""

    name = "cook"

    def complete(self, messages, *, sampling, purpose, repeat=0):
        del sampling, purpose, repeat
        text = messages[0].content
        task = re.search(r"^Task: (.*)$", text, re.MULTILINE)[1]
        fields = {
            "kinds": ["workflow"], "title": task, "when": task, "steps": ["take {object}", task], "tags": [],
            "indices": [], "lesson": f"mind {task}",
        }  # fmt: skip
        asked = re.findall(r"^- (\w+) \(", text, re.MULTILINE)
        return Reply(json.dumps({name: fields[name] for name in asked}), Usage(calls=1))


BASE = {
    "thresholds": {"g_low": 0.8, "g_high": 0.9, "fixed_low": 0.8, "fixed_high": 0.9},
    "meta": {"r_meta": 0.5, "intra_default": 0.6},
    "forgetting": {"cap": 8, "hysteresis": 0.3},
}


def merged(base, changes):
    out = dict(base)
    for key, value in changes.items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def play(episodes=60, **changes):
    """All events of a pass, and the memory at its end."""
    memory = StrataMemory.build(
        merged(BASE, changes), backbone=Cook(), embedder=WordEmbedder(),
        rng=lambda *key: random.Random(repr(key)), prompts=PromptLibrary(),
    )  # fmt: skip
    rng, events = random.Random(4), []
    for index in range(episodes):
        place = rng.choice(["shelf", "table", "drawer", "sofa"])
        task = f"put a {WORDS[rng.choice(list(WORDS))]} {rng.choice(OBJECTS)} in {place}."
        view = TaskView("alfworld", task, "g", str(index))
        context = memory.retrieve(view, START)
        turns = (Turn("", "look", "fine", 0.0),)
        report = memory.reflect(Episode(index, view, START, turns, rng.random() < 0.75, context or MemoryContext()))
        memory.graph.validate()
        events += [{"episode": index, **event} for event in (*context.events, *report.events)]
    return events, memory


@pytest.fixture(scope="module")
def full():
    return play()[0]


def of(events, kind, *fields):
    """Chosen fields of one kind of events. Ids lose their number, which counts nodes of every type."""
    chosen = [[event.get(field) for field in fields] for event in events if event["kind"] == kind]
    return json.loads(re.sub(r'-[0-9a-f]{6}"', '"', json.dumps(chosen)))


DECISION = ("workflow", "episode", "decision", "nearest", "score", "tau_low", "tau_high", "n_g")
SEEDS = ("retrieve", "episode", "seeds", "aged")
DELETED = ("delete", "episode", "id", "quality", "spared")
ROUND = ("round", "episode", "edges", "thresholds", "communities")
COMMUNITY = ("community", "episode", "members", "decision", "meta", "conductance")
CONTRAST = ("contrast", "episode", "change", "a", "b")
WRITES = (DECISION, CONTRAST, ("failure", "episode", "decision", "score"))


def test_the_pass_exercises_every_mechanism(full):
    for shape in (DECISION, DELETED, ROUND, COMMUNITY, CONTRAST):
        assert of(full, *shape)
    decisions = {event["decision"] for event in full if event["kind"] in ("workflow", "community", "failure", "bullet")}
    assert decisions >= {"create", "add_bullet", "noop", "update", "rejected", "none", "added"}
    assert any(event["spared"] for event in full if event["kind"] == "delete")
    assert any(event["meta"] for event in full if event["kind"] == "retrieve")
    assert any(event["warning"] for event in full if event["kind"] == "retrieve")


def test_same_configuration_gives_the_same_events(full):
    assert play()[0] == full


@pytest.mark.parametrize(
    ("changes", "same", "other"),
    [
        ({"contrast": {"mode": "none"}}, [DECISION, SEEDS, DELETED, ROUND, COMMUNITY], CONTRAST),
        ({"contrast": {"same_app": True}}, [DECISION, SEEDS, DELETED, ROUND, COMMUNITY], CONTRAST),
        ({"meta": {"enabled": False}}, [*WRITES, DELETED], COMMUNITY),
        ({"meta": {"novelty_gate": False}}, [*WRITES, DELETED, ROUND], COMMUNITY),
        ({"meta": {"distance": "cosine"}}, [*WRITES, DELETED, ROUND], COMMUNITY),
        ({"meta": {"n_min": 3}}, [*WRITES, DELETED, ROUND], COMMUNITY),
        ({"meta": {"conductance_max": 0.1}}, [*WRITES, DELETED, ROUND], COMMUNITY),
        ({"meta": {"resolution": 0.5}}, [*WRITES, DELETED], COMMUNITY),
        ({"meta": {"community": "leiden", "resolution": 0.8}}, [*WRITES, DELETED], COMMUNITY),
        ({"retrieval": {"beta_layer": 0.0}}, [*WRITES, DELETED, ROUND, COMMUNITY], SEEDS),
        ({"retrieval": {"top_k": 1}}, [*WRITES, DELETED, ROUND, COMMUNITY], SEEDS),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_switch_changes_what_it_says_and_nothing_else(full, changes, same, other):
    events, _ = play(**changes)
    for shape in same:
        assert of(events, *shape) == of(full, *shape), shape[0]
    assert of(events, *other) != of(full, *other)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"forgetting": {"mode": "none"}}, "delete"),
        ({"forgetting": {"mode": "unprotected"}}, "delete"),
        ({"forgetting": {"activation_weight": 0.0}}, "delete"),
        ({"forgetting": {"hysteresis": 0.5}}, "delete"),
        ({"meta": {"edge_threshold": "fixed"}}, "round"),
        ({"meta": {"p_edge": 0.9}}, "round"),
        ({"meta": {"k_edges": 1}}, "round"),
        ({"thresholds": {"mode": "quantile"}}, "workflow"),
        ({"thresholds": {"mode": "fixed"}}, "workflow"),
        ({"thresholds": {"mode": "global_quantile"}}, "workflow"),
        ({"ageing": {"alpha": 0.2}}, "retrieve"),
        ({"ageing": {"beta": 0.0}}, "retrieve"),
        ({"ageing": {"gamma": 0.0}}, "retrieve"),
        ({"similarity": {"weights": {"tag": 0}}}, "retrieve"),
        ({"similarity": {"lexical": "bm25"}}, "retrieve"),
        ({"similarity": {"content_view": "procedure"}}, "retrieve"),
        ({"similarity": {"query_views": "parsed"}}, "retrieve"),
        ({"retrieval": {"theta_min": 0.6}}, "retrieve"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else value,
)
def test_first_difference_that_a_switch_makes_is_in_its_own_decision(full, changes, kind):
    """What comes later may differ, because the memory then holds something else."""
    events, _ = play(episodes=30, **changes)
    first = next(
        (a if a["kind"] == kind else b)
        for a, b in zip(strip(full), strip(events), strict=False)
        if a != b
    )  # fmt: skip
    assert first["kind"] == kind


def strip(events):
    """Without the numbers that only say what the setting is."""
    for event in events:
        yield {key: value for key, value in event.items() if key not in ("theta_min", "cap")}


def test_noisy_tags_change_tags_alone_at_first(full):
    events, _ = play(episodes=5, tag_noise=0.5)
    ours, theirs = (next(event for event in run if event["kind"] == "retrieve") for run in (events, full))
    assert ours["tags"] != theirs["tags"] or len(events) != len(full)
    assert {tag.partition(":")[0] for tag in ours["tags"]} == {tag.partition(":")[0] for tag in theirs["tags"]}


def test_uncollected_memory_keeps_every_workflow():
    _, memory = play(forgetting={"mode": "none"})
    assert memory.graph.graph.count("workflow") > 8
