"""What the agent is shown, taken apart: the acting prompt and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strata.parse import action as parse_action
from strata.types import Action, Message

_BULLET = re.compile(r"^\s*[-*•]\s+(.*)$")
_REPLY_FORM = re.compile(r"^\W*action\W*:\s*<.*>\s*$", re.IGNORECASE)
_REASK = "Your reply could not be read:"


_NUMBERED = re.compile(r"^\s*(\d+)[:.)]\s*(.+)$", re.MULTILINE)
_CHOICES = re.compile(r"\b(?:enter|choose|type|pick) (?:the|a) number\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instructions:
    """The system message: action templates, those that cannot be undone, and the memory's text at the end."""

    templates: tuple[str, ...]
    irreversible: tuple[str, ...]
    memory: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The rest: the goal, the actions so far with their observations, and what can be done now.

    `history` pairs each action with the observation that followed; `start` is the observation before the first.
    """

    goal: str
    start: str
    history: tuple[tuple[str, str], ...]
    admissible: tuple[str, ...]
    objects: tuple[str, ...]
    note: str
    asked_again: bool

    @property
    def asks_for_number(self) -> bool:
        """Whether the last observation offers numbered choices."""
        asked = bool(self.history) and _CHOICES.search(self.history[-1][1]) is not None
        return asked or (bool(self.admissible) and all(option.isdigit() for option in self.admissible))

    @property
    def numbered_choice(self) -> str:
        """The number of the first offered choice that is about something in hand, else of the first."""
        offered: list[tuple[str, str]] = _NUMBERED.findall(self.history[-1][1]) if self.history else []
        in_hand = [number for number, text in offered if "inventory" in text.lower()]
        return next(iter(in_hand or [number for number, _ in offered] or self.admissible), "0")

    @property
    def settled_history(self) -> tuple[tuple[str, str], ...]:
        """The history with each numbered choice and the question before it as one: the action asked about."""
        merged: list[tuple[str, str]] = []
        for action, observation in self.history:
            if merged and action.strip().isdigit() and _CHOICES.search(merged[-1][1]):
                merged[-1] = (merged[-1][0], observation)
            else:
                merged.append((action, observation))
        return tuple(merged)

    @property
    def step(self) -> int:
        """Index of the action to choose, from 0."""
        return len(self.history)


def read_instructions(system: str) -> Instructions:
    """Take the system message apart.

    The lists are known by their titles; the memory's text is what follows the last line that shows the reply's form
    before it (`Action: <one action>`), or, where a prompt has none, what follows the last list.
    """
    lines = system.splitlines()
    form = next((at for at, line in enumerate(lines) if _REPLY_FORM.match(line)), None)
    actions, after_actions = _list_under(lines, lambda title: title.startswith("actions"))
    irreversible, after_fixed = _list_under(lines, lambda title: "cannot be undone" in title or "irreversible" in title)
    _, after_rules = _list_under(lines, lambda title: title.startswith("rules"))
    start = form + 1 if form is not None else max(after_actions, after_fixed, after_rules)
    return Instructions(tuple(actions), tuple(irreversible), "\n".join(lines[start:]).strip())


def read_conversation(messages: Sequence[Message], action_of: Callable[[str], str]) -> Conversation:
    """Take the user's and the assistant's messages apart. A malformed reply and the request to repeat are dropped.

    `action_of` finds the action in a reply.
    """
    turns = [message for message in messages if message.role != "system"]
    asked_again = False
    while len(turns) > 2 and turns[-1].content.startswith(_REASK):
        turns, asked_again = turns[:-2], True
    shown = [message.content for message in turns if message.role == "user"]
    replies = [message.content for message in turns if message.role == "assistant"]
    goal, first = _split_goal(shown[0] if shown else "")
    observations = [first, *(_after_label(text) for text in shown[1:])]
    last, admissible, objects, note = _split_last(observations[-1])
    observations[-1] = last
    actions = [action_of(reply) for reply in replies]
    return Conversation(
        goal=goal,
        start=observations[0],
        history=tuple(zip(actions, observations[1:], strict=False)),
        admissible=admissible,
        objects=objects,
        note=note,
        asked_again=asked_again,
    )


def _list_under(lines: Sequence[str], is_title: Callable[[str], bool]) -> tuple[list[str], int]:
    """The first bulleted list under a title line, and the index of the line after it (0 when there is none)."""
    for at, line in enumerate(lines):
        if is_title(line.strip().lower()) and line.rstrip().endswith(":"):
            items: list[str] = []
            while at + 1 < len(lines) and (bullet := _BULLET.match(lines[at + 1])):
                items.append(bullet[1].strip())
                at += 1
            if items:
                return items, at + 1
    return [], 0


def _split_goal(text: str) -> tuple[str, str]:
    head, _, observation = text.partition("\n\nObservation:")
    return head.removeprefix("Task:").strip(), observation.strip()


def _after_label(text: str) -> str:
    return text.removeprefix("Observation:").strip()


def _split_last(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    """The observation, the admissible actions, the objects and the note of the last message."""
    lines = text.splitlines()
    admissible, after_commands = _list_under(lines, lambda title: title.startswith("admissible actions"))
    objects, after_objects = _list_under(lines, lambda title: title.startswith("objects seen"))
    starts = [end - len(items) - 1 for items, end in ((admissible, after_commands), (objects, after_objects)) if end]
    if not starts:
        return text.strip(), (), (), ""
    observation = "\n".join(lines[: min(starts)]).strip()
    note = "\n".join(lines[max(after_commands, after_objects) :]).strip()
    return observation, tuple(admissible), tuple(objects), note


def action_of(reply: str) -> str:
    """The action in one of the agent's own replies; empty when there is none."""
    parsed = parse_action(reply)
    return parsed.text if isinstance(parsed, Action) else ""
