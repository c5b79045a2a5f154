"""The world as remembered from the observations: where the agent is, what it saw where, what it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from strata.backbone.simulated.grammar import Command
from strata.backbone.simulated.knowledge import Knowledge

_NAME = re.compile(
    r"\b(?:an?|the|called|some)\s+(?:substance called\s+)?([a-z][a-z0-9'-]*(?:\s+[a-z0-9'-]+){0,4}?)"
    r"(?=\s*[,.():;\n]|\s+(?:that|which|currently|is|are|on|in|from|to|and|with|using|into|containing)\b|\s*$)",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:called|arrive at|move to|teleport to|you are in) (?:the )?([a-z][a-z0-9 ]*?)(?=[.,\n]|$)", re.IGNORECASE
)
_DOOR = re.compile(r"\bdoor to (?:the )?([a-z ]+?) \(that is (open|closed)\)", re.IGNORECASE)
_CLOSED = re.compile(r"\bthe ([a-z0-9 ]+?)(?: door)? is closed", re.IGNORECASE)
_SHOWS = re.compile(r"\byou (?:also )?see\b|\bis closed\b", re.IGNORECASE)
_NOTHING = frozenset(["agent", "air", "door", "nothing"])
_DOOR_TO = "door to "


@dataclass(frozen=True, slots=True)
class Perception:
    """What one observation mentions. Names are lower-case, without article; doors are (room, open).

    `shows` says that it describes a place.
    """

    names: tuple[str, ...]
    called: str
    doors: tuple[tuple[str, bool], ...]
    closed: tuple[str, ...]
    refused: bool
    shows: bool


def perceive(text: str, knowledge: Knowledge) -> Perception:
    """Read an observation."""
    called = _CALLED.search(text)
    names = (found.lower() for found in _NAME.findall(text))
    return Perception(
        names=tuple(dict.fromkeys(name for name in names if name not in _NOTHING)),
        called=called[1].lower().strip() if called else "",
        doors=tuple((room.lower(), state.lower() == "open") for room, state in _DOOR.findall(text)),
        closed=tuple(name.lower() for name in _CLOSED.findall(text)),
        refused=knowledge.cues.refuses(text),
        shows=_SHOWS.search(text) is not None,
    )


@dataclass(slots=True)
class Place:
    """A place or room: how often it was entered, whether it was looked at, what is in it, what is closed, its doors."""

    visits: int = 0
    looked: bool = False
    seen: dict[str, None] = field(default_factory=dict)
    closed: dict[str, None] = field(default_factory=dict)
    doors: dict[str, bool] = field(default_factory=dict)


class Scene:
    """Memory of the episode so far. `placed` maps what was put somewhere to where; `tried` counts actions."""

    def __init__(self, knowledge: Knowledge, first: Perception) -> None:
        self._knowledge = knowledge
        self.places: dict[str, Place] = {}
        self.here = first.called
        self.held: dict[str, None] = {}
        self.placed: dict[str, str] = {}
        self.tried: Counter[str] = Counter()
        self.place(self.here).visits += 1
        self._take_in(first)
        self.room.looked = True
        self.first_names = first.names

    @property
    def has_rooms(self) -> bool:
        """Whether the world is made of rooms with doors, rather than of places in one room."""
        return any(place.doors for place in self.places.values())

    @property
    def room(self) -> Place:
        """The place where the agent is."""
        return self.place(self.here)

    def place(self, name: str) -> Place:
        """The record of a place, made when it is new."""
        found = self.places.get(name)
        if found is None:
            found = self.places[name] = Place()
        return found

    def sightings(self) -> Iterator[tuple[str, str]]:
        """(name, place) of everything remembered, in the order of the first visits."""
        return ((name, at) for at, place in self.places.items() for name in place.seen)

    def searched(self, name: str) -> bool:
        """Whether a place was entered and nothing in it is closed."""
        place = self.places.get(name)
        return place is not None and place.visits > 0 and not place.closed

    def apply(self, command: Command | None, action: str, seen: Perception) -> bool:
        """Take in an action and its observation. Returns whether the action did something."""
        self.tried[action] += 1
        if command is None:
            return False
        name = command.slots[0].lower() if command.slots else ""
        kind = self._knowledge.is_verb
        if kind("open", command.verb):
            self._opened(name)
        if seen.refused:
            return False
        if kind("navigate", command.verb) and name:
            self._moved(seen.called or name)
        elif command.verb.startswith("look") and not command.slots:
            self.room.looked = True
        elif kind("take", command.verb):
            self._took(name)
        elif kind("release", command.verb) and name:
            self._put(name, command.slots[1].lower() if len(command.slots) > 1 else self.here)
        if self._shows_surroundings(command):
            self._take_in(seen)
        return True

    def _shows_surroundings(self, command: Command) -> bool:
        """Whether what is named after a command is here: not after reading the task, a text or the inventory."""
        is_look = self._knowledge.is_verb("look", command.verb)
        return not is_look or command.verb.startswith(("look", "examine", "inspect"))

    def _moved(self, name: str) -> None:
        """Enter a place. Where it was entered by a door, the same door leads back."""
        before, self.here = self.here, name
        self.room.visits += 1
        if name in self.place(before).doors:
            self.room.doors.setdefault(before, True)

    def _take_in(self, seen: Perception) -> None:
        room = self.room
        room.doors.update(seen.doors)
        known = {self.here, f"the {self.here}", *self.held, *self.placed}
        room.seen.update(dict.fromkeys(name for name in seen.names if name not in known))
        room.looked = room.looked or seen.shows
        room.closed.update(dict.fromkeys(name for name in seen.closed if not name.startswith("door")))

    def _opened(self, name: str) -> None:
        """Whether it opened or was found open or locked: it needs no opening any more."""
        if name.startswith(_DOOR_TO):
            self.room.doors[name.removeprefix(_DOOR_TO)] = True
        else:
            self.room.closed.pop(name, None)

    def _took(self, name: str) -> None:
        self.held[name] = None
        self.placed.pop(name, None)
        self._forget(name)

    def _put(self, name: str, target: str) -> None:
        self.held.pop(name, None)
        self._forget(name)
        self.placed[name] = target
        self.place(target if target in self.places else self.here).seen[name] = None

    def _forget(self, name: str) -> None:
        for place in self.places.values():
            place.seen.pop(name, None)
