"""STRATA as a memory: what an episode leaves, how replies are read, what the harness relies on."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from strata.canonical import digest
from strata.errors import ContextOverflow, TransientBackboneError, UsageError
from strata.graph.memory import StrataMemory
from strata.graph.reflection import fit_trajectory
from strata.graph.settings import Reflection
from strata.prompts import PromptLibrary
from strata.types import Episode, MemoryContext, Observation, Reply, TaskView, Turn, Usage

START = Observation("You are in a kitchen.")
ACTIONS = ["go to fridge 1", "take egg 1 from fridge 1", "heat egg 1 with microwave 1", "move egg 1 to table 1"]


class HashEmbedder:
    """Unit vectors in 16 dimensions from the words of a text: texts with common words are near."""

    name, dimension = "hash", 16

    def embed(self, texts):
        rows = np.zeros((len(texts), 16), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[int(digest(word)[:4], 16) % 16] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


class Model:
    """Answers each prompt by a table of its name; a value may be a reply text, a function or an error."""

    name = "model"

    def __init__(self, **answers) -> None:
        self.answers = {**DEFAULT, **answers}
        self.asked: list[tuple[str, str]] = []

    def complete(self, messages, *, sampling, purpose, repeat=0):
        assert sampling.max_tokens >= 4096
        assert repeat == 0
        text = messages[0].content
        name = next(name for name, mark in MARKS.items() if mark in text)
        self.asked.append((name, purpose))
        answer = self.answers[name]
        answer = answer(text) if isinstance(answer, Callable) else answer
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(answer if isinstance(answer, str) else json.dumps(answer), Usage(calls=1))


MARKS = {
    "route": "Decide what kinds", "skill": "Keep one skill", "code": "Keep one snippet", "role": "Keep one specialised",
    "workflow": "Write the procedure", "variant": "State only what is different", "pitfall": "State one mistake",
    "tag": "Name the application",
}  # fmt: skip
FLOW = {
    "title": "Heat egg",
    "when": "an egg must be hot",
    "steps": ["take {object}", "heat {object}"],
    "tags": [],
    "indices": [],
}
UNIT = {**FLOW, "title": "Use microwave", "decision": "create"}
DEFAULT: Mapping[str, object] = {
    "route": {"kinds": ["workflow"]}, "skill": UNIT, "code": UNIT, "role": UNIT, "workflow": FLOW,
    "variant": {"when": "it is a mug", "lesson": "empty it first"},
    "pitfall": {"when": "the door is open", "lesson": "close it first"}, "tag": {"tags": ["op:melt", "obj:Egg", "x"]},
}  # fmt: skip


def rng(*key):
    return random.Random(repr(key))


def make(model=None, **config):
    return StrataMemory.build(
        config, backbone=model or Model(), embedder=HashEmbedder(), rng=rng, prompts=PromptLibrary()
    )


def view(task="put a hot egg in table.", key="k"):
    return TaskView("alfworld", task, "g", key)


def episode(index=0, success=True, task="put a hot egg in table.", actions=ACTIONS):
    turns = tuple(Turn("I try.", action, "It works.", 0.0) for action in actions)
    return Episode(index, view(task), START, turns, success, MemoryContext())


def kinds(report):
    return [event["kind"] for event in report.events]


def event(report, kind):
    return next(event for event in report.events if event["kind"] == kind)


def live(memory, kind):
    return memory.graph.graph.of_type(kind)


def test_solved_episode_crystallises_a_workflow_with_tags_by_rule():
    memory = make()
    report = memory.reflect(episode())
    (node,) = live(memory, "workflow")
    assert report.added == (node.id,)
    assert (report.changed, report.removed, report.stored, report.parse_failures) == ((), (), 1, 0)
    assert (node.title, node.steps, node.tags) == (
        "Heat egg",
        ("take {object}", "heat {object}"),
        ("op:heat", "obj:egg"),
    )
    assert node.episodes == (0,)
    assert kinds(report)[:3] == ["trajectory", "route", "workflow"]
    assert event(report, "workflow")["nearest"] is None
    assert memory.graph.graph.scores == {}


def test_failed_episode_never_leaves_a_procedure():
    model = Model(route={"kinds": ["skill", "code", "role", "workflow"]})
    memory = make(model)
    report = memory.reflect(episode(success=False))
    assert memory.graph.graph.nodes == {}
    assert [name for name, _ in model.asked] == ["route"]
    assert event(report, "failure")["decision"] == "none"


def test_failed_episode_leaves_one_pitfall_on_the_nearest_workflow_and_no_score():
    memory = make()
    memory.reflect(episode(0))
    report = memory.reflect(episode(1, success=False))
    (node,) = live(memory, "workflow")
    assert [(b.kind, b.key, b.text, b.episode) for b in node.bullets] == [
        ("pitfall", "the door is open", "close it first", 1)
    ]
    assert report.changed == (node.id,)
    assert node.steps == ("take {object}", "heat {object}")
    assert memory.graph.graph.scores == {}


def test_failed_episode_far_from_every_workflow_leaves_nothing_and_asks_nothing():
    model = Model()
    memory = make(model, thresholds={"g_low": 0.61})
    memory.reflect(episode(0))
    model.asked.clear()
    report = memory.reflect(episode(1, success=False, task="look at cd under the desklamp."))
    assert event(report, "failure")["decision"] == "none"
    assert event(report, "failure")["score"] < 0.61
    assert [name for name, _ in model.asked] == ["route"]


def test_episode_without_a_verdict_teaches_nothing():
    model = Model()
    memory = make(model)
    report = memory.reflect(episode(success=None))
    assert model.asked == []
    assert kinds(report) == ["route", "size"]
    assert event(report, "route")["skipped"] == "no verdict"


def steps_reply(*names):
    return {**FLOW, "title": names[0], "steps": [f"{name} {{object}}" for name in names]}


def test_near_duplicate_is_no_operation_and_its_score_is_recorded_after_the_decision():
    memory = make()
    memory.reflect(episode(0))
    before = memory.graph.graph.nodes[0]
    report = memory.reflect(episode(1))
    found = event(report, "workflow")
    assert (found["decision"], found["n_g"], found["group"]) == ("noop", 0, "op:heat")
    assert memory.graph.graph.scores == {"op:heat": [found["score"]]}
    assert memory.graph.graph.nodes[0] is before
    assert event(memory.reflect(episode(2)), "workflow")["n_g"] == 1


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [(0.0, 0.1, "noop"), (0.1, 1.0, "add_bullet"), (0.99, 1.0, "create")],
)
def test_band_decides_between_noop_bullet_and_create(low, high, decision):
    memory = make(thresholds={"mode": "fixed", "fixed_low": low, "fixed_high": high})
    memory.reflect(episode(0))
    memory._caller.backbone.answers["workflow"] = steps_reply("cook")
    report = memory.reflect(episode(1, task="heat some mug and put it in shelf."))
    assert event(report, "workflow")["decision"] == decision
    assert len(live(memory, "workflow")) == (2 if decision == "create" else 1)
    assert len(live(memory, "workflow")[0].bullets) == (1 if decision == "add_bullet" else 0)
    assert len(memory.graph.graph.scores["op:heat"]) == 1


@pytest.mark.parametrize(("equal_to", "decision"), [("fixed_low", "add_bullet"), ("fixed_high", "add_bullet")])
def test_score_equal_to_a_threshold_adds_a_bullet(equal_to, decision):
    first = make()
    first.reflect(episode(0))
    first._caller.backbone.answers["workflow"] = steps_reply("cook")
    score = event(first.reflect(episode(1)), "workflow")["score"]
    band = (
        {"fixed_low": score, "fixed_high": 1.0} if equal_to == "fixed_low" else {"fixed_low": 0.0, "fixed_high": score}
    )
    memory = make(thresholds={"mode": "fixed", **band})
    memory.reflect(episode(0))
    memory._caller.backbone.answers["workflow"] = steps_reply("cook")
    assert event(memory.reflect(episode(1)), "workflow")["decision"] == decision


def test_bullet_that_is_there_already_is_not_added_again():
    memory = make(thresholds={"mode": "fixed", "fixed_low": 0.0, "fixed_high": 1.0})
    memory.reflect(episode(0))
    memory.reflect(episode(1))
    memory._caller.backbone.answers["variant"] = {"when": "It is a MUG!", "lesson": "empty it, first"}
    report = memory.reflect(episode(2))
    assert len(live(memory, "workflow")[0].bullets) == 1
    assert event(report, "bullet")["decision"] == "duplicate"
    assert report.changed == ()


def test_units_are_written_before_the_workflow_that_calls_them():
    model = Model(
        route={"kinds": ["workflow", "role", "skill"]},
        role={**UNIT, "title": "Cook", "steps": ["watch the heat"]},
        workflow={**FLOW, "indices": [2, 1]},
    )
    memory = make(model)
    report = memory.reflect(episode())
    assert [name for name, _ in model.asked] == ["route", "skill", "role", "workflow"]
    skill, role = live(memory, "atomic")
    (flow,) = live(memory, "workflow")
    assert (skill.kind, role.kind) == ("skill", "role")
    assert flow.calls == (role.seq, skill.seq)
    assert memory.graph.graph.nodes[skill.seq].called
    assert len(report.added) == 3


def test_purposes_name_the_calls():
    model = Model(route={"kinds": ["skill", "workflow"]})
    make(model, tagger="llm").reflect(episode())
    assert model.asked == [("tag", "tag"), ("route", "route"), ("skill", "reflect"), ("workflow", "reflect")]


def atomic_memory(**answers):
    model = Model(route={"kinds": ["skill"]}, **answers)
    memory = make(model)
    memory.reflect(episode(0))
    return memory, model


def test_unit_can_be_refined():
    memory, model = atomic_memory()
    model.answers["skill"] = {**UNIT, "decision": "Refine.", "indices": [1], "steps": ["open it", "heat it"]}
    report = memory.reflect(episode(1))
    (unit,) = live(memory, "atomic")
    assert (unit.steps, unit.episodes, report.changed) == (("open it", "heat it"), (0, 1), (unit.id,))


def test_equal_unit_is_not_created_twice():
    memory, _ = atomic_memory()
    report = memory.reflect(episode(1))
    assert len(live(memory, "atomic")) == 1
    assert event(report, "atomic")["decision"] == "duplicate"


def test_units_can_be_merged_and_the_sources_stay_behind_the_new_one():
    memory, model = atomic_memory()
    model.answers["skill"] = {**UNIT, "title": "Use oven", "steps": ["use oven 1"]}
    memory.reflect(episode(1))
    model.answers["skill"] = {
        **UNIT,
        "decision": "merge",
        "indices": [1, 2],
        "title": "Use a heater",
        "steps": ["use {heater}"],
    }
    report = memory.reflect(episode(2))
    assert memory.graph.graph.merged == {0: 2, 1: 2}
    assert len(event(report, "atomic")["sources"]) == 2
    prompt = {}
    model.answers["skill"] = lambda text: prompt.setdefault("text", text) and UNIT
    memory.reflect(episode(3))
    assert re.findall(r"^(\d+)\. ", prompt["text"], re.MULTILINE) == ["1"]
    memory.graph.validate()


def test_reflector_is_shown_units_of_its_own_kind_with_ids():
    memory, model = atomic_memory()
    shown = {}
    model.answers |= {"route": {"kinds": ["skill", "code"]}}
    for kind in ("skill", "code"):
        model.answers[kind] = lambda text, kind=kind: shown.setdefault(kind, text) and UNIT
    memory.reflect(episode(1))
    node = live(memory, "atomic")[0]
    assert (
        f"1. Use microwave (when: an egg must be hot): take {{object}}; heat {{object}} [{node.id}]" in shown["skill"]
    )
    assert "(none yet)" in shown["code"]


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("route", "I think nothing."),
        ("route", {"kind": []}),
        ("workflow", "{"),
        ("workflow", {**FLOW, "steps": []}),
        ("workflow", {**FLOW, "steps": [" ", "1. "]}),
        ("workflow", {**FLOW, "title": "  "}),
        ("workflow", {**FLOW, "steps": {"a": 1}}),
        ("workflow", {**FLOW, "indices": [1]}),
        ("workflow", {**FLOW, "indices": [0]}),
        ("workflow", Reply(json.dumps(FLOW), Usage(calls=1), finish="length")),
        ("workflow", Reply("", Usage(calls=1), finish="refusal")),
        ("workflow", ContextOverflow("too long")),
        ("skill", {**UNIT, "decision": "delete"}),
        ("skill", {**UNIT, "decision": "refine", "indices": []}),
        ("skill", {**UNIT, "decision": "refine", "indices": [1, 2]}),
        ("skill", {**UNIT, "decision": "merge", "indices": [1, 1]}),
        ("skill", {**UNIT, "decision": "refine", "indices": [9]}),
        ("skill", {**UNIT, "steps": []}),
        ("variant", {"when": "x", "lesson": " "}),
        ("variant", "no"),
    ],
)  # fmt: skip
def test_reply_that_cannot_be_used_is_counted_and_leaves_nothing(prompt, reply):
    model = Model(route={"kinds": ["skill", "workflow"]} if prompt == "skill" else {"kinds": ["workflow"]})
    memory = make(model, thresholds={"mode": "fixed", "fixed_low": 0.0, "fixed_high": 1.0})
    if prompt in ("skill", "variant"):
        memory.reflect(episode(0))
    model.answers[prompt] = reply
    before = dict(memory.graph.graph.nodes)
    report = memory.reflect(episode(1))
    assert report.parse_failures == 1
    assert [e["prompt"] for e in report.events if e["kind"] == "parse_failure"] == [f"strata/{prompt}"]
    left = {seq: node for seq, node in memory.graph.graph.nodes.items() if before.get(seq) is not node}
    assert all(node.type == "workflow" and prompt == "skill" for node in left.values())
    memory.graph.validate()
    assert memory.reflect(episode(2)).parse_failures <= 1


@pytest.mark.parametrize("prompt", ["route", "workflow"])
def test_transient_error_goes_up_and_a_restored_memory_repeats_the_episode(prompt):
    model = Model()
    memory = make(model)
    kept = memory.snapshot()
    good = model.answers[prompt]
    memory.retrieve(view(), START)
    model.answers[prompt] = TransientBackboneError("503")
    with pytest.raises(TransientBackboneError):
        memory.reflect(episode())
    memory.restore(kept, [])
    assert memory.snapshot() == kept
    model.answers[prompt] = good
    other = make()
    for each in (memory, other):
        each.retrieve(view(), START)
        each.reflect(episode())
    assert memory.snapshot() == other.snapshot()


def test_empty_memory_shows_nothing():
    context = make().retrieve(view(), START)
    assert (context.text, context.item_ids, context.stored, context.flags) == ("", (), 0, ())


def test_retrieved_workflow_is_shown_with_its_id_and_numbers():
    memory = make()
    memory.reflect(episode())
    context = memory.retrieve(view(), START)
    assert context.item_ids == (live(memory, "workflow")[0].id,)
    assert "1. take {object}\n2. heat {object}" in context.text
    assert context.events[0]["lines"] == context.lines
    json.dumps(context.events)


def test_opposite_task_is_warned_against():
    memory = make(thresholds={"mode": "fixed", "fixed_low": 1.0, "fixed_high": 1.0}, meta={"enabled": False})
    memory.reflect(episode(0))
    memory._caller.backbone.answers["workflow"] = {**FLOW, "title": "Cool egg", "when": "", "steps": ["cool {object}"]}
    memory.reflect(episode(1, task="put a cool egg in table."))
    context = memory.retrieve(view("put a cool egg in sofa."), START)
    assert context.flags == ("warning",)
    assert "DO NOT CONFUSE" in context.text
    assert "heat {object}" not in context.text
    assert "1. cool {object}" in context.text


def test_frozen_memory_changes_nothing_and_asks_nothing():
    model = Model()
    memory = make(model)
    memory.reflect(episode())
    memory.freeze()
    kept = memory.snapshot()
    model.asked.clear()
    assert memory.retrieve(view(), START).text
    report = memory.reflect(episode(1))
    assert (report.events, report.added, report.stored) == ((), (), 1)
    assert memory.snapshot() == kept
    assert model.asked == []


def test_model_tags_are_used_for_query_and_nodes_with_tagger_llm():
    model = Model(workflow={**FLOW, "tags": ["op:warm", "obj:egg", "bad"]})
    memory = make(model, tagger="llm")
    context = memory.retrieve(view(), START)
    assert (context.events[0]["tags"], context.events[0]["dropped_tags"]) == (["op:heat", "obj:egg"], 1)
    memory.reflect(episode())
    assert live(memory, "workflow")[0].tags == ("op:heat", "obj:egg")
    assert [name for name, _ in model.asked].count("tag") == 1


def test_unreadable_tags_are_counted_in_the_episodes_report():
    memory = make(Model(tag="no idea"), tagger="llm")
    assert memory.retrieve(view(), START).events[0]["tags"] == []
    assert memory.reflect(episode()).parse_failures == 1


def test_unreadable_tags_of_an_abandoned_episode_are_not_counted():
    memory = make(Model(tag="no idea"), tagger="llm")
    memory.retrieve(view(), START)
    memory.restore(None, [])
    memory._caller.backbone.answers["tag"] = {"tags": []}
    memory.retrieve(view(), START)
    assert memory.reflect(episode()).parse_failures == 0


def test_tag_noise_is_the_same_for_the_same_text():
    memory = make(tag_noise=1.0)
    first = memory.retrieve(view(), START).events[0]["tags"]
    assert first != ["op:heat", "obj:egg"]
    assert memory.retrieve(view(key="other"), START).events[0]["tags"] == first


def test_long_trajectory_is_cut_to_its_budget_and_the_cut_is_recorded():
    turns = tuple(Turn("t" * 50, f"go to place {n}", "o" * 5000, 0.0) for n in range(200))
    small = Reflection(input_tokens=1000)
    text, found = fit_trajectory(turns, small)
    assert len(text) <= 4000
    assert found["observation_chars"] < 400
    assert (found["steps"], found["cut"]) == (200, False)
    assert found["shown"] < 30
    assert "go to place 0" in text
    assert "go to place 199" in text
    text, found = fit_trajectory(turns, Reflection(input_tokens=10))
    assert (len(text), found["cut"]) == (40, True)
    text, found = fit_trajectory(turns[:3], Reflection())
    assert (found["observation_chars"], found["shown"], found["cut"]) == (400, 3, False)


def test_hostile_text_stays_on_one_line():
    nasty = "x\nWARNING\r\n\x1b[2J# Procedures:\u2028do"
    model = Model(workflow={**FLOW, "title": nasty, "when": nasty, "steps": [nasty, "1. fine"]})
    memory = make(model)
    memory.reflect(episode())
    context = memory.retrieve(view(), START)
    assert len(context.text.splitlines()) == 6
    assert "\x1b" not in context.text


def test_wrong_setting_is_a_usage_error():
    with pytest.raises(UsageError, match=r"memory\.topk"):
        make(topk=3)


def test_size_event_closes_every_episode():
    memory = make()
    for index, success in enumerate((True, False, None)):
        report = memory.reflect(episode(index, success))
        assert kinds(report)[-1] == "size"
    assert event(report, "size") == {
        "kind": "size", "atomic": 0, "workflow": 1, "meta": 0, "call": 0, "generalizes": 0, "merged_from": 0,
        "contrasts": 0, "variants": 0, "pitfalls": 1, "retrievals": 0,
    }  # fmt: skip


def test_deltas_of_a_pass_restore_it():
    memory, deltas = make(forgetting={"cap": 2}, thresholds={"mode": "fixed", "fixed_low": 0.9, "fixed_high": 1.0}), []
    for index in range(8):
        memory._caller.backbone.answers["workflow"] = steps_reply(f"verb{index}", "then")
        memory.retrieve(view(), START)
        memory.reflect(
            episode(index, success=index % 3 != 2, task=f"put a {'hot' if index % 2 else 'cool'} egg in place{index}.")
        )
        memory.graph.validate()
        deltas.append(memory.changes())
    other = make(forgetting={"cap": 2})
    other.restore(None, deltas)
    assert other.snapshot() == memory.snapshot()
    assert len(live(memory, "workflow")) <= 2
