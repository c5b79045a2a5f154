"""What can be done now: listed by the environment, or made from the action templates and what the agent remembers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Protocol

from strata.backbone.simulated.goal import Goal
from strata.backbone.simulated.grammar import Command, Grammar
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.plan import PlanStep, Want
from strata.backbone.simulated.scene import Scene
from strata.backbone.simulated.words import noun

_MOST = 60


@dataclass(frozen=True, slots=True)
class Move:
    """A command that brings the agent to, or one step nearer to, a place."""

    command: Command
    destination: str


class Offers(Protocol):
    """The agent's possibilities at one moment. `certain` says that every one of them is known to be possible."""

    certain: bool

    def fitting(self, step: PlanStep) -> list[Command]:
        """Complete commands that carry a step out."""
        ...

    def takes(self, want: Want) -> list[Command]:
        """Commands that take something fitting into the hand."""
        ...

    def moves(self) -> list[Move]:
        """Ways to other places, one for each."""
        ...

    def openings(self) -> list[Command]:
        """Commands that open what is closed here."""
        ...

    def look(self) -> Command | None:
        """The command that looks around, when nothing is known of this place."""
        ...

    def everything(self) -> list[Command]:
        """What comes to mind without a plan."""
        ...


class Listed:
    """Possibilities of an environment that lists its admissible commands."""

    certain = True

    def __init__(self, grammar: Grammar, knowledge: Knowledge, scene: Scene, admissible: Iterable[str]) -> None:
        self._knowledge = knowledge
        self._scene = scene
        commands = (grammar.command(text) for text in admissible)
        self._commands = [command for command in commands if command is not None]

    def fitting(self, step: PlanStep) -> list[Command]:
        """Admissible commands of the step's template whose names fit."""
        return [command for command in self._commands if step.matches(command, self._knowledge)]

    def takes(self, want: Want) -> list[Command]:
        """Admissible takings of something fitting."""
        return [command for command in self._of("take") if want.accepts(command.slots[0], self._knowledge)]

    def moves(self) -> list[Move]:
        """Admissible moves."""
        return [Move(command, command.slots[0].lower()) for command in self._of("navigate")]

    def openings(self) -> list[Command]:
        """Admissible openings of what is known to be closed here."""
        return [command for command in self._of("open") if command.slots[0].lower() in self._scene.room.closed]

    def look(self) -> Command | None:
        """Never needed: a move shows the place."""
        return None

    def everything(self) -> list[Command]:
        """All admissible commands."""
        return self._commands

    def _of(self, kind: str) -> list[Command]:
        return [command for command in self._commands if command.slots and self._knowledge.is_verb(kind, command.verb)]


