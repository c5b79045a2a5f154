"""Floor plans and household rules as the alfworld wheel ships them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from envs.alfworld.package import load_alfworld

_ADDED = {"StoveBurner": 4, "Drawer": 3, "Shelf": 2, "TowelHolder": 1, "HandTowelHolder": 1}
"""How many of a kind stand in a room whose plan names the kind but gives no position. Others: one."""

_HEIGHT = {"TowelHolder": 1.3, "HandTowelHolder": 1.7, "GarbageCan": 0.0, "Toilet": 0.0, "LaundryHamper": 0.0}
"""Height of an added place in metres. Others: that of a counter."""

FIXTURES = {
    "DeskLamp": ("Desk", "SideTable", "Dresser", "DiningTable", "Shelf"),
    "HousePlant": ("CounterTop", "SideTable", "DiningTable", "CoffeeTable", "Dresser", "Shelf"),
    "Television": ("TVStand", "Dresser", "SideTable"),
}
"""Objects that stand somewhere and cannot be taken -> where, in order of preference."""


@dataclass(frozen=True, slots=True)
class Place:
    """A receptacle: its id (`Cabinet|+00.65|+00.48|+00.24`), kind, and the location from which it is reached."""

    id: str
    kind: str
    location: str

    @property
    def position(self) -> tuple[float, float, float]:
        """x, y (up), z in metres."""
        x, y, z = self.id.split("|")[1:4]
        return float(x), float(y), float(z)


@dataclass(frozen=True, slots=True)
class Floor:
    """A room: its places, the kinds of objects that lie about in it and that stand in it, and where one can stand."""

    number: int
    room: str
    places: tuple[Place, ...]
    kinds: tuple[str, ...]
    fixtures: tuple[str, ...]
    spots: tuple[tuple[float, float], ...]

    def has(self, kind: str) -> bool:
        """Whether there is a place of that kind."""
        return any(place.kind == kind for place in self.places)


class Household:
    """The rules that hold in every room, and the rooms."""

    def __init__(self) -> None:
        load_alfworld()
        from alfworld.gen import constants

        movable = constants.MOVABLE_RECEPTACLES_SET
        self.takes: Mapping[str, frozenset[str]] = {
            place: frozenset(kind for kind in kinds if not kind.endswith("Sliced"))
            for place, kinds in constants.VAL_RECEPTACLE_OBJECTS.items()
            if place not in movable
        }
        self.openable = frozenset(constants.OPENABLE_CLASS_LIST) - movable
        self.movable = frozenset(movable)
        self.actions: Mapping[str, frozenset[str]] = {
            name: frozenset(kinds) for name, kinds in constants.VAL_ACTION_OBJECTS.items()
        }
        self.rooms: Mapping[str, frozenset[str]] = {
            task: frozenset(rooms) for task, rooms in constants.GOALS_VALID.items()
        }
        self._scene_type: Mapping[str, Iterable[int]] = constants.SCENE_TYPE
        self.test_floors = frozenset(constants.TEST_SCENE_NUMBERS)
        self.train_floors = frozenset(constants.TRAIN_SCENE_NUMBERS)

    def floor(self, number: int) -> Floor:
        """Read a floor plan. What its object list names but no position is given for is put at a fixed random one."""
        import numpy

        folder = files("alfworld") / "gen" / "layouts"
        poses: dict[str, Any] = json.loads((folder / f"FloorPlan{number}-openable.json").read_text())
        named = set(json.loads((folder / f"FloorPlan{number}-objects.json").read_text()))
        with (folder / f"FloorPlan{number}-layout.npy").open("rb") as file:
            spots = tuple((float(x), float(z)) for x, z in numpy.load(file, allow_pickle=False))
        places = [Place(id, _kind(id), _location(*pose)) for id, pose in sorted(poses.items())]
        rng = random.Random(f"places of floor plan {number}")
        for kind in sorted((named & set(self.takes)) - {place.kind for place in places}):
            places += _add(kind, spots, {place.location for place in places}, rng)
        lying = frozenset().union(*self.takes.values())
        return Floor(
            number=number,
            room=next(room for room, numbers in self._scene_type.items() if number in numbers),
            places=tuple(sorted(places, key=lambda place: place.id)),
            kinds=tuple(sorted(named & lying)),
            fixtures=tuple(kind for kind in FIXTURES if kind in named),
            spots=spots,
        )


def _add(kind: str, spots: tuple[tuple[float, float], ...], taken: set[str], rng: random.Random) -> list[Place]:
    added: list[Place] = []
    while len(added) < _ADDED.get(kind, 1):
        x, z = rng.choice(spots)
        turn = rng.randrange(4)
        location = _location(x, z, 90 * turn, 30)
        if location in taken:
            continue
        taken.add(location)
        ahead_x, ahead_z = ((0.0, 0.5), (0.5, 0.0), (0.0, -0.5), (-0.5, 0.0))[turn]
        height = _HEIGHT.get(kind, 0.9) + 0.01 * len(added)
        suffix = "|SinkBasin" if kind == "SinkBasin" else ""
        name = "Sink" if kind == "SinkBasin" else kind
        added.append(Place(f"{name}{coordinates(x + ahead_x, height, z + ahead_z)}{suffix}", kind, location))
    return added


def coordinates(x: float, y: float, z: float) -> str:
    """`|+00.65|-01.20|+00.24`, as in the official ids."""
    return "".join(f"|{round(value, 2) + 0.0:+06.2f}" for value in (x, y, z))


def _kind(id: str) -> str:
    parts = id.split("|")
    return parts[-1] if parts[-1].isalpha() else parts[0]


def _location(x: float, z: float, turn: float, tilt: float) -> str:
    """Where to stand, in quarter metres and quarter turns: `loc|-1|3|1|30`."""
    return f"loc|{round(4 * x)}|{round(4 * z)}|{round(turn / 90)}|{round(tilt)}"
