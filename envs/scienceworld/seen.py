"""The names of things in the engine's texts: what an agent that has read them can use in its commands.

Only the text is read, never the engine's state, so nothing is named that the agent was not shown. A text names things
in listings (rooms, inventory, what is in or on something), in descriptions, and in the sentences that report a move, a
focus or an arrival. `_SAID_OTHERWISE` holds the few names that the engine shows but does not understand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BREAK = re.compile(r"\t|, |: ?|\(|\)|\.(?: |$|(?=\W))")
_ARTICLE = re.compile(r"^(?:containing )?(?:(?:a|an|the) )?(?:substance called )?", re.IGNORECASE)
_STATE = re.compile(r" in the \w+ stage.*| titled .*| approximately .*| at the (?:top|bottom) of .*")
_NO_NAME = re.compile(
    r"which is|currently|that |titled |with$|On the |In the |Inside the |The |You |nothing|a temperature|\d"
    r"|.*connected to|(?:the )?agent$|containing nothing"
)
_DESCRIPTION = re.compile(r"an? |some ", re.IGNORECASE)
_DOOR = re.compile(r"door to the (.+)")
_DONE = re.compile(r"You (?:move|focus on) the (.+?)(?: to the (.+?))?\.$")
_PLACE = re.compile(r"(?:is called|You move to) the ([^.\n]+)\.")
_CHOICE = re.compile(r"^(\d+):\t", re.MULTILINE)
_ASKS = "Ambiguous request:"
_SAID_OTHERWISE = {"white pillow": "pillow", "drain": "", "inventory": ""}


def names_in(text: str) -> list[str]:
    """Names in the order of the text, each once, without articles."""
    if text.startswith(_ASKS):
        return []
    found = _PLACE.findall(text)
    for number, line in enumerate(text.split("\n")):
        done = _DONE.search(line)
        if done:
            found += [name for name in done.groups() if name and not name.startswith("door between")]
        elif line.startswith(("\t", " You also see")) or (number == 0 and _DESCRIPTION.match(line)):
            found += _listed(line)
    said = (_SAID_OTHERWISE.get(name, name) for name in found)
    return [name for name in dict.fromkeys(said) if name]


def choices_in(text: str) -> tuple[str, ...]:
    """The numbers that a question for one of several actions offers; empty for any other text."""
    return tuple(_CHOICE.findall(text)) if text.startswith(_ASKS) else ()


def _listed(line: str) -> Iterator[str]:
    for part in _BREAK.split(line):
        part = part.strip()
        if not part or _NO_NAME.match(part):
            continue
        name = _STATE.sub("", _ARTICLE.sub("", part))
        door = _DOOR.fullmatch(name)
        yield from (f"door to {door[1]}", door[1]) if door else (name,)
