"""The values that travel through a pass. Frozen, standard library only.

One episode runs in this order: a `Task` is reset into an `Observation`; the memory turns the `TaskView` into a
`MemoryContext`; the agent answers with an `Action`; the environment answers with a `Step`; both are kept as a
`Turn`; the turns become an `Episode`, which the memory reflects on, inside an `EpisodeRecord`, which the store keeps.

A memory sees `TaskView`, `Observation` and `Episode` only: no task id, category or gold answer is in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Json = Any
"""A value that `json.dumps` accepts."""


class Outcome(StrEnum):
    """How an episode ended. The first group is the agent's doing and is scored; the second is ours and never is."""

    SUCCESS = "success"
    FAILURE = "failure"
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    TOKEN_LIMIT = "token_limit"
    PARSE_FAILURE = "parse_failure"
    CONTEXT_OVERFLOW = "context_overflow"
    TRUNCATED = "truncated"
    REFUSED = "refused"

    INFRA_TIMEOUT = "infra_timeout"
    ENV_ERROR = "env_error"
    BACKBONE_ERROR = "backbone_error"
    MEMORY_ERROR = "memory_error"
    EVALUATOR_ERROR = "evaluator_error"

    @property
    def scored(self) -> bool:
        """Whether the agent caused this ending, so that its score counts."""
        return self not in _UNSCORED


_UNSCORED = frozenset(
    {
        Outcome.INFRA_TIMEOUT,
        Outcome.ENV_ERROR,
        Outcome.BACKBONE_ERROR,
        Outcome.MEMORY_ERROR,
        Outcome.EVALUATOR_ERROR,
    }
)

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is sampled. `None` leaves a parameter to the provider and sends nothing."""

    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more calls. `cost` is in US dollars; `None` means that the price is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost is None or other.cost is None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
        )


FinishReason = Literal["stop", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One completed call. `seconds` is wall time and is kept out of everything that must repeat byte for byte."""

    text: str
    usage: Usage
    finish: FinishReason = "stop"
    model: str = ""
    request_key: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Task:
    """One item of an environment's task list.

    `id` is unique within the environment and split; `category` is what scores are broken down by; `group` is the
    key that grouped memories may use; `data` is the environment's own (a file, a variation number).
    """

    id: str
    category: str
    group: str
    data: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskView:
    """What a memory may know of a task before it is attempted.

    `key` is an opaque digest of the task id: it can be compared, so that a store with one record per task never
    returns the record of the task at hand, and it says nothing else.
    """

    environment: str
    instruction: str
    group: str
    key: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent is shown.

    `instruction` is the task in words, set on the first observation of an episode. An environment fills either
    `admissible` (complete commands) or nothing; `objects` are names that the action grammar's placeholders take.
    """

    text: str
    instruction: str = ""
    admissible: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """One command for the environment and the reasoning that led to it."""

    text: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """A reply that holds no action, and why."""

    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Step:
    """An environment's answer to one action.

    `score` is the task score so far in the environment's own range scaled to percent (ALFWorld 0 or 100, ScienceWorld
    -100 to 100). `success` is the environment's own verdict and only final when `done`.
    """

    observation: Observation
    score: float
    done: bool
    success: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One action of the agent with what came back.

    `malformed` holds the raw replies that had to be asked again before this action was understood; `note` is text
    that a stepwise memory showed for this turn alone.
    """

    thought: str
    action: str
    observation: str
    score: float
    malformed: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """What a memory shows the agent at the start of an episode. Empty text means that nothing is injected.

    `item_ids` name every stored item in the text; `stored` is how many items the memory holds; `flags` say what kind
    of thing was shown (such as `meta` or `warning`); `events` are the decisions taken, for the run's `events.jsonl`.
    """

    text: str = ""
    item_ids: tuple[str, ...] = ()
    stored: int = 0
    flags: tuple[str, ...] = ()
    events: tuple[Mapping[str, Json], ...] = ()

    @property
    def lines(self) -> int:
        """Number of non-blank lines injected."""
        return sum(1 for line in self.text.splitlines() if line.strip())


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished attempt as a memory may see it.

    `index` counts episodes of the pass from 0; `success` is the run's success signal (`None`: no verdict could be
    had); `start` is the first observation.
    """

    index: int
    view: TaskView
    start: Observation
    turns: tuple[Turn, ...]
    success: bool | None
    context: MemoryContext


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What reflecting on an episode changed. `parse_failures` counts model replies that could not be read."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stored: int = 0
    parse_failures: int = 0
    events: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode as the store keeps it.

    `raw_score` is the environment's score in percent, possibly negative; `score` is the same clipped to 0..100.
    Both are `None` exactly when `outcome.scored` is false. `usage` is split by the purpose of the calls. `steps` counts
    actions of the environment, `tool_calls` those answered by the memory; `unread` holds the raw replies of a last
    step that no action came out of.
    """

    task: Task
    episode: Episode
    outcome: Outcome
    score: float | None
    raw_score: float | None
    usage: Mapping[str, Usage]
    detail: str = ""
    steps: int = 0
    tool_calls: int = 0
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionGrammar:
    """The actions of an environment as shown to the agent.

    `templates` are commands with `{placeholder}` parts, such as `take {object} from {place}`; `irreversible` are
    those templates that cannot be undone and may end an episode badly.
    """

    templates: tuple[str, ...]
    irreversible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EnvironmentGuide:
    """What an environment contributes to the agent's system message.

    `description` says what the world is; `grammar` which actions exist; `hints` are rules of the interface that the
    observations do not show. None of them says how a task is solved.
    """

    description: str
    grammar: ActionGrammar
    hints: tuple[str, ...] = ()
