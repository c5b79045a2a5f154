"""What the agent is told about ALFWorld, and the check that the engine still speaks that language."""

from __future__ import annotations

import re

from strata.errors import DataError
from strata.types import ActionGrammar, EnvironmentGuide

TEMPLATES = {
    "gotolocation": "go to {place}",
    "openobject": "open {place}",
    "closeobject": "close {place}",
    "pickupobject": "take {object} from {place}",
    "putobject": "move {object} to {place}",
    "cleanobject": "clean {object} with {place}",
    "heatobject": "heat {object} with {place}",
    "coolobject": "cool {object} with {place}",
    "toggleobject": "use {object}",
    "sliceobject": "slice {object} with {tool}",
    "examineobject": "examine {object}",
    "examinereceptacle": "examine {place}",
    "look": "look",
    "inventory": "inventory",
    "help": "help",
}
"""Engine action (as the PDDL domain names it, in lower case) -> the command shown to the agent."""

_PLACEHOLDERS = {"o": "object", "r": "place", "co": "object", "ko": "tool"}
_PART = re.compile(r"\[?\{(\w+)(?:\.name)?(?:\s*\|[^}]*)?\}\]?")

GUIDE = EnvironmentGuide(
    description=(
        "The environment is a room of a household, described in text. Objects lie on or in places such as shelves, "
        "drawers and tables, which all have a number, as in `drawer 2` or `mug 1`."
    ),
    grammar=ActionGrammar(templates=tuple(TEMPLATES.values())),
    hints=(
        "Names of objects and places are written as in the observations, with their numbers.",
        "You see and reach only what is at the place where you are; a closed place hides what is in it.",
        "You can carry one object at a time.",
        'An action that is not possible is answered by "Nothing happens."',
    ),
)


def check_grammar(templates: dict[str, str], *, source: str) -> None:
    """Compare a game's command templates (by lower-case action name) with the guide.

    Raises DataError naming the first action that the game words differently, so that a renamed verb stops the run
    instead of making every episode fail.
    """
    for action, shown in TEMPLATES.items():
        template = templates.get(action)
        if template is None:
            raise DataError(
                f"{source}: the game's grammar has no action {action!r}, which the prompt offers as {shown!r}. The "
                f"data or the engine is of another version; adapt TEMPLATES in envs/alfworld/guide.py."
            )
        spoken = _PART.sub(lambda part: "{" + _PLACEHOLDERS.get(part[1], part[1]) + "}", template)
        if spoken != shown:
            raise DataError(
                f"{source}: the game's grammar words {action!r} as {spoken!r}, the prompt as {shown!r}; the agent's "
                f"commands would do nothing. The data or the engine is of another version; adapt TEMPLATES in "
                f"envs/alfworld/guide.py."
            )
