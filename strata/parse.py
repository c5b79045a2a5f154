"""From a model's reply to an action. Pure."""

from __future__ import annotations

import re

from strata.types import Action, ParseFailure

_ACTION = re.compile(r"^[ \t>*_`#-]*action[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[ \t>*_`#-]*thought[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_DECORATION = " \t`*_\"'"


def action(reply: str) -> Action | ParseFailure:
    """The first action of a ReAct reply.

    Bold, code marks, quotes and letter case around the two labels are tolerated; what a model imagines after its first
    action (an observation, further actions) is dropped.
    """
    found = _ACTION.search(reply)
    if found is None:
        return ParseFailure("there is no line 'Action: ...'", reply)
    command = found[1].strip(_DECORATION)
    if not command:
        following = reply[found.end() :].strip().splitlines()
        command = following[0].strip(_DECORATION) if following else ""
    if not command:
        return ParseFailure("the action is empty", reply)
    thought = _THOUGHT.search(reply[: found.start()])
    text = thought[1] if thought else reply[: found.start()]
    return Action(text=command, thought=" ".join(text.split()).strip(_DECORATION))
