"""The commands that win a generated game, constructed from full knowledge of its layout."""

from __future__ import annotations

from collections.abc import Mapping

from envs.alfworld.generator.floors import Household, Place
from envs.alfworld.generator.goals import Goal
from envs.alfworld.generator.layout import Layout

_VERBS = {"SinkBasin": "clean", "Microwave": "heat", "Fridge": "cool"}


def construct(household: Household, layout: Layout, goal: Goal, names: Mapping[str, str]) -> list[str]:
    """Take, treat where asked, and bring; `names` maps ids of places and things to what the player calls them."""
    walk = _Walk(household, names)
    things = layout.of_kind(goal.object)[: goal.needed]
    if goal.lit:
        lamp = layout.of_kind(goal.place)[0]
        walk.take(things[0].id, things[0].place)
        walk.go(lamp.place)
        walk.say(f"use {names[lamp.id]}")
        return walk.commands
    target = next(place for place in layout.floor.places if place.kind == goal.place)
    for thing in things:
        walk.take(thing.id, thing.place)
        if goal.treated_at:
            tool = next(place for place in layout.floor.places if place.kind == goal.treated_at)
            walk.go(tool)
            walk.say(f"{_VERBS[goal.treated_at]} {names[thing.id]} with {names[tool.id]}")
        walk.go(target)
        walk.open(target)
        walk.say(f"move {names[thing.id]} to {names[target.id]}")
    return walk.commands


class _Walk:
    def __init__(self, household: Household, names: Mapping[str, str]) -> None:
        self.commands: list[str] = []
        self._openable = household.openable
        self._names = names
        self._opened: set[str] = set()
        self._location = ""

    def say(self, command: str) -> None:
        self.commands.append(command)

    def go(self, place: Place) -> None:
        """Places may share a location; the engine has no command for going where one is."""
        if place.location != self._location:
            self._location = place.location
            self.say(f"go to {self._names[place.id]}")

    def open(self, place: Place) -> None:
        if place.kind in self._openable and place.id not in self._opened:
            self._opened.add(place.id)
            self.say(f"open {self._names[place.id]}")

    def take(self, thing: str, place: Place) -> None:
        self.go(place)
        self.open(place)
        self.say(f"take {self._names[thing]} from {self._names[place.id]}")
