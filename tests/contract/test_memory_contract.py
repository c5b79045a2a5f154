"""What every memory must do, whatever its method. The names I1 to I10 are those of the baselines' specification."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata.canonical import pack
from strata.check.memory import MEMORY_CHECKS
from strata.check.report import Note
from strata.check.samples import sample_episode, sample_stream, sample_view
from strata.check.scripted import READABLE, UNREADABLE, ScriptedBackbone
from strata.check.subject import play
from strata.errors import CorruptStateError, UsageError
from strata.prompts import PromptLibrary, build_messages
from strata.types import ActionGrammar, EnvironmentGuide, MemoryContext, Observation, Turn

START = Observation("You are in a room.", instruction="put a hot apple in the fridge")


@pytest.mark.parametrize("check", MEMORY_CHECKS, ids=lambda check: check.__name__)
def test_conformance_check_finds_no_fault(make, check):
    try:
        check(make)
    except Note:
        assert check.__name__ in ("starts_empty", "reports_what_it_does")


def test_i1_task_is_never_shown_its_own_record(candidate, make):
    if not candidate.per_task:
        pytest.skip("this memory does not keep one record a task")
    memory = make()
    play(memory, [sample_episode(0, task=7), sample_episode(1, task=8), sample_episode(2, task=7)])
    context = memory.retrieve(sample_view(7), START)
    assert context.item_ids == ("r1",)
    assert "shelf 1" in context.text or "lesson" in context.text
    assert memory.retrieve(sample_view(8), START).item_ids in (("r0", "r2"), ("r2", "r0"))


def test_i1_only_record_is_hidden_from_its_own_task(candidate, make):
    if not candidate.per_task:
        pytest.skip("this memory does not keep one record a task")
    memory = make()
    play(memory, [sample_episode(0, task=7)])
    assert memory.retrieve(sample_view(7), START).text == ""
    assert memory.retrieve(sample_view(7), START).stored == 1
    assert memory.retrieve(sample_view(6, sample_view(7).instruction), START).item_ids == ("r0",)


def test_i2_retrieving_makes_nothing_searchable(make):
    memory = make()
    play(memory, sample_stream(3))
    stored = memory.retrieve(sample_view(3), START).stored
    for _ in range(3):
        context = memory.retrieve(sample_view(3), START)
    assert context.stored == stored


def test_i5_every_unreadable_reply_is_counted_once(make):
    for spoil in UNREADABLE.values():
        backbone = ScriptedBackbone(spoil=spoil)
        memory = make.build(backbone)
        _, _, (report,) = play(memory, [sample_episode(0)])
        assert report.parse_failures <= len(backbone.calls)
        assert (report.parse_failures > 0) == (len(backbone.calls) > 0)


def test_readable_reply_is_never_counted_as_a_failure(make):
    for spoil in READABLE.values():
        _, shown, reports = play(make(spoil), sample_stream(6))
        assert sum(report.parse_failures for report in reports) == 0
        for context in shown:
            context.text.encode("utf-8")


def test_i6_structured_writes_have_room(make):
    backbone = ScriptedBackbone()
    play(make.build(backbone), sample_stream(4))
    limits = {call.sampling.max_tokens for call in backbone.calls}
    assert all(limit is None or limit >= 4096 for limit in limits)


def test_i7_saved_and_loaded_memory_has_the_same_bytes_and_shows_the_same(make):
    memory = make()
    play(memory, sample_stream())
    saved = memory.snapshot()
    copy = make()
    copy.restore(saved, [])
    assert copy.snapshot() == saved
    for number in range(12):
        again = make()
        again.restore(saved, [])
        copy.restore(saved, [])
        assert copy.retrieve(sample_view(number), START) == again.retrieve(sample_view(number), START)


def test_i8_ids_name_what_is_shown(make):
    memory = make()
    known: set[str] = set()
    for episode in sample_stream(8):
        _, (context,), (report,) = play(memory, [episode])
        assert set(context.item_ids) <= known
        assert bool(context.item_ids) <= bool(context.text)
        assert len(set(context.item_ids)) == len(context.item_ids)
        known = (known | set(report.added)) - set(report.removed)
        assert report.stored >= 0


def test_i10_prompt_of_an_empty_memory_is_that_of_no_memory(make):
    context = make().retrieve(sample_view(0), START)
    guide = EnvironmentGuide("A house.", ActionGrammar(("take {object} from {place}",)))
    prompt = PromptLibrary().get("agent/act")
    arguments = (prompt, guide, START.instruction, START, [], START)
    assert build_messages(*arguments, memory=context.text) == build_messages(*arguments)
    assert context == MemoryContext(events=context.events)


def test_state_of_another_memory_is_refused(make):
    foreign = pack({"memory": "some other", "format": 1})
    with pytest.raises(CorruptStateError):
        make().restore(foreign, [])
    with pytest.raises(CorruptStateError):
        make().restore(None, [foreign])


def test_wrong_configuration_value_is_a_usage_error(make):
    with pytest.raises(UsageError, match=r"memory"):
        make.build(ScriptedBackbone(), k="many", mode=3, no_such_key=None)


WORDS = st.sampled_from(["put a hot apple in the fridge", "put a plate away", "find a pen", "", "x $y {z}", "café 你"])
TURN = st.builds(
    Turn,
    thought=st.text(max_size=20),
    action=st.sampled_from(["go to shelf 1", "take apple 1 from shelf 1", "look", ""]),
    observation=st.text(max_size=40),
    score=st.just(0.0),
)
EPISODES = st.lists(
    st.tuples(st.integers(0, 6), WORDS, st.sampled_from([True, False, None]), st.lists(TURN, max_size=4)), max_size=7
)


def _episodes(plans):
    return [
        replace(sample_episode(index, task=task, instruction=words, success=success), turns=tuple(turns))
        for index, (task, words, success, turns) in enumerate(plans)
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plans=EPISODES, data=st.data())
def test_any_pass_interrupted_anywhere_ends_in_the_same_state(make, plans, data):
    """Killed after any episode, resumed from any snapshot before it: deltas, texts and final state are equal."""
    episodes = _episodes(plans)
    memory = make()
    snapshots: list[bytes | None] = [None]
    deltas, shown = [], []
    for episode in episodes:
        delta, context, _ = play(memory, [episode])
        deltas += delta
        shown += context
        copy = make()
        copy.restore(snapshots[-1], deltas[len(snapshots) - 1 :])
        snapshots.append(copy.snapshot())
    killed = data.draw(st.integers(0, len(episodes)), label="killed after")
    base = data.draw(st.integers(0, killed), label="snapshot")
    resumed = make()
    resumed.restore(snapshots[base], deltas[base:killed])
    if killed < len(episodes):
        resumed.retrieve(episodes[killed].view, START)
        resumed.restore(snapshots[base], deltas[base:killed])
    more, later, _ = play(resumed, episodes[killed:])
    assert [*deltas[:killed], *more] == deltas
    assert [*shown[:killed], *later] == shown
    assert resumed.snapshot() == memory.snapshot()
