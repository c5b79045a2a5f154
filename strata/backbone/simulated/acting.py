"""Choosing an action: follow a plan, search for what its next step needs, or improvise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strata.backbone.simulated.draws import Draws
from strata.backbone.simulated.goal import Goal
from strata.backbone.simulated.grammar import Command
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.offers import Move, Offers
from strata.backbone.simulated.parameters import Parameters
from strata.backbone.simulated.plan import PlanStep, Want
from strata.backbone.simulated.progress import Progress

_NEVER = 10.0
_VISITS = 3
"""After so many visits a place where something was seen is not gone to for it again."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An action and the thought shown with it."""

    action: str
    thought: str


@dataclass(frozen=True, slots=True)
class Mind:
    """What the agent brings to a decision. `irreversible` are templates, `avoided` steps that it was warned of."""

    knowledge: Knowledge
    parameters: Parameters
    goal: Goal
    draws: Draws
    irreversible: frozenset[str]
    avoided: tuple[Command, ...]


class Actor:
    """The agent at one step."""

    def __init__(self, mind: Mind, progress: Progress, offers: Offers, step: int) -> None:
        self._mind = mind
        self._knowledge = mind.knowledge
        self._draws = mind.draws
        self._progress = progress
        self._scene = progress.scene
        self._offers = offers
        self._step = step

    def choose(self) -> Choice:
        """The next action."""
        if self._draws.happens(self._mind.parameters.slip, self._step, "slip"):
            slipped = self._slip()
            if slipped is not None:
                return slipped
        step = self._progress.pending
        planned = self._carry_out(step) if step is not None else None
        return planned or self._improvise()

    def _slip(self) -> Choice | None:
        """A random action, of those that can be undone."""
        texts = [one.text for one in self._offers.everything() if one.template not in self._mind.irreversible]
        return Choice(self._draws.shuffled(texts, self._step, "slip")[0], "I try this.") if texts else None

    # -- following a plan

    def _carry_out(self, step: PlanStep) -> Choice | None:
        fitting = self._offers.fitting(step)
        taking = self._knowledge.is_verb("take", step.command.verb)
        theme, place = step.want("theme"), step.want("target", "tool")
        if fitting and place is not None and not self._offers.certain:
            opening = self._opening(place)
            if opening is not None:
                return opening
        if taking:
            fitting = [command for command in fitting if command.slots[0].lower() not in self._progress.used]
        if fitting:
            return Choice(min(fitting, key=self._preference).text, "This comes next in what I have in mind.")
        source = step.want("source")
        hint = (source.hint if source else "") or step.near
        if theme is not None and (taking or place is None):
            return self._seek(theme, hint)
        if theme is not None and not self._holding(theme):
            return self._fetch(theme, hint)
        if place is not None and not place.free:
            return self._reach(place) or self._explore(hint)
        return self._explore(hint)

    def _preference(self, command: Command) -> tuple[bool, bool, float, str]:
        """Prefer the goal's own things, and the place where things were put before."""
        theme = command.slots[0] if command.slots else ""
        own = self._knowledge.lexicon.content(theme) <= self._mind.goal.themes
        again = len(command.slots) > 1 and command.slots[1].lower() in self._scene.placed.values()
        return not own, not again, self._draws.uniform(command.text, "prefer"), command.text

    def _holding(self, want: Want) -> bool:
        return any(want.accepts(name, self._knowledge) for name in self._scene.held)

    def _fetch(self, theme: Want, hint: str) -> Choice | None:
        """Take what the step needs in hand."""
        takes = [take for take in self._offers.takes(theme) if take.slots[0].lower() not in self._progress.used]
        takes = [take for take in takes if self._scene.tried[take.text] < 2]
        if takes:
            return Choice(min(takes, key=self._preference).text, "I need this in hand first.")
        return self._seek(theme, hint)

    def _seek(self, theme: Want, hint: str) -> Choice | None:
        """Go where a fitting thing was seen, else search for it."""
        for name, place in self._scene.sightings():
            elsewhere = place != self._scene.here and self._scene.places[place].visits <= _VISITS
            if elsewhere and name not in self._progress.used and theme.accepts(name, self._knowledge):
                way = self._go({place}.__contains__)
                if way is not None:
                    return way
        return self._explore(hint)

    def _reach(self, want: Want) -> Choice | None:
        """Go to a wanted place, or to where a wanted thing was seen; open it when there already."""
        fits = {name for name, _ in self._scene.sightings() if want.accepts(name, self._knowledge)}
        seen_at = {place for name, place in self._scene.sightings() if name in fits}
        rooms = {place for place in seen_at if self._scene.places[place].visits <= _VISITS}
        opening = self._opening(want)
        if opening is not None:
            return opening
        if self._scene.here in rooms and self._scene.here not in fits:
            rooms = set()
        return self._go(lambda there: there in rooms or want.accepts(there, self._knowledge))

    def _opening(self, want: Want) -> Choice | None:
        """Open a wanted thing that is closed here."""
        fitting = (one for one in self._offers.openings() if want.accepts(one.slots[0], self._knowledge))
        opening = next(fitting, None)
        return Choice(opening.text, "It is closed.") if opening is not None else None

    def _go(self, wanted: Callable[[str], bool]) -> Choice | None:
        moves = [move for move in self._offers.moves() if wanted(move.destination)]
        if not moves:
            return None
        return Choice(min(moves, key=self._place_preference).command.text, "That is where I need to be.")

    def _place_preference(self, move: Move) -> tuple[bool, int, float]:
        name = move.destination
        visits = self._scene.places[name].visits if name in self._scene.places else 0
        return name not in self._scene.placed.values(), visits, self._draws.uniform(name, "search")

    # -- searching

    def _explore(self, hint: str) -> Choice | None:
        look = self._offers.look()
        if look is not None:
            return Choice(look.text, "I look where I am.")
        openings = self._offers.openings()
        if openings:
            return Choice(openings[0].text, "It may be in there.")
        moves = self._offers.moves()
        if moves and self._draws.happens(self._mind.parameters.p_wander, self._step, "wander"):
            texts = self._draws.shuffled([move.command.text for move in moves], self._step, "wander")
            return Choice(texts[0], "I look around.")
        fresh = [move for move in moves if not self._scene.searched(move.destination)]
        if not fresh:
            return None
        best = min(fresh, key=lambda move: self._search_order(move, hint))
        return Choice(best.command.text, "I have not looked there yet.")

    def _search_order(self, move: Move, hint: str) -> tuple[bool, bool, float]:
        """Places of the hinted kind, then rooms that the goal names, then the others in the draw's order."""
        words = self._knowledge.lexicon.content(move.destination)
        hinted = bool(hint) and words == self._knowledge.lexicon.content(hint)
        named = self._scene.has_rooms and words <= self._mind.goal.words
        return not hinted, not named, self._draws.uniform(move.destination, "search")

    # -- improvising

    def _improvise(self) -> Choice:
        look = self._offers.look()
        if look is not None:
            return Choice(look.text, "I look where I am.")
        scored = [(self._appeal(command), command.text) for command in self._offers.everything()]
        if not scored:
            return Choice("look around", "I see nothing to do.")
        return Choice(max(scored)[1], "This may bring me nearer to the goal.")

    def _appeal(self, command: Command) -> float:
        """How much an action promises by its words alone: overlap with the goal, newness, and noise."""
        kind, content = self._knowledge.is_verb, self._knowledge.lexicon.content
        goal = self._mind.goal.words
        overlap = len(content(command.text) & goal)
        noise = self._mind.parameters.naive_noise * self._draws.uniform(self._step, command.text, "improvise")
        score = noise - self._scene.tried[command.text]
        if command.template in self._mind.irreversible or self._warned(command):
            return score - _NEVER
        if kind("navigate", command.verb) and command.slots:
            return score + 0.5 * overlap + (0.0 if self._scene.searched(command.slots[0].lower()) else 0.4)
        if kind("open", command.verb):
            return score + 0.8 + overlap
        if kind("look", command.verb):
            return score - 0.3 + 0.3 * overlap
        if kind("close", command.verb):
            return score - 1.0
        theme = content(command.slots[0]) if command.slots else frozenset()
        if kind("take", command.verb):
            return score + (1.5 if theme and theme <= goal else -1.0)
        if kind("release", command.verb):
            return score + (overlap if len(command.slots) > 1 and content(command.slots[1]) <= goal else -1.0)
        return score + overlap - 0.5

    def _warned(self, command: Command) -> bool:
        return any(self._forbids(step, command) for step in self._mind.avoided)

    def _forbids(self, step: Command, command: Command) -> bool:
        """Whether a warning names this action, and the goal does not ask for it."""
        if step.template != command.template or self._knowledge.lexicon.content(step.verb) & self._mind.goal.words:
            return False
        pairs: Sequence[tuple[str, str]] = list(zip(step.slots, command.slots, strict=True))
        return all(own.startswith("{") or own.lower() == name.lower() for own, name in pairs)
