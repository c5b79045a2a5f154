"""The episode loop: every ending has a name, every call is charged, nothing malformed is lost."""

# ruff: noqa: ARG002  signatures of the protocols

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from harness_doubles import Counting, CountingSettings, ListMemory, ListSettings, ToolListMemory

from strata.budget import Budget
from strata.config import AgentSettings, BudgetSettings
from strata.episode import TROUBLE, Agent, run_episode, task_key
from strata.errors import (
    BackboneRefused,
    BudgetReached,
    ContextOverflow,
    EnvironmentFailure,
    EnvironmentTimeout,
    EvaluatorFailure,
    MemoryFailure,
    TransientBackboneError,
)
from strata.metering import MeteredBackbone, Stopwatch
from strata.prompts import PromptLibrary
from strata.types import EpisodeRecord, Message, Observation, Outcome, Reply, Step, Task, Usage


def act(command: str) -> Reply:
    return Reply(f"Thought: go\nAction: {command}", Usage(1, 100, 10, cost=0.5))


MUMBLE = Reply("Hm.", Usage(1, 100, 10, cost=0.5))
CUT = Reply("Thought: I was going to", Usage(1, 100, 10, cost=0.5), finish="length")


class Scripted:
    """Plays replies in order, the last one for ever; an exception in the list is raised."""

    name = "scripted"

    def __init__(self, replies: Sequence[Reply | Exception]) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    def complete(self, messages: Sequence[Message], **_: Any) -> Reply:
        self.asked.append(list(messages))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


def library(name: str) -> Any:
    return PromptLibrary().get(f"agent/{name}")


def play(
    replies: Sequence[Reply | Exception],
    *,
    environment: Any = None,
    memory: Any = None,
    episode_tokens: int | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    **agent: Any,
) -> tuple[EpisodeRecord, Scripted, MeteredBackbone]:
    backbone = Scripted(replies)
    watch = Stopwatch(clock)
    metered = MeteredBackbone(backbone, Budget(BudgetSettings()), watch)
    record = run_episode(
        4,
        Task("test-01", "a", "g"),
        environment=environment or Counting(CountingSettings()),
        memory=memory or ListMemory(ListSettings(), metered, None),
        backbone=metered,
        agent=Agent(library("act"), library("reask"), AgentSettings(**agent), episode_tokens),
        seed=0,
        watch=watch,
    )
    return record, backbone, metered


GOAL = 3


def test_the_task_played_here_needs_three() -> None:
    world = Counting(CountingSettings())
    assert world.reset(Task("test-01", "a", "g"), seed=0).text == f"Counter: 0 of {GOAL}."


def test_a_solved_task_is_a_success_with_its_turns() -> None:
    record, _, metered = play([*[act("add 1")] * GOAL, act("finish")])
    assert record.outcome is Outcome.SUCCESS
    assert (record.score, record.raw_score, record.episode.success) == (100.0, 100.0, True)
    assert [turn.action for turn in record.episode.turns] == ["add 1"] * GOAL + ["finish"]
    assert record.episode.turns[-1].observation == "The end."
    assert record.steps == GOAL + 1
    assert record.episode.index == 4
    assert record.episode.view.key == task_key("counting", "test-01") != task_key("other", "test-01")
    assert metered.usage["act"] == Usage(GOAL + 1, 100 * (GOAL + 1), 10 * (GOAL + 1), cost=0.5 * (GOAL + 1))


def test_a_wrong_end_is_a_failure_and_keeps_the_raw_score() -> None:
    record, _, _ = play([act("finish")])
    assert (record.outcome, record.score, record.raw_score, record.episode.success) == ("failure", 0.0, -100.0, False)


def test_too_many_steps_end_at_the_step_limit_with_the_score_so_far() -> None:
    record, _, _ = play([*[act("add 1")] * GOAL, act("look")])
    assert (record.outcome, record.steps, record.score) == (Outcome.STEP_LIMIT, 6, 50.0)


