"""Plans: steps read in a memory, stated in the goal, or known before, bound to the goal at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strata.backbone.simulated.goal import Goal
from strata.backbone.simulated.grammar import Command, Grammar, is_placeholder
from strata.backbone.simulated.knowledge import Category, Knowledge
from strata.backbone.simulated.words import noun

_SENTENCE = re.compile(r"(?<=[\w')])[.;]\s+")
_WHERE = re.compile(r"\s+(?:in|from|at|around|located|which)\s.*$", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|them|the (?:thing|substance))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Want:
    """What may fill one slot.

    `role` is theme, source, target or tool. Where `exact` is set, only names of that kind fit; else all words of a name
    must be among `words` (None: any name fits), and all of them must be there if `whole`; or, with a `category`, it
    must be a thing of that kind. `hint` is a kind of place to look at first.
    """

    role: str
    words: frozenset[str] | None = None
    exact: str = ""
    hint: str = ""
    category: Category | None = None
    whole: bool = False

    def accepts(self, name: str, knowledge: Knowledge) -> bool:
        """Whether a name fills the slot."""
        own = knowledge.lexicon.noun(name)
        if self.exact:
            return own == self.exact
        if self.words is None and self.category is None:
            return True
        words = knowledge.lexicon.content(own)
        if self.category is not None:
            return not words.isdisjoint(self.category.words) and words.isdisjoint(self.category.excluded)
        return words == self.words if self.whole else bool(words) and words <= (self.words or frozenset())

    @property
    def free(self) -> bool:
        """Whether any name fits."""
        return not self.exact and self.words is None and self.category is None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step, what may fill its slots, and the kind of place where it was done."""

    command: Command
    wants: tuple[Want, ...]
    near: str = ""

    def matches(self, command: Command | None, knowledge: Knowledge) -> bool:
        """Whether a complete command carries the step out."""
        if command is None or command.template != self.command.template:
            return False
        return all(want.accepts(slot, knowledge) for want, slot in zip(self.wants, command.slots, strict=True))

    def want(self, *roles: str) -> Want | None:
        """The first slot with one of these roles."""
        return next((want for want in self.wants if want.role in roles), None)

    def settled_on(self, name: str) -> PlanStep:
        """The step with the thing that was chosen for a goal that names only a kind."""
        if not name or all(want.category is None for want in self.wants):
            return self
        chosen = (Want(want.role, exact=noun(name)) if want.category is not None else want for want in self.wants)
        return PlanStep(self.command, tuple(chosen), self.near)


def bind(
    steps: Iterable[Command], context: frozenset[str] | None, goal: Goal, knowledge: Knowledge, *, stated: bool = False
) -> tuple[PlanStep, ...]:
    """Bind the steps that do something to a goal; the moves before them become hints.

    Placeholders, and names that the text around the steps mentions but the goal does not (the things of another
    task), stand for what has that role in the goal. `context` holds the words of that text, None for the agent's own.
    All other names are meant as they are; where the goal itself
    states the steps (`stated`), under any name of the same words. Where something is taken from is only a hint.
    """
    bound: list[PlanStep] = []
    near = ""
    for step in steps:
        if knowledge.is_verb("navigate", step.verb) and step.slots and not is_placeholder(step.slots[0]):
            near = noun(step.slots[0])
        elif is_act(step, knowledge):
            things = goal.themes if knowledge.is_verb("take", step.verb) and goal.themes else goal.words - goal.targets
            slots = zip(step.slots, step.roles, strict=True)
            wants = (_want(slot, role, things, context, goal, knowledge, stated) for slot, role in slots)
            bound.append(PlanStep(step, tuple(wants), near))
    return tuple(bound)


def repeated(steps: Sequence[PlanStep], goal: Goal, knowledge: Knowledge) -> tuple[PlanStep, ...]:
    """The steps, as often as the goal has things, unless they are already that many."""
    releases = sum(knowledge.is_verb("release", step.command.verb) for step in steps)
    return tuple(steps) * goal.count if releases == 1 else tuple(steps)


def is_act(command: Command, knowledge: Knowledge) -> bool:
    """Whether a command does more than move the agent, open, close or look."""
    return not any(knowledge.is_verb(kind, command.verb) for kind in ("navigate", "open", "close", "look"))


def stated_steps(goal: Goal, grammar: Grammar, knowledge: Knowledge) -> tuple[PlanStep, ...]:
    """Steps that the goal sentence itself spells out, conditional ones left aside."""
    steps: list[Command] = []
    for sentence in _SENTENCE.split(goal.text):
        if not sentence.lower().lstrip().startswith("if "):
            found = grammar.steps(_PRONOUN.sub("{object}", sentence))
            steps += [step for step in found if step.slots]
    return bind(steps, None, goal, knowledge, stated=True)


def _want(
    slot: str,
    role: str,
    things: frozenset[str],
    context: frozenset[str] | None,
    goal: Goal,
    knowledge: Knowledge,
    stated: bool,
) -> Want:
    name = noun(slot.strip("{}"))
    words = knowledge.lexicon.content(name)
    if role == "source":
        return Want(role, hint="" if is_placeholder(slot) else name)
    told = context is not None and (not context or words <= context)
    foreign = told and role != "tool" and not words <= goal.words
    if not is_placeholder(slot) and (stated or not foreign):
        if stated:
            return Want(role, words=knowledge.lexicon.content(_WHERE.sub("", name)), whole=True)
        return Want(role, exact=name)
    if role == "tool":
        return Want(role)
    if role == "target":
        return Want(role, words=goal.target or None)
    if goal.category is not None:
        return Want(role, category=goal.category)
    return Want(role, words=things)
