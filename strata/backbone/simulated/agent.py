"""From a conversation to an action: what is known, what is remembered, which plan is followed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from strata.backbone.simulated.acting import Actor, Choice, Mind
from strata.backbone.simulated.conversation import (
    Conversation,
    Instructions,
    action_of,
    read_conversation,
    read_instructions,
)
from strata.backbone.simulated.draws import Draws
from strata.backbone.simulated.facts import declares_fields
from strata.backbone.simulated.goal import Goal, read_goal
from strata.backbone.simulated.grammar import Grammar
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.offers import Imagined, Listed, Offers
from strata.backbone.simulated.parameters import Parameters
from strata.backbone.simulated.plan import PlanStep, bind, repeated, stated_steps
from strata.backbone.simulated.progress import Event, Progress, Stage
from strata.backbone.simulated.recollection import Procedure, Reader, Recollection
from strata.backbone.simulated.scene import Perception, Scene, perceive
from strata.types import Message

T = TypeVar("T")
_KEPT = 4_000
_ALONE = 0.5
_OWN_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class _Course:
    """A replayed episode: what it began with, its history, and where it stands."""

    base: tuple[str, ...]
    history: tuple[tuple[str, str], ...]
    progress: Progress


class Agent:
    """The acting half of the simulated backbone. Remembers what it has read, by content, so as to read it once."""

    def __init__(self, knowledge: Knowledge, parameters: Parameters, seed: int) -> None:
        self._knowledge = knowledge
        self._parameters = parameters
        self._seed = seed
        self._read: dict[Hashable, Any] = {}
        self._last: _Course | None = None

    def is_asked_to_act(self, messages: Sequence[Message]) -> bool:
        """Whether the system message lists actions and the last message asks for no fields of a written reply."""
        instructions, _ = self._instructed(messages)
        return bool(instructions.templates) and not declares_fields(messages[-1].content)

    def act(self, messages: Sequence[Message], luck: str) -> Choice | None:
        """The next action; None for a reply that holds none. `luck` tells apart samples of one request."""
        system = _system(messages)
        instructions, grammar = self._instructed(messages)
        talk = read_conversation(messages, lambda reply: self._once(("reply", reply), lambda: action_of(reply)))
        draws = Draws(self._seed, talk.goal, luck)
        if not talk.asked_again and draws.happens(self._parameters.p_malformed, talk.step, "malformed"):
            return None
        if talk.asks_for_number:
            return Choice(talk.numbered_choice, "This is the one I mean.")
        goal = self._once(("goal", talk.goal), lambda: read_goal(talk.goal, self._knowledge))
        text = "\n\n".join(part for part in (instructions.memory, talk.note) if part)
        heeds = draws.happens(self._parameters.p_heed, "heed")
        remembered = self._once(("memory", system, text, luck), lambda: self._remember(text, grammar, draws))
        plan = self._once(
            ("plan", system, text, talk.goal, luck),
            lambda: self._followed(remembered.procedures, goal, draws, heeds),
        )
        own = self._once(("own", system, talk.goal, luck), lambda: self._own(goal, grammar, draws))
        progress, offers = self._course(talk, grammar, goal, self._stages(plan, own, draws), (system, luck))
        mind = Mind(
            self._knowledge,
            self._parameters,
            goal,
            draws,
            irreversible=grammar.irreversible,
            avoided=remembered.avoided if heeds else (),
        )
        return Actor(mind, progress, offers, talk.step).choose()

    def _course(
        self, talk: Conversation, grammar: Grammar, goal: Goal, stages: Callable[[int], Stage], key: tuple[str, str]
    ) -> tuple[Progress, Offers]:
        """The episode replayed, and what can be done now.

        Where the environment lists no commands, what was possible earlier follows from the observations alone, so the
        replay goes on from the last call if that was about the same episode.
        """
        history = talk.settled_history
        base = (*key, talk.goal, talk.start)
        last = self._last
        if last and not talk.admissible and last.base == base and history[: len(last.history)] == last.history:
            progress, old = last.progress, len(last.history)
        else:
            scene = Scene(self._knowledge, self._perceive(talk.start))
            progress, old = Progress(scene, stages, self._knowledge, grammar.irreversible), 0
        offers: Offers = (
            Listed(grammar, self._knowledge, progress.scene, talk.admissible)
            if talk.admissible
            else Imagined(grammar, self._knowledge, progress.scene, goal, talk.objects)
        )
        new = history[old:]
        events = [Event(grammar.command(action), action, self._perceive(seen)) for action, seen in new]
        progress.replay(events, lambda step: self._stuck(step, progress, offers))
        self._last = _Course(base, history, progress)
        return progress, offers

    # -- memory

    def _remember(self, text: str, grammar: Grammar, draws: Draws) -> Recollection:
        """What is read of the memory's text: the first lines for sure, further ones with decaying probability."""
        reach = self._parameters.attention_lines
        if self._parameters.attention_decay > 0:
            reach += int(math.log(1 - draws.uniform("attention")) / math.log(self._parameters.attention_decay))
        return Reader(grammar, self._knowledge.lexicon, self._knowledge.cues).read(text, reach)

    def _followed(self, procedures: Sequence[Procedure], goal: Goal, draws: Draws, heeds: bool) -> tuple[PlanStep, ...]:
        """The plan made of the most goal-like procedure; none when there is none, or the agent follows none."""
        if not draws.happens(self._parameters.p_follow, "follow"):
            return ()
        best: tuple[float, tuple[PlanStep, ...]] = (0.0, ())
        for procedure in procedures:
            if procedure.warned and heeds:
                continue
            steps = bind(procedure.steps, procedure.context, goal, self._knowledge)
            if not steps or (len(steps) == 1 and not self._asks_for(steps[0], goal)):
                continue
            likeness = self._likeness(procedure, goal) * (1.0 if len(steps) > 1 else _ALONE)
            if likeness >= self._parameters.relevance_floor and likeness > best[0]:
                best = (likeness, steps)
        return repeated(best[1], goal, self._knowledge)

    def _asks_for(self, step: PlanStep, goal: Goal) -> bool:
        """Whether a goal names a single step's act or the tool that the act is about."""
        content = self._knowledge.lexicon.content
        return bool(content(step.command.verb) & goal.words or content(step.command.text) & goal.tools)

    def _likeness(self, procedure: Procedure, goal: Goal) -> float:
        """Share of the words of the goal's first sentence that occur in a procedure or in the text around it."""
        content = self._knowledge.lexicon.content
        words = procedure.context.union(*(content(step.text) for step in procedure.steps))
        return len(words & goal.head_words) / max(1, len(goal.head_words))

    # -- plans of its own

    def _own(self, goal: Goal, grammar: Grammar, draws: Draws) -> tuple[PlanStep, ...]:
        """Generic steps known for the goal's family, drawn with its prior; else what the goal itself spells out."""
        for family in self._knowledge.families:
            steps = [step for text in family.steps for step in grammar.steps(text)]
            if not family.fits(goal.words) or len(steps) != len(family.steps):
                continue
            if steps and draws.happens(self._parameters.known(family.world, family.name), "know"):
                return repeated(bind(steps, None, goal, self._knowledge), goal, self._knowledge)
            break
        return stated_steps(goal, grammar, self._knowledge)

    def _stages(
        self, followed: tuple[PlanStep, ...], own: tuple[PlanStep, ...], draws: Draws
    ) -> Callable[[int], Stage]:
        """First the memory's plan, again and again until the agent turns to its own; that a few times, then none."""

        def stage(index: int) -> Stage:
            attempt = index
            if followed:
                chance = self._parameters.p_recover
                left = next((n for n in range(1, index + 1) if draws.happens(chance, "recover", n)), 0)
                if not left:
                    return Stage("memory", followed)
                attempt = index - left
            return Stage("own", own) if own and attempt < _OWN_ATTEMPTS else Stage("none")

        return stage

    def _stuck(self, step: PlanStep, progress: Progress, offers: Offers) -> bool:
        """Whether something that a step needs was not found although every place was searched."""
        scene = progress.scene
        if scene.room.closed or offers.look() is not None:
            return False
        wants = [want for want in step.wants if not want.free]
        known = [*scene.held, *(name for name, _ in scene.sightings() if name not in progress.used), *scene.places]
        missing = [want for want in wants if not any(want.accepts(name, self._knowledge) for name in known)]
        if not missing:
            return False
        ahead = {move.destination for move in offers.moves()} | {scene.here}
        if any(want.accepts(name, self._knowledge) for want in missing for name in ahead if want.role != "theme"):
            return False
        return all(scene.searched(name) for name in ahead)

    # -- reading once

    def _instructed(self, messages: Sequence[Message]) -> tuple[Instructions, Grammar]:
        system = _system(messages)
        return self._once(("system", system), lambda: _instructions(system))

    def _perceive(self, text: str) -> Perception:
        return self._once(("seen", text), lambda: perceive(text, self._knowledge))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._read:
            if len(self._read) >= _KEPT:
                self._read.clear()
            self._read[key] = make()
        return cast("T", self._read[key])


def _system(messages: Sequence[Message]) -> str:
    return "\n\n".join(message.content for message in messages if message.role == "system")


def _instructions(system: str) -> tuple[Instructions, Grammar]:
    instructions = read_instructions(system)
    return instructions, Grammar(instructions.templates, instructions.irreversible)
