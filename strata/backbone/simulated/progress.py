"""How far the agent is: the episode replayed from the conversation, with the plan it was following at each point.

The agent goes through stages. Each is a plan, or none (then it improvises). A plan that is finished without the
episode ending, or that cannot go on, leads to the next stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strata.backbone.simulated.grammar import Command
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.plan import PlanStep
from strata.backbone.simulated.scene import Perception, Scene

_REFUSALS = 2
_STAGES = 6


@dataclass(frozen=True, slots=True)
class Stage:
    """A plan to follow; empty when the agent improvises. `source` says where it comes from."""

    source: str
    steps: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An action of the episode and what was seen after it."""

    command: Command | None
    action: str
    seen: Perception


class Progress:
    """Scene, stage and next step. `used` holds the things that this plan has already put where they belong,
    `chosen` the thing picked for a goal that names only a kind.

    What cannot be undone is done once: a step of an `irreversible` template that was carried out is not repeated.
    """

    def __init__(
        self, scene: Scene, stage: Callable[[int], Stage], knowledge: Knowledge, irreversible: frozenset[str]
    ) -> None:
        self.scene = scene
        self.used: set[str] = set()
        self.chosen = ""
        self._stage_at = stage
        self._knowledge = knowledge
        self._irreversible = irreversible
        self._final: list[Command] = []
        self._index = 0
        self._next = 0
        self._refused = 0
        self.stage = stage(0)

    @property
    def pending(self) -> PlanStep | None:
        """The plan's next step; None when the agent improvises."""
        return self.stage.steps[self._next].settled_on(self.chosen) if self.stage.steps else None

    def replay(self, events: Sequence[Event], stuck: Callable[[PlanStep], bool]) -> None:
        """Go through the episode. `stuck` tells whether a step cannot be carried out any more."""
        self._settle(stuck)
        for event in events:
            done = self.scene.apply(event.command, event.action, event.seen)
            if event.command is not None:
                self._account(event.command, done)
                self._final += [event.command] if done and event.command.template in self._irreversible else []
            self._settle(stuck)

    def _account(self, command: Command, done: bool) -> None:
        """Pass on to the next step when this one is done, or was refused too often."""
        step = self.pending
        if step is None or not step.matches(command, self._knowledge):
            return
        self._refused += not done
        if done and command.slots and step.wants[0].category is not None:
            self.chosen = command.slots[0].lower()
        if done and self._knowledge.is_verb("release", command.verb) and len(command.slots) > 1:
            self.used.add(command.slots[0].lower())
        if done or self._refused >= _REFUSALS:
            self._pass_on()

    def _pass_on(self) -> None:
        self._next += 1
        self._refused = 0
        if self._next >= len(self.stage.steps):
            self._enter(self._index + 1)

    def _enter(self, index: int) -> None:
        before = self.stage.source
        self._index, self._next, self._refused = index, 0, 0
        self.stage = self._stage_at(index)
        if self.stage.source != before:
            self.used.clear()

    def _settle(self, stuck: Callable[[PlanStep], bool]) -> None:
        """Pass over what is done for good and over taking what is held, and leave a plan that cannot go on."""
        for _ in range(_STAGES * 8):
            step = self.pending
            if step is None or self._index > _STAGES:
                return
            if any(step.matches(command, self._knowledge) for command in self._final) or self._holds(step):
                self._pass_on()
            elif stuck(step):
                self._enter(self._index + 1)
            else:
                return

    def _holds(self, step: PlanStep) -> bool:
        if not step.wants or not self._knowledge.is_verb("take", step.command.verb):
            return False
        return any(step.wants[0].accepts(name, self._knowledge) for name in self.scene.held)
