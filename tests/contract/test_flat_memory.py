"""Flat-Memory: what a record is, which records are shown, in which order and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baselines.flat_memory import FlatMemory, clip_trajectory
from strata.canonical import unpack
from strata.check.samples import sample_episode, sample_stream, sample_view
from strata.check.scripted import HOSTILE_TEXT, READABLE, ScriptedBackbone, text_reply
from strata.check.subject import Maker, play
from strata.embedding.minilm import MiniLM
from strata.embedding.wordllama import WordLlama
from strata.errors import UsageError
from strata.prompts import PromptLibrary
from strata.types import Observation, Turn

START = Observation("A room.")
VERBS = ["heat", "cool", "clean", "find", "move", "examine"]
THINGS = ["apple", "egg", "mug", "plate", "pen", "book", "lamp"]


def flat(**config):
    return Maker(FlatMemory, config)()


def filled(count, **config):
    memory = flat(**config)
    words = [f"{VERBS[n % 6]} the {THINGS[n % 7]} and put it on shelf {n % 5}" for n in range(count)]
    play(memory, [sample_episode(n, instruction=words[n]) for n in range(count)])
    return memory, words


@pytest.mark.parametrize("query", ["heat the mug", "put a pen on shelf 3", "unrelated words entirely"])
def test_nearest_records_are_shown_most_similar_first(query):
    memory, words = filled(30, k=5)
    shown = [int(name[1:]) for name in memory.retrieve(sample_view(99, query), START).item_ids]
    vectors = WordLlama().embed([query, *words]).astype(float)
    scores = [float(np.dot(vectors[0], vector)) for vector in vectors[1:]]
    assert len(shown) == 5
    assert [scores[at] for at in shown] == pytest.approx(sorted(scores, reverse=True)[:5], abs=1e-12)


def test_identical_text_ranks_first():
    memory, words = filled(20)
    for number in (3, 11, 19):
        assert memory.retrieve(sample_view(99, words[number]), START).item_ids[0] == f"r{number}"


def test_i9_equal_scores_are_ordered_by_age():
    memory = flat(k=40)
    play(memory, [sample_episode(n, instruction="heat the egg") for n in range(40)])
    for number in (1, 7, 40):
        copy = flat(k=number)
        copy.restore(memory.snapshot(), [])
        shown = copy.retrieve(sample_view(99, "cool the egg"), START).item_ids
        assert shown == tuple(f"r{n}" for n in range(number))


def test_i4_vector_of_every_record_is_that_of_its_instruction():
    memory, _ = filled(10, capacity=4)
    copy = flat(capacity=4)
    copy.restore(memory.snapshot(), [])
    play(copy, [sample_episode(20, instruction="a new task")])
    document, arrays = unpack(copy.snapshot(), source="test")
    instructions = [record["instruction"] for record in document["records"]]
    assert len(instructions) == 4
    assert arrays["vectors"].tobytes() == WordLlama().embed(instructions).tobytes()


def test_success_and_failure_are_both_kept_and_tagged():
    memory = flat()
    play(memory, [sample_episode(n, instruction="heat it", success=s) for n, s in enumerate([True, False, None])])
    text = memory.retrieve(sample_view(99, "heat it"), START).text
    assert [line.strip() for line in text.splitlines() if "Outcome" in line] == [
        "Outcome: success",
        "Outcome: failure",
        "Outcome: unknown",
    ]
    assert [line for line in text.splitlines() if line[:1].isdigit()] == [f"{n}. Task: heat it" for n in (1, 2, 3)]


def test_keep_success_records_nothing_of_a_failure_and_asks_nothing():
    backbone = ScriptedBackbone()
    memory = Maker(FlatMemory, {"keep": "success"}).build(backbone)
    _, _, reports = play(memory, sample_stream(4))
    assert [report.added for report in reports] == [("r0",), (), ("r1",), ()]
    assert len(backbone.calls) == 2


def test_oldest_records_go_beyond_the_capacity_and_ids_are_never_used_again():
    memory = flat(capacity=3)
    _, _, reports = play(memory, [sample_episode(n) for n in range(5)])
    assert [report.removed for report in reports] == [(), (), (), ("r0",), ("r1",)]
    assert [report.stored for report in reports] == [1, 2, 3, 3, 3]
    assert set(memory.retrieve(sample_view(99), START).item_ids) == {"r2", "r3", "r4"}


def test_without_capacity_nothing_is_forgotten_or_merged():
    memory = flat()
    play(memory, [sample_episode(n, instruction="the same") for n in range(60)])
    assert memory.retrieve(sample_view(99, "the same"), START).stored == 60


def test_reflection_call_holds_task_trajectory_and_outcome_at_temperature_zero():
    backbone = ScriptedBackbone()
    play(Maker(FlatMemory, {}).build(backbone), [sample_episode(0, success=False)])
    (call,) = backbone.calls
    assert "\nTask: put a hot apple in the fridge\n" in call.prompt
    assert "\nAction: take apple 2 from shelf 0\nObservation: You pick up apple 2.\n" in call.prompt
    assert "\nOutcome: failure\n" in call.prompt
    assert (call.purpose, call.sampling.temperature, call.sampling.max_tokens) == ("reflect", 0.0, 4096)


def test_reflection_is_shown_word_for_word():
    script = ['{"reason": "The fridge was shut.", "lesson": "Open the fridge before looking."}']
    memory = Maker(FlatMemory, {}).build(ScriptedBackbone(script))
    play(memory, [sample_episode(0, instruction="find the milk")])
    assert memory.retrieve(sample_view(9), START).text == (
        "Records of earlier tasks, the most similar first. They may differ from the task at hand.\n\n"
        "1. Task: find the milk\n   Outcome: success\n   Reflection: The fridge was shut.\n"
        "   Open the fridge before looking."
    )


def test_trajectory_mode_asks_no_model_and_shows_the_steps():
    backbone = ScriptedBackbone()
    memory = Maker(FlatMemory, {"mode": "trajectory"}).build(backbone)
    play(memory, [sample_episode(0)])
    assert backbone.calls == []
    assert "Action: take apple 3 from shelf 0" in memory.retrieve(sample_view(9), START).text


def test_unread_reflection_is_logged_and_the_trajectory_stands_in():
    memory = Maker(FlatMemory, {})(lambda _: text_reply("no json at all"))
    _, _, (report,) = play(memory, [sample_episode(0)])
    assert report.parse_failures == 1
    assert report.events[0]["reply"] == "no json at all"
    assert "Action: take apple 3 from shelf 0" in memory.retrieve(sample_view(9), START).text


def test_reflection_with_no_words_is_a_parse_failure():
    memory = Maker(FlatMemory, {}).build(ScriptedBackbone(['{"reason": " ", "lesson": ""}']))
    assert play(memory, [sample_episode(0)])[2][0].parse_failures == 1


def test_reflections_that_overflow_the_context_are_cut():
    memory = Maker(FlatMemory, {"reflection_tokens": 50})(READABLE["hostile words"])
    play(memory, sample_stream(3))
    text = memory.retrieve(sample_view(99), START).text
    assert len(HOSTILE_TEXT) > 9_000
    assert len(text) < 3 * (50 * 4 + 200)
    assert "characters left out" in text


def turns(count, observation="You see a shelf."):
    return tuple(Turn(f"thought {n}", f"go to shelf {n}", observation, 0.0) for n in range(1, count + 1))


def test_trajectory_is_cut_to_its_limit_with_head_and_tail_kept():
    for count in (1, 2, 3, 20, 51):
        for tokens in (60, 200, 2000):
            text = clip_trajectory(turns(count), observation_chars=500, tokens=tokens)
            assert len(text) <= tokens * 4 + 60
            assert text.startswith("Step 1\n")
            assert f"go to shelf {count}" in text
    assert "left out" in clip_trajectory(turns(51), observation_chars=500, tokens=200)
    assert "left out" not in clip_trajectory(turns(20), observation_chars=500, tokens=2000)


def test_observations_are_cut():
    text = clip_trajectory(turns(2, observation="x" * 5000), observation_chars=100, tokens=2000)
    assert text.count("x") == 200


def test_single_monstrous_step_is_cut_too():
    text = clip_trajectory(turns(1, observation="x" * 90_000), observation_chars=80_000, tokens=100)
    assert len(text) < 460


def test_episode_without_steps_is_recorded():
    memory = flat(mode="trajectory")
    play(memory, [replace(sample_episode(0), turns=())])
    assert "1. Task: put a hot apple in the fridge" in memory.retrieve(sample_view(9), START).text


@pytest.mark.parametrize("blob", ["snapshot", "delta"])
def test_mixed_dimensions_are_refused_on_load(blob):
    memory = flat()
    deltas, _, _ = play(memory, sample_stream(2))
    other = FlatMemory.build({}, backbone=ScriptedBackbone(), embedder=MiniLM(), rng=None, prompts=PromptLibrary())
    with pytest.raises(UsageError, match=r"wordllama.*minilm.*Use embedder=wordllama"):
        other.restore(*((memory.snapshot(), []) if blob == "snapshot" else (None, deltas)))


@pytest.mark.parametrize(
    "config",
    [{"k": 0}, {"capacity": 0}, {"mode": "both"}, {"keep": "failure"}, {"temperature": -1}, {"trajectory_tokens": 0}],
    ids=str,
)
def test_impossible_value_names_its_key(config):
    (key,) = config
    with pytest.raises(UsageError, match=rf"memory.*{key}"):
        flat(**config)
