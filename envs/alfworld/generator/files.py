"""The two files of a generated game, in the format of the official ones."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from envs.alfworld.generator.floors import Household
from envs.alfworld.generator.goals import Draft, Goal
from envs.alfworld.generator.layout import Layout, furnish
from envs.alfworld.generator.walkthrough import construct
from envs.alfworld.names import shown_names
from envs.alfworld.package import load_alfworld
from strata.types import Json

_SPELLING = {"|": "_bar_", "+": "_plus_", "-": "_minus_", ".": "_dot_"}
_ABILITIES = {"cleanable": "Cleanable", "heatable": "Heatable", "coolable": "Coolable", "sliceable": "Sliceable"}


@dataclass(frozen=True, slots=True)
class GameFiles:
    """Content of `game.tw-pddl` and `traj_data.json`, and the commands that win."""

    game: bytes
    trajectory: bytes
    walkthrough: tuple[str, ...]


class Composer:
    """Turns drafts into files. Pure: a draft gives the same bytes wherever it is composed."""

    def __init__(self) -> None:
        load_alfworld()
        from alfworld.gen import goal_library

        self.household = Household()
        self._library = goal_library.gdict
        data = files("alfworld") / "data"
        self._domain = (data / "alfred.pddl").read_text()
        self._grammar = (data / "alfred.twl2").read_text()

    def compose(self, draft: Draft) -> GameFiles:
        """The files of a game."""
        layout = self.layout(draft)
        goal, trial = draft.goal, draft.id.split("/")[1]
        sentence = self._sentence(goal, draft.key)
        names = _names(layout)
        walkthrough = construct(self.household, layout, goal, names)
        game = {
            "pddl_domain": self._domain,
            "grammar": self._grammar.replace("UNKNOWN GOAL", sentence),
            "pddl_problem": self._problem(layout, goal, trial),
            "solvable": True,
            "walkthrough": walkthrough,
        }
        trajectory = _trajectory(draft, sentence, walkthrough)
        return GameFiles(_json(game), _json(trajectory), tuple(walkthrough))

    def layout(self, draft: Draft) -> Layout:
        """The room of a draft, furnished unlike those of the earlier trials with its goal and room."""
        floor = self.household.floor(draft.floor)
        stem = draft.key.rsplit("/", 1)[0]
        scenes: set[tuple[tuple[str, str], ...]] = set()
        for trial in range(draft.trial + 1):
            attempt = 0
            layout = furnish(self.household, floor, draft.goal, f"{stem}/{trial}")
            while layout.scene in scenes:
                attempt += 1
                layout = furnish(self.household, floor, draft.goal, f"{stem}/{trial}/{attempt}")
            scenes.add(layout.scene)
        return layout

    def _sentence(self, goal: Goal, key: str) -> str:
        template: str = random.Random(f"{key}/sentence").choice(self._library[goal.task_type]["templates"])
        lower = {"obj": goal.object.lower(), "recep": goal.place.lower(), "toggle": goal.place.lower()}
        return template.format(**lower)

    def _problem(self, layout: Layout, goal: Goal, trial: str) -> str:
        wanted: str = self._library[goal.task_type]["pddl"].replace("#", "-")
        objects = "\n        ".join(_objects(layout))
        facts = "\n        ".join(_facts(self.household, layout))
        return (
            f"\n(define (problem plan_{trial})\n(:domain alfred)\n(:objects\n        {objects}\n        )\n"
            f"(:init\n        {facts}\n        )\n"
            + wanted.format(obj=goal.object, recep=goal.place, toggle=goal.place)
        )


def spell(id: str) -> str:
    """An id as PDDL allows it: `Mug|+00.65` -> `Mug_bar__plus_00_dot_65`."""
    return re.sub(r"[|+.\-]", lambda sign: _SPELLING[sign[0]], id)


def _objects(layout: Layout) -> Iterator[str]:
    yield "agent1 - agent"
    yield from (f"{kind}Type - otype" for kind in sorted({thing.kind for thing in layout.things}))
    yield from (f"{kind}Type - rtype" for kind in sorted({place.kind for place in layout.floor.places}))
    yield from (f"{spell(thing.id)} - object" for thing in layout.things)
    yield from (f"{spell(place.id)} - receptacle" for place in layout.floor.places)
    locations = {place.location for place in layout.floor.places} | {layout.start}
    yield from (f"{spell(location)} - location" for location in sorted(locations))


def _facts(household: Household, layout: Layout) -> Iterator[str]:
    yield f"(atLocation agent1 {spell(layout.start)})"
    kinds = {thing.kind for thing in layout.things}
    for kind in sorted({place.kind for place in layout.floor.places}):
        yield from (f"(canContain {kind}Type {held}Type)" for held in sorted(household.takes[kind] & kinds))
    for place in layout.floor.places:
        name = spell(place.id)
        yield f"(receptacleType {name} {place.kind}Type)"
        yield f"(receptacleAtLocation {name} {spell(place.location)})"
        if place.kind in household.openable:
            yield f"(openable {name})"
    for thing in layout.things:
        name = spell(thing.id)
        yield f"(objectType {name} {thing.kind}Type)"
        yield f"(inReceptacle {name} {spell(thing.place.id)})"
        yield f"(objectAtLocation {name} {spell(thing.place.location)})"
        yield from (f"({fact} {name})" for fact in _abilities(household, thing.kind))


def _abilities(household: Household, kind: str) -> Iterator[str]:
    if any(kind in kinds for kinds in household.takes.values()):
        yield "pickupable"
    yield from (fact for fact, ability in _ABILITIES.items() if kind in household.actions[ability])
    if kind in household.actions["Toggleable"]:
        yield "toggleable"


def _names(layout: Layout) -> dict[str, str]:
    """Names of places and things. The engine numbers its lower-case spellings, so these are what is passed on."""
    spelled = {spell(place.id).lower(): place.id for place in layout.floor.places}
    spelled |= {spell(thing.id).lower(): thing.id for thing in layout.things}
    names = shown_names(dict.fromkeys(spelled, "object"))
    return {spelled[name]: shown for name, shown in names.items()}


def _trajectory(draft: Draft, sentence: str, walkthrough: list[str]) -> Json:
    goal = draft.goal
    return {
        "task_id": draft.id.split("/")[1],
        "task_type": goal.task_type,
        "pddl_params": {
            "object_target": goal.object,
            "parent_target": "" if goal.lit else goal.place,
            "toggle_target": goal.place if goal.lit else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "scene": {"floor_plan": f"FloorPlan{draft.floor}", "scene_num": draft.floor},
        "plan": {"high_pddl": [], "low_actions": []},
        "turk_annotations": {"anns": [{"task_desc": sentence, "high_descs": walkthrough}]},
        "generated": {"key": draft.key},
    }


def _json(document: Json) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode()
