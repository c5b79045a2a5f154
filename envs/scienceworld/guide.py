"""What the agent is told about ScienceWorld, and the check that the engine still speaks that language."""

from __future__ import annotations

from collections.abc import Collection

from strata.errors import DataError
from strata.types import ActionGrammar, EnvironmentGuide

TEMPLATES = {
    "look around": "look around",
    "look at {object}": "look at OBJ",
    "look in {container}": "look in OBJ",
    "open {object}": "open OBJ",
    "close {object}": "close OBJ",
    "go to {place}": "go OBJ",
    "pick up {object}": "pick up OBJ",
    "put down {object}": "put down OBJ",
    "move {object} to {container}": "move OBJ to OBJ",
    "pour {object} into {container}": "pour OBJ in OBJ",
    "dunk {object} into {container}": "dunk OBJ in OBJ",
    "mix {container}": "mix OBJ",
    "use {object} on {object}": "use OBJ on OBJ",
    "activate {object}": "activate OBJ",
    "deactivate {object}": "deactivate OBJ",
    "connect {object} to {object}": "connect OBJ to OBJ",
    "disconnect {object}": "disconnect OBJ",
    "read {object}": "read OBJ",
    "eat {object}": "eat OBJ",
    "flush {object}": "flush OBJ",
    "focus on {object}": "focus on OBJ",
    "wait": "wait",
    "wait1": "wait1",
    "inventory": "inventory",
    "task": "task",
}
"""Command shown to the agent -> the form in which the engine lists it, which knows several wordings of a command.

`reset task`, which forgets the progress made, is the one command of the engine that is not offered.
"""

TELEPORT = {"teleport to {place}": "teleport OBJ"}
"""What the simplification teleportAction adds."""

IRREVERSIBLE = ("focus on {object}",)

_DESCRIPTION = (
    "The environment is ScienceWorld: a house with a workshop, a greenhouse, a foundry and the outside, described in "
    "text. Its things have properties such as temperature, state of matter, conductivity and life, which change as "
    "things are heated, cooled, mixed, connected or left alone. You see and reach what is in the room where you are "
    "and what you carry."
)
_HINTS = (
    "Names are written as in the observations, without the article and without `a substance called`.",
    "Going into a room does not show it; `look around` does.",
    "A closed door or container has to be opened first. A door is named by where it leads: `open door to kitchen`.",
    "When a name fits several things, say where it is, as in `cup in sink`. When you are asked which of several "
    "numbered actions you mean, the next action is the number alone.",
    "Electrical parts are connected at their terminals, a part without poles at `terminal 1` and `terminal 2`: "
    "`connect battery anode to red wire terminal 1`.",
    "`focus on` tells the task which object you mean. On an object that the task does not ask for, it ends the task "
    "with the worst score.",
    "`wait` lets ten steps of time pass, `wait1` one.",
    'An action that is not possible is answered by "No known action matches that input.", or by the reason.',
)


def make_guide(*, teleport: bool) -> EnvironmentGuide:
    """The guide, with or without the command that the simplification teleportAction adds."""
    templates = (*TEMPLATES, *(TELEPORT if teleport else ()))
    grammar = ActionGrammar(templates=templates, irreversible=IRREVERSIBLE)
    return EnvironmentGuide(description=_DESCRIPTION, grammar=grammar, hints=_HINTS)


def check_grammar(known: Collection[str], *, teleport: bool, electrical: bool) -> None:
    """Compare the engine's commands with the guide's. Raises DataError naming the first that the engine lacks.

    Without `electrical`, the simplification noElectricalAction has taken `connect` and `disconnect` away.
    """
    for shown, form in {**TEMPLATES, **(TELEPORT if teleport else {})}.items():
        if form not in known and (electrical or "connect" not in form):
            raise DataError(
                f"ScienceWorld's engine does not list {form!r}, which the prompt offers as {shown!r}; the agent's "
                "commands would do nothing. The engine is of another version; adapt envs/scienceworld/guide.py."
            )