def test_one_malformed_reply_does_not_kill_an_episode() -> None:
    record, backbone, metered = play([MUMBLE, act("add 1"), MUMBLE, MUMBLE, act("finish")])
    assert record.outcome is Outcome.FAILURE
    assert [turn.malformed for turn in record.episode.turns] == [("Hm.",), ("Hm.", "Hm.")]
    assert metered.usage["act"].calls == 5
    asked_again = backbone.asked[1]
    assert asked_again[-2] == Message("assistant", "Hm.")
    assert asked_again[-1].content.startswith("Your reply could not be read: there is no line 'Action: ...'.")
    assert all("could not be read" not in message.content for message in backbone.asked[2])


def test_replies_that_stay_malformed_are_a_parse_failure_charged_and_kept() -> None:
    record, _, metered = play([act("add 1"), MUMBLE], max_reasks=2)
    assert (record.outcome, record.unread, record.score) == (Outcome.PARSE_FAILURE, ("Hm.",) * 3, 0.0)
    assert "no line 'Action" in record.detail
    assert len(record.episode.turns) == 1
    assert metered.usage["act"].calls == 4


def test_without_reasks_the_first_malformed_reply_ends_it() -> None:
    assert play([MUMBLE], max_reasks=0)[0].unread == ("Hm.",)


def test_truncation_is_not_labelled_a_parse_error() -> None:
    assert play([CUT], max_reasks=1)[0].outcome is Outcome.TRUNCATED
    assert play([CUT, MUMBLE], max_reasks=1)[0].outcome is Outcome.PARSE_FAILURE
    recovered, _, _ = play([CUT, act("finish")], max_reasks=1)
    assert (recovered.outcome, recovered.episode.turns[0].malformed) == (Outcome.FAILURE, (CUT.text,))


def test_a_reply_cut_after_its_action_is_used() -> None:
    cut = Reply("Thought: x\nAction: finish\nObservation: I imag", Usage(1, 1, 1), finish="length")
    assert play([cut])[0].episode.turns[0].action == "finish"


def test_a_refusal_is_not_asked_again() -> None:
    record, backbone, _ = play([act("add 1"), Reply("I can't help.", Usage(1, 1, 1), finish="refusal")])
    assert (record.outcome, record.unread, len(backbone.asked)) == (Outcome.REFUSED, ("I can't help.",), 2)


def test_context_overflow_is_scored_and_not_retried() -> None:
    record, backbone, _ = play([act("add 1"), ContextOverflow("9000 tokens")])
    assert (record.outcome, record.detail, len(backbone.asked)) == (Outcome.CONTEXT_OVERFLOW, "9000 tokens", 2)
    assert record.score == 0.0


def test_a_hung_episode_ends_at_its_wall_clock_limit() -> None:
    seconds = iter(range(1000))
    record, _, _ = play([act("add 1")], clock=lambda: next(seconds), episode_seconds=12.0)
    assert record.outcome is Outcome.TIME_LIMIT
    assert 1 < record.steps < 6


def test_an_episode_ends_at_its_token_cap() -> None:
    record, _, _ = play([act("add 1")], episode_tokens=220)
    assert (record.outcome, record.steps, record.score) == (Outcome.TOKEN_LIMIT, 2, 0.0)


