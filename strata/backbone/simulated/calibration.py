"""Hand-written memories for ALFWorld's six kinds of goals, against which the presets were set.

They are references for the instrument, not memories under comparison: the right procedure, the opposite operation done
to the very same objects, and that one under a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_TAKE, _PUT = "take {object} from {place}", "move {object} to {target}"
PROCEDURES: Mapping[str, Sequence[str]] = {
    "examine": (_TAKE, "use desklamp"),
    "put two": (_TAKE, _PUT, _TAKE, _PUT),
    "clean": (_TAKE, "clean {object} with sinkbasin", _PUT),
    "heat": (_TAKE, "heat {object} with microwave", _PUT),
    "cool": (_TAKE, "cool {object} with fridge", _PUT),
    "put": (_TAKE, _PUT),
}
OPPOSITES = {"heat": "cool", "cool": "heat", "clean": "heat", "examine": "put", "put": "examine", "put two": "examine"}


def kind_of(goal: str) -> str:
    """Which of the procedures a goal needs."""
    words = goal.replace("hot", "heat").replace("lamp", "lamp examine").replace("find two", "put two")
    return next(kind for kind in PROCEDURES if all(word in words for word in kind.split()))


def nothing(goal: str) -> str:
    """No memory."""
    del goal
    return ""


def good(goal: str) -> str:
    """The right procedure, told of no particular object."""
    return _record(f"{kind_of(goal)} an object", PROCEDURES[kind_of(goal)])


def misleading(goal: str) -> str:
    """The opposite operation on the goal's own objects."""
    other = OPPOSITES[kind_of(goal)]
    return _record(re.sub(r"\b(heat|hot|cool|clean)\b", other, goal.rstrip(".")), PROCEDURES[other])


def warned(goal: str) -> str:
    """The misleading procedure under a warning."""
    return f"# WARNING: not this, which is the opposite\n{misleading(goal)}"


def _record(title: str, steps: Sequence[str]) -> str:
    return "\n".join([f"## {title}", *(f"{number}. {step}" for number, step in enumerate(steps, start=1))])


MEMORIES: Mapping[str, Callable[[str], str]] = {
    "no memory": nothing,
    "good": good,
    "misleading": misleading,
    "misleading, warned of": warned,
}