class Imagined:
    """Possibilities made from templates, for an environment that lists none.

    What is here is what was seen here or is held, under the names that the prompt lists where it lists any. Places are
    reached through doors; a world without doors is one room whose first observation names its places.
    """

    certain = False

    def __init__(
        self, grammar: Grammar, knowledge: Knowledge, scene: Scene, goal: Goal, objects: Sequence[str]
    ) -> None:
        self._grammar = grammar
        self._knowledge = knowledge
        self._scene = scene
        self._goal = goal
        self._objects = [name.lower() for name in objects]

    @property
    def _names(self) -> list[str]:
        place = () if self._scene.has_rooms else (self._scene.here,)
        seen = [*self._scene.held, *self._scene.room.seen, *place]
        return _listed_names(seen, self._objects) if self._objects else seen

    def fitting(self, step: PlanStep) -> list[Command]:
        """The step with every choice of present names that fits its slots."""
        choices = [self._choices(want) for want in step.wants]
        filled = (slots for slots in product(*choices) if len(set(slots)) == len(slots))
        return [self._fill(step.command, slots) for slots in islice(filled, _MOST)]

    def takes(self, want: Want) -> list[Command]:
        """Takings of fitting names that are here and not held."""
        names = [name for name in self._choices(want) if name not in self._scene.held]
        templates = [one for one in self._grammar.templates if self._knowledge.is_verb("take", one.verb)]
        return [
            self._grammar.fill(template, [name, *[self._scene.here] * (len(template.roles) - 1)])
            for template in templates
            for name in names
        ]

    def moves(self) -> list[Move]:
        """The first step of the shortest known way to every known place."""
        if not self._scene.has_rooms:
            return self._flat_moves()
        first: dict[str, str] = {}
        queue = [self._scene.here]
        while queue:
            room = queue.pop(0)
            for other in self._scene.places[room].doors if room in self._scene.places else ():
                if other not in first and other != self._scene.here:
                    first[other] = first.get(room, other)
                    queue.append(other)
        return [Move(hop, room) for room, way in first.items() if (hop := self._hop(way)) is not None]

    def openings(self) -> list[Command]:
        """Openings of what is closed here and was not tried."""
        opens = [self._one("open", name) for name in self._scene.room.closed]
        return [command for command in opens if command is not None and not self._scene.tried[command.text]]

    def look(self) -> Command | None:
        """Looking around, where that was not done yet."""
        if self._scene.room.looked:
            return None
        template = next((one for one in self._grammar.templates if one.text in ("look around", "look")), None)
        return self._grammar.fill(template, []) if template is not None else None

    def everything(self) -> list[Command]:
        """Moves, openings, acts on single things here, and putting what is held to the goal's things."""
        found = [move.command for move in self.moves()] + self.openings()
        for template in self._grammar.templates:
            kind = template.verb
            if any(self._knowledge.is_verb(other, kind) for other in ("navigate", "open", "meddle")):
                continue
            if len(template.roles) == 1:
                found += [self._grammar.fill(template, [name]) for name in self._at_hand(kind)]
            elif len(template.roles) == 2 and self._knowledge.is_verb("release", kind):
                targets = [name for name in self._names if self._knowledge.lexicon.content(name) <= self._goal.targets]
                pairs = product(self._scene.held, targets)
                found += [self._grammar.fill(template, pair) for pair in islice(pairs, _MOST)]
            elif not template.roles:
                found.append(self._grammar.fill(template, []))
        return found

    def _at_hand(self, verb: str) -> list[str]:
        """Things to try an act on; looking closer is worth it only for what the goal's words name."""
        things = [name for name in self._names if name not in self._scene.places]
        if not self._knowledge.is_verb("look", verb):
            return things
        return [name for name in things if self._knowledge.lexicon.content(name) & self._goal.words]

    def _choices(self, want: Want) -> list[str]:
        if want.role == "source" and want.free:
            return [self._scene.here]
        return [name for name in self._names if want.accepts(name, self._knowledge)]

    def _fill(self, command: Command, slots: Sequence[str]) -> Command:
        template = next(one for one in self._grammar.templates if one.text == command.template)
        return self._grammar.fill(template, slots)

    def _one(self, kind: str, name: str) -> Command | None:
        single = (one for one in self._grammar.templates if len(one.roles) == 1)
        template = next((one for one in single if self._knowledge.is_verb(kind, one.verb)), None)
        return self._grammar.fill(template, [name]) if template is not None else None

    def _hop(self, room: str) -> Command | None:
        if self._scene.room.doors.get(room):
            return self._one("navigate", room)
        return self._one("open", f"door to {room}")

    def _flat_moves(self) -> list[Move]:
        numbered = [name for name in self._scene.first_names if name != noun(name) and name != self._scene.here]
        moves = ((self._one("navigate", name), name) for name in numbered)
        return [Move(command, name) for command, name in moves if command is not None]


def _listed_names(seen: Sequence[str], objects: Sequence[str]) -> list[str]:
    """The listed names of things that are here: those seen here under that name or a longer one."""
    ends = {tuple(name.split()[-length:]) for name in seen for length in range(1, len(name.split()) + 1)}
    return [name for name in objects if tuple(name.split()) in ends]