class Broken(Counting):
    def __init__(self, error: Exception, at: str) -> None:
        super().__init__(CountingSettings())
        self.error, self.at = error, at

    def reset(self, task: Task, *, seed: int) -> Observation:
        if self.at == "reset":
            raise self.error
        return super().reset(task, seed=seed)

    def step(self, action: Any) -> Step:
        if self.at == "step":
            raise self.error
        return super().step(action)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (EnvironmentTimeout("t"), Outcome.INFRA_TIMEOUT),
        (EnvironmentFailure("t"), Outcome.ENV_ERROR),
        (TransientBackboneError("t"), Outcome.BACKBONE_ERROR),
        (MemoryFailure("t"), Outcome.MEMORY_ERROR),
        (EvaluatorFailure("t"), Outcome.EVALUATOR_ERROR),
    ],
)
@pytest.mark.parametrize("at", ["reset", "step"])
def test_trouble_that_is_ours_is_never_scored(error: Exception, outcome: Outcome, at: str) -> None:
    record, _, _ = play([act("add 1")], environment=Broken(error, at))
    assert record.outcome is outcome
    assert not outcome.scored
    assert (record.score, record.raw_score, record.episode.success, record.detail) == (None, None, None, "t")


def test_every_unscored_outcome_has_its_exception() -> None:
    assert set(TROUBLE.values()) == {outcome for outcome in Outcome if not outcome.scored}


@pytest.mark.parametrize("error", [BackboneRefused("key"), BudgetReached("cap"), ZeroDivisionError("bug")])
def test_a_wrong_key_a_pause_or_a_bug_is_no_outcome(error: Exception) -> None:
    with pytest.raises(type(error)):
        play([error])


def test_a_memory_whose_own_prompt_overflows_fails_loudly() -> None:
    class Greedy(ListMemory):
        def retrieve(self, view: Any, observation: Any) -> Any:
            raise ContextOverflow("too long")

    record, _, _ = play([act("finish")], memory=Greedy(ListSettings(), None, None))
    assert (record.outcome, "memory" in record.detail) == (Outcome.MEMORY_ERROR, True)


def tool_memory() -> ToolListMemory:
    return ToolListMemory(ListSettings(), None, None)


def test_a_memorys_tools_are_offered_answered_and_are_no_steps() -> None:
    memory = tool_memory()
    record, backbone, _ = play([act("lessons 1"), act("lessons 2"), act("finish")], memory=memory)
    assert "- lessons {number}" in backbone.asked[0][0].content
    assert (record.steps, record.tool_calls, len(record.episode.turns)) == (1, 2, 3)
    assert record.episode.turns[0].observation == "0 lessons"
    after = backbone.asked[1][-1].content
    assert after.startswith("Observation: 0 lessons")
    assert "Admissible actions:" in after


def test_endless_tool_calls_end_at_the_step_limit_and_are_not_made() -> None:
    memory = tool_memory()
    record, _, _ = play([act("lessons 1")], memory=memory, max_tool_calls=2)
    assert (record.outcome, record.steps, record.tool_calls, memory.told) == (Outcome.STEP_LIMIT, 6, 2, 2)
    assert "No more memory calls" in record.episode.turns[2].observation


def test_a_command_that_only_begins_like_a_tool_is_for_the_environment() -> None:
    memory = tool_memory()
    record, _, _ = play([act("lessonsx 1"), act("finish")], memory=memory)
    assert (record.steps, memory.told) == (2, 0)


def test_a_stepwise_memory_speaks_before_each_step_and_hears_after_it() -> None:
    memory = tool_memory()
    record, backbone, _ = play([act("add 1"), act("finish")], memory=memory)
    assert [turn.note for turn in record.episode.turns] == ["Hint 0.", "Hint 1."]
    assert backbone.asked[1][-1].content.endswith("Hint 1.")
    assert "Hint 0." not in backbone.asked[1][-1].content
    assert memory.last == record.episode.turns[-1]


def test_a_memory_sees_no_task_id() -> None:
    seen: list[Any] = []

    class Nosy(ListMemory):
        def retrieve(self, view: Any, observation: Any) -> Any:
            seen.extend((view, observation))
            return super().retrieve(view, observation)

    record, _, _ = play([act("finish")], memory=Nosy(ListSettings(), None, None))
    assert "test-01" not in repr(seen) + repr(record.episode)
    assert seen[0].instruction == record.episode.start.instruction != ""
