"""Where the objects of a game lie."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from envs.alfworld.generator.floors import FIXTURES, Floor, Household, Place, coordinates
from envs.alfworld.generator.goals import Goal

_INSTANCES = ((1, 2, 3), (37, 35, 28))
"""How many of a kind lie in a room, with weights: the official games' frequencies."""

_TREATED_INSTANCES = ((1, 2, 3), (22, 33, 45))
"""The same for what is to be cleaned, heated or cooled, which the official games have more of."""

_ATTRACTION = {
    "CounterTop": (7.0, 18),
    "Fridge": (6.0, 11),
    "DiningTable": (6.0, 14),
    "Dresser": (5.5, 9),
    "Desk": (5.0, 9),
    "Bed": (5.0, 7),
    "CoffeeTable": (4.0, 8),
    "SideTable": (3.0, 6),
    "ArmChair": (2.5, 4),
    "Sofa": (2.5, 5),
    "SinkBasin": (2.5, 8),
    "Toilet": (2.0, 4),
    "GarbageCan": (1.5, 6),
    "CoffeeMachine": (0.4, 1),
    "StoveBurner": (1.0, 1),
    "ToiletPaperHanger": (0.3, 1),
    "TowelHolder": (1.0, 1),
    "HandTowelHolder": (0.7, 1),
}
"""Kind of place -> how strongly it draws objects and how many it holds, after the official games."""

_DEFAULT_ATTRACTION = (1.1, 4)


@dataclass(frozen=True, slots=True)
class Thing:
    """An object, what it is and where it lies."""

    id: str
    kind: str
    place: Place


@dataclass(frozen=True, slots=True)
class Layout:
    """A furnished room and the location where the agent starts, from which no place is in reach."""

    floor: Floor
    things: tuple[Thing, ...]
    start: str

    def of_kind(self, kind: str) -> list[Thing]:
        """All objects of a kind."""
        return [thing for thing in self.things if thing.kind == kind]

    @property
    def scene(self) -> tuple[tuple[str, str], ...]:
        """What lies where: equal for two layouts that differ in coordinates only."""
        return tuple(sorted((thing.place.id, thing.kind) for thing in self.things))


def furnish(household: Household, floor: Floor, goal: Goal, key: str) -> Layout:
    """Put fixtures, the goal's objects and then everything else into a room. Equal keys give equal rooms."""
    rng = random.Random(key)
    filling = _Filling(household, floor, rng)
    for kind in floor.fixtures:
        filling.stand(kind)
    # An object to be moved as it is must not lie where it is to go: the game would be won or half won at its start.
    forbidden = "" if goal.treated_at or goal.lit else goal.place
    wanted = max(goal.needed, rng.choices(*(_TREATED_INSTANCES if goal.treated_at else _INSTANCES))[0])
    filling.scatter(goal.object, wanted, forbidden)
    for kind in floor.kinds:
        if kind != goal.object:
            filling.scatter(kind, rng.choices(*_INSTANCES)[0], "")
    return Layout(floor, tuple(sorted(filling.things, key=lambda thing: thing.id)), _start(floor, rng))


class _Filling:
    def __init__(self, household: Household, floor: Floor, rng: random.Random) -> None:
        self.things: list[Thing] = []
        self._household = household
        self._floor = floor
        self._rng = rng
        self._held: Counter[str] = Counter()
        self._ids: set[str] = set()

    def stand(self, kind: str) -> None:
        """Put a fixture on the first kind of place that the room has for it."""
        for wanted in FIXTURES[kind]:
            places = [place for place in self._floor.places if place.kind == wanted]
            if places:
                self._put(kind, self._rng.choice(places))
                return

    def scatter(self, kind: str, number: int, forbidden: str) -> None:
        """Put up to `number` objects on places that take them and have room, none on a place of a forbidden kind."""
        for _ in range(number):
            places = [
                place
                for place in self._floor.places
                if place.kind != forbidden
                and kind in self._household.takes[place.kind]
                and self._held[place.id] < _ATTRACTION.get(place.kind, _DEFAULT_ATTRACTION)[1]
            ]
            if not places:
                return
            weights = [_ATTRACTION.get(place.kind, _DEFAULT_ATTRACTION)[0] for place in places]
            self._put(kind, self._rng.choices(places, weights)[0])

    def _put(self, kind: str, place: Place) -> None:
        x, y, z = place.position
        while True:
            shift = self._rng.uniform(-0.35, 0.35), self._rng.uniform(0.02, 0.15), self._rng.uniform(-0.35, 0.35)
            id = kind + coordinates(x + shift[0], y + shift[1], z + shift[2])
            if id not in self._ids:
                break
        self._ids.add(id)
        self._held[place.id] += 1
        self.things.append(Thing(id, kind, place))


def _start(floor: Floor, rng: random.Random) -> str:
    taken = {place.location for place in floor.places}
    while True:
        x, z = rng.choice(floor.spots)
        location = f"loc|{round(4 * x)}|{round(4 * z)}|{rng.randrange(4)}|30"
        if location not in taken:
            return location
