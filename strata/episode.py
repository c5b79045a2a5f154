"""One episode: a task, an agent that thinks and acts, and one named ending. Touches no file.

ReAct (thought, then action). Every model call is charged, also the re-asks after a reply without a readable action.
Trouble that is not the agent's doing becomes an unscored outcome by the type of its exception; what the type does not
say is a bug and passes through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from strata import parse
from strata.budget import total_tokens
from strata.canonical import digest
from strata.config import AgentSettings
from strata.errors import (
    ContextOverflow,
    EnvironmentFailure,
    EnvironmentTimeout,
    EvaluatorFailure,
    MemoryFailure,
    TransientBackboneError,
)
from strata.metering import MeteredBackbone, Stopwatch
from strata.prompts import Prompt, build_messages
from strata.protocols import Environment, Memory, StepwiseMemory, ToolMemory
from strata.types import (
    Action,
    EnvironmentGuide,
    Episode,
    EpisodeRecord,
    MemoryContext,
    Message,
    Observation,
    Outcome,
    Sampling,
    Step,
    Task,
    TaskView,
    Turn,
    Usage,
)

TROUBLE: dict[type[Exception], Outcome] = {
    EnvironmentTimeout: Outcome.INFRA_TIMEOUT,
    EnvironmentFailure: Outcome.ENV_ERROR,
    TransientBackboneError: Outcome.BACKBONE_ERROR,
    MemoryFailure: Outcome.MEMORY_ERROR,
    EvaluatorFailure: Outcome.EVALUATOR_ERROR,
}
"""Exceptions that end an episode unscored. The first that matches counts."""

_TOOLS_USED_UP = "No more memory calls in this episode. Go on with the task."


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent's prompts, sampling and limits. `episode_tokens` caps input plus output tokens of its own calls."""

    act: Prompt
    reask: Prompt
    settings: AgentSettings
    episode_tokens: int | None = None

    @property
    def sampling(self) -> Sampling:
        """How its replies are sampled."""
        return Sampling(temperature=self.settings.temperature, max_tokens=self.settings.max_tokens)


@dataclass(slots=True)
class _Course:
    """What has happened so far."""

    view: TaskView
    start: Observation = Observation("")
    now: Observation = Observation("")
    context: MemoryContext = MemoryContext()
    turns: list[Turn] = field(default_factory=list)
    score: float = 0.0
    steps: int = 0
    tool_calls: int = 0
    outcome: Outcome | None = None
    detail: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    """The agent's next action and the unreadable replies before it, or the ending and why."""

    action: Action | None
    unread: tuple[str, ...] = ()
    outcome: Outcome | None = None
    detail: str = ""


def run_episode(
    index: int,
    task: Task,
    *,
    environment: Environment,
    memory: Memory,
    backbone: MeteredBackbone,
    agent: Agent,
    seed: int,
    watch: Stopwatch,
) -> EpisodeRecord:
    """Play one task to its end. `index` counts the episodes of the pass.

    Raises what is neither the agent's doing nor listed in `TROUBLE`: BackboneRefused, Paused, DataError, bugs.
    """
    began = watch.clock()
    course = _Course(TaskView(environment.name, "", task.group, task_key(environment.name, task.id)))
    tools = tuple(memory.tools()) if isinstance(memory, ToolMemory) else ()
    try:
        with watch.measure("env"):
            course.now = course.start = environment.reset(task, seed=seed)
            guide = environment.guide()
        course.view = replace(course.view, instruction=course.start.instruction)
        with memory_at_work(watch):
            course.context = memory.retrieve(course.view, course.start)
        while course.outcome is None:
            note = _before_step(memory, course, watch)
            answer = _ask(backbone, _messages(agent, guide, course, note, tools), agent)
            if answer.action is None:
                course.outcome, course.detail, course.unread = answer.outcome, answer.detail, answer.unread
                break
            told = _call_tool(memory, tools, answer.action.text, course, agent, watch)
            if told is None:
                with watch.measure("env"):
                    step = environment.step(answer.action)
                course.steps += 1
                course.outcome = _ending(step)
            else:
                step = Step(replace(course.now, text=told), course.score, done=False, success=False)
            _take_turn(memory, course, answer, step, note, watch)
            course.outcome = course.outcome or _limit(course, environment, agent, backbone, watch.clock() - began)
    except tuple(TROUBLE) as error:
        course.outcome, course.detail = outcome_of(error), str(error)
    return _record(index, task, course)


def outcome_of(error: Exception) -> Outcome:
    """The unscored outcome that an exception of `TROUBLE` stands for."""
    return next(outcome for kind, outcome in TROUBLE.items() if isinstance(error, kind))


def task_key(environment: str, task_id: str) -> str:
    """The opaque key under which a memory may know a task."""
    return digest(f"{environment}:{task_id}")[:16]


