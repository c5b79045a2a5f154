"""What the games of a split ask for, and in which rooms."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from envs.alfworld.generator.floors import Floor, Household
from strata.canonical import digest

COUNTS: Mapping[str, Mapping[str, int]] = {
    "valid_unseen": {
        "pick_and_place_simple": 24,
        "look_at_obj_in_light": 18,
        "pick_clean_then_place_in_recep": 31,
        "pick_heat_then_place_in_recep": 23,
        "pick_cool_then_place_in_recep": 21,
        "pick_two_obj_and_place": 17,
    },
    "valid_seen": {
        "pick_and_place_simple": 35,
        "look_at_obj_in_light": 13,
        "pick_clean_then_place_in_recep": 27,
        "pick_heat_then_place_in_recep": 16,
        "pick_cool_then_place_in_recep": 25,
        "pick_two_obj_and_place": 24,
    },
    "train": {
        "pick_and_place_simple": 79,
        "look_at_obj_in_light": 31,
        "pick_clean_then_place_in_recep": 65,
        "pick_heat_then_place_in_recep": 46,
        "pick_cool_then_place_in_recep": 53,
        "pick_two_obj_and_place": 81,
    },
}
"""Games per split and task type: as many as the official evaluation splits have, a tenth of the training split."""

_TRIALS = 3
"""Games with the same goal in the same room, objects lying elsewhere. So it is in the official data."""

_PLACES = range(11, 32)
"""Numbers of places with which a room is used: fewer need no search; the official evaluation rooms have 13 to 27."""

_SINGLE = {"StoveBurner", "Toaster", "CoffeeMachine", "ToiletPaperHanger", "TowelHolder", "HandTowelHolder"}

_TREATMENT = {
    "pick_clean_then_place_in_recep": ("Cleanable", "SinkBasin"),
    "pick_heat_then_place_in_recep": ("Heatable", "Microwave"),
    "pick_cool_then_place_in_recep": ("Coolable", "Fridge"),
}
"""Task type -> which objects can be treated so, and where."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A task type with its object and place kinds. `place` is the lamp for the light task."""

    task_type: str
    object: str
    place: str

    @property
    def lit(self) -> bool:
        """Whether the object is to be held under a lamp instead of put somewhere."""
        return self.task_type == "look_at_obj_in_light"

    @property
    def treated_at(self) -> str:
        """The kind of place that cleans, heats or cools the object; empty when nothing of the sort is asked."""
        return _TREATMENT.get(self.task_type, ("", ""))[1]

    @property
    def needed(self) -> int:
        """How many objects have to be moved."""
        return 2 if self.task_type == "pick_two_obj_and_place" else 1


@dataclass(frozen=True, slots=True)
class Draft:
    """One game to be made: `key` seeds all that is random in it."""

    id: str
    goal: Goal
    floor: int
    trial: int
    key: str


def draft_split(household: Household, split: str, seed: int) -> Iterator[Draft]:
    """The games of a split. Unseen rooms are those that no other split uses; each split draws from its own stream."""
    numbers = household.test_floors if split == "valid_unseen" else household.train_floors
    floors = [floor for floor in map(household.floor, sorted(numbers)) if len(floor.places) in _PLACES]
    for task_type, wanted in COUNTS[split].items():
        rng = random.Random(f"{seed}/{split}/{task_type}")
        groups = _groups(household, floors, task_type, rng)
        for number in range(wanted):
            if number % _TRIALS == 0:
                goal, floor = next(groups)
            trial = number % _TRIALS
            folder = _folder(goal, floor)
            key = f"{seed}/{split}/{folder}/{trial}"
            yield Draft(f"{folder}/trial_{digest(key)[:16]}", goal, floor, trial, key)


def _groups(
    household: Household, floors: list[Floor], task_type: str, rng: random.Random
) -> Iterator[tuple[Goal, int]]:
    """Distinct goals with their rooms, for ever (a room has far more than any split asks for)."""
    options: dict[str, dict[int, list[Goal]]] = {}
    for floor in floors:
        goals = possible_goals(household, floor, task_type)
        if goals:
            options.setdefault(floor.room, {})[floor.number] = goals
    used: set[tuple[Goal, int]] = set()
    for _ in count():
        room = options[rng.choice(sorted(options))]
        number = rng.choice(sorted(room))
        chosen = rng.choice(room[number]), number
        if chosen not in used:
            used.add(chosen)
            yield chosen


def possible_goals(household: Household, floor: Floor, task_type: str) -> list[Goal]:
    """Goals of a type that make sense in a room: the object can lie elsewhere and is accepted by the place."""
    if floor.room not in household.rooms[task_type]:
        return []
    if task_type == "look_at_obj_in_light":
        lit = "DeskLamp" in floor.fixtures
        return [Goal(task_type, kind, "DeskLamp") for kind in floor.kinds if lit and _lies(household, floor, kind, "")]
    ability, treated_at = _TREATMENT.get(task_type, ("", ""))
    if treated_at and not floor.has(treated_at):
        return []
    kinds = [kind for kind in floor.kinds if not ability or kind in household.actions[ability]]
    places = sorted({place.kind for place in floor.places} - {treated_at})
    return [
        Goal(task_type, kind, place)
        for kind in kinds
        for place in places
        if kind in household.takes[place]
        and not (task_type == "pick_two_obj_and_place" and place in _SINGLE)
        and _lies(household, floor, kind, place)
    ]


def _lies(household: Household, floor: Floor, kind: str, besides: str) -> bool:
    """Whether there are at least two places of another kind than `besides` where an object may lie."""
    return sum(place.kind != besides and kind in household.takes[place.kind] for place in floor.places) >= 2


def _folder(goal: Goal, floor: int) -> str:
    return f"{goal.task_type}-{goal.object}-None-{goal.place}-{floor}"