@contextmanager
def memory_at_work(watch: Stopwatch) -> Iterator[None]:
    """Time a call of the memory. A prompt of its own that is too long is its failure, not the agent's."""
    with watch.measure("memory"):
        try:
            yield
        except ContextOverflow as error:
            raise MemoryFailure(f"A prompt of the memory is longer than the model's context: {error}") from error


def _messages(
    agent: Agent, guide: EnvironmentGuide, course: _Course, note: str, tools: tuple[str, ...]
) -> list[Message]:
    return build_messages(
        agent.act,
        guide,
        course.start.instruction,
        course.start,
        course.turns,
        course.now,
        memory=course.context.text,
        note=note,
        tools=tools,
    )


def _ask(backbone: MeteredBackbone, messages: list[Message], agent: Agent) -> _Answer:
    """One action from the agent, asked again a bounded number of times when a reply holds none."""
    talk = list(messages)
    unread: tuple[str, ...] = ()
    while True:
        try:
            reply = backbone.complete(talk, sampling=agent.sampling, purpose="act")
        except ContextOverflow as error:
            return _Answer(None, unread, Outcome.CONTEXT_OVERFLOW, str(error))
        if reply.finish == "refusal":
            return _Answer(None, (*unread, reply.text), Outcome.REFUSED, "the model refused to answer")
        parsed = parse.action(reply.text)
        if isinstance(parsed, Action):
            return _Answer(parsed, unread)
        unread = (*unread, reply.text)
        if len(unread) > agent.settings.max_reasks:
            cut = reply.finish == "length"
            reason = "the reply was cut off before its action" if cut else parsed.reason
            return _Answer(None, unread, Outcome.TRUNCATED if cut else Outcome.PARSE_FAILURE, reason)
        talk.append(Message("assistant", reply.text or "(empty)"))
        talk.append(Message("user", agent.reask.fill(reason=parsed.reason).strip()))


def _before_step(memory: Memory, course: _Course, watch: Stopwatch) -> str:
    if not isinstance(memory, StepwiseMemory):
        return ""
    with memory_at_work(watch):
        return memory.before_step(course.turns, course.now)


def _call_tool(
    memory: Memory, tools: tuple[str, ...], command: str, course: _Course, agent: Agent, watch: Stopwatch
) -> str | None:
    """The answer of the memory's tool, or None when the command is for the environment.

    Calls beyond the cap are not made; they count as steps, so that an episode of nothing else ends.
    """
    if not isinstance(memory, ToolMemory) or not any(_matches(command, template) for template in tools):
        return None
    if course.tool_calls >= agent.settings.max_tool_calls:
        course.steps += 1
        return _TOOLS_USED_UP
    with memory_at_work(watch):
        told = memory.call_tool(command)
    course.tool_calls += told is not None
    return told


def _matches(command: str, template: str) -> bool:
    words = template.partition("{")[0].strip()
    return command == words or command.startswith(f"{words} ")


def _take_turn(memory: Memory, course: _Course, answer: _Answer, step: Step, note: str, watch: Stopwatch) -> None:
    action = answer.action or Action("")
    turn = Turn(action.thought, action.text, step.observation.text, step.score, answer.unread, note)
    course.turns.append(turn)
    course.now, course.score = step.observation, step.score
    if isinstance(memory, StepwiseMemory):
        with memory_at_work(watch):
            memory.after_step(turn)


def _ending(step: Step) -> Outcome | None:
    if not step.done:
        return None
    return Outcome.SUCCESS if step.success else Outcome.FAILURE


def _limit(
    course: _Course, environment: Environment, agent: Agent, backbone: MeteredBackbone, seconds: float
) -> Outcome | None:
    if course.steps >= environment.max_steps:
        return Outcome.STEP_LIMIT
    if agent.settings.episode_seconds is not None and seconds >= agent.settings.episode_seconds:
        return Outcome.TIME_LIMIT
    used = total_tokens(backbone.usage.get("act", Usage()))
    if agent.episode_tokens is not None and used >= agent.episode_tokens:
        return Outcome.TOKEN_LIMIT
    return None


def _record(index: int, task: Task, course: _Course) -> EpisodeRecord:
    outcome = course.outcome
    assert outcome is not None, "an episode ends with an outcome"
    episode = Episode(
        index=index,
        view=course.view,
        start=course.start,
        turns=tuple(course.turns),
        success=outcome is Outcome.SUCCESS if outcome.scored else None,
        context=course.context,
    )
    return EpisodeRecord(
        task=task,
        episode=episode,
        outcome=outcome,
        score=min(100.0, max(0.0, course.score)) if outcome.scored else None,
        raw_score=course.score if outcome.scored else None,
        usage={},
        detail=course.detail,
        steps=course.steps,
        tool_calls=course.tool_calls,
        unread=course.unread,
    )
