"""Commands, and steps in running text, as instances of the action templates that the prompt lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SLOT = re.compile(r"\{[^{}]*\}")
_BRACED = re.compile(r"^[{<\[]\s*([^{}<>\[\]]*?)\s*[}>\]](?:\s+\d+)?$")
_GENERIC = re.compile(
    r"^(?:target|goal|correct|right|desired|given|required|other|second|another|same)?\s*"
    r"(?:object|item|thing|place|receptacle|container|location|destination|target)s?$"
)
_ARTICLE = re.compile(r"^(?:an?|the|some|your|that|this)\s+", re.IGNORECASE)
_STRONG = re.compile(r"\s*(?:;|→|⇒|->|=>|>>|\bthen\b|\n)\s*", re.IGNORECASE)
_WEAK = re.compile(r"\s*(?:[,.]\s+|\.$|\band\b)\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:[-*•>#+|_`\"'\s]+|\(?\[?\d+[.):\]]+\s*|\(\d+\)\s*|step\s+\d+\s*[:.)-]*\s*"
    r"|[a-z][a-z /_-]{0,24}:[*_`]*\s+|\*\*[^*]+\*\*:?\s*"
    r"|(?:first|next|finally|lastly|afterwards|and|then|now|also|to|do|please|always|you should|you must)\b,?\s+)",
    re.IGNORECASE,
)
_TRAIL = re.compile(r"\s*(?:\([^()]*\))?[\s.,;:!`*_\"']*$")
_NO_NAME = """
    it them that which if when while is are was were be not until then or before after by to for because so you unless
    than they with under what how this these those as
"""
_REJECTED = frozenset(_NO_NAME.split())
_ROLES = {"from": "source", "to": "target", "in": "target", "into": "target", "onto": "target", "on": "theme"}
_MAX_WORDS = 6


@dataclass(frozen=True, slots=True)
class Command:
    """A template with its slots filled. A slot in braces stands for any fitting name."""

    template: str
    verb: str
    slots: tuple[str, ...]
    roles: tuple[str, ...]
    text: str


class Template:
    """One action template: `take {object} from {place}` has the verb `take` and the roles theme, source."""

    def __init__(self, text: str) -> None:
        self.text = text
        literals = [part.strip().lower() for part in _SLOT.split(text)]
        self.verb = literals[0]
        self.literal_length = sum(map(len, literals))
        pattern = r"\s+".join(part for literal in literals[:-1] for part in (re.escape(literal), "(.+?)") if part) + (
            rf"\s+{re.escape(literals[-1])}" if literals[-1] and len(literals) > 1 else ""
        )
        self._pattern = re.compile(pattern or re.escape(self.verb), re.IGNORECASE)
        self.roles = tuple(
            "theme" if at == 0 else _ROLES.get(literal.rsplit(" ", 1)[-1], "tool")
            for at, literal in enumerate(literals[:-1])
        )

    def match(self, text: str) -> Command | None:
        """The command that `text` is, or None."""
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        return Command(self.text, self.verb, tuple(slot.strip() for slot in found.groups()), self.roles, text)

    def fill(self, slots: Sequence[str]) -> str:
        """The command text with its slots replaced in order."""
        values = iter(slots)
        return _SLOT.sub(lambda _: next(values), self.text)


class Grammar:
    """All templates of a prompt. Where several match, the one with the most literal text is meant."""

    def __init__(self, templates: Sequence[str], irreversible: Sequence[str] = ()) -> None:
        self.templates = sorted(map(Template, templates), key=lambda template: -template.literal_length)
        self.irreversible = frozenset(irreversible)
        self._verbs = frozenset(template.verb.split(" ")[0] for template in self.templates)
        self._known: dict[str, Command | None] = {}

    def command(self, text: str) -> Command | None:
        """The command that a complete text is."""
        if text not in self._known:
            if len(self._known) > 20_000:
                self._known.clear()
            matches = (template.match(text) for template in self.templates)
            self._known[text] = next((match for match in matches if match), None)
        return self._known[text]

    def fill(self, template: Template, slots: Sequence[str]) -> Command:
        """A complete command from a template and names."""
        return Command(template.text, template.verb, tuple(slots), template.roles, template.fill(slots))

    def steps(self, line: str) -> list[Command]:
        """Steps in a line of text, in order, whatever marks, numbers, labels and connectives surround them.

        A line that is mostly something else, such as a task description that happens to contain one, has none.
        """
        lowered = line.lower()
        if not any(verb in lowered for verb in self._verbs):
            return []
        found: list[Command] = []
        read = total = 0
        _, body = split_lead(line)
        for piece in _STRONG.split(body):
            steps, used = self._piece(piece)
            found += steps
            read += used
            total += len(strip_marks(piece).split())
        return found if 2 * read >= total else []

    def _piece(self, piece: str) -> tuple[list[Command], int]:
        """Steps of a piece of text and the number of its words that they cover."""
        step = self._step(piece)
        if step is not None:
            return [step], len(strip_marks(piece).split())
        pairs = [(self._step(part), len(part.split())) for part in _WEAK.split(piece) if part.strip()]
        return [step for step, _ in pairs if step], sum(words for step, words in pairs if step)

    def _step(self, piece: str) -> Command | None:
        text = strip_marks(piece)
        if text.split(" ")[0].lower() not in self._verbs:
            return None
        found = self.command(text)
        if found is None:
            return None
        slots = tuple(_slot(slot) for slot in found.slots)
        if not all(slots):
            return None
        return Command(found.template, found.verb, slots, found.roles, text)


def strip_marks(piece: str) -> str:
    """A piece of text without bullets, numbers, labels and connectives before it and punctuation after it."""
    text = piece.strip()
    while True:
        shorter = _LEAD.sub("", text, count=1)
        if shorter == text:
            return _TRAIL.sub("", text)
        text = shorter


def split_lead(line: str) -> tuple[str, str]:
    """The text up to the last colon that stands before the line's first separator, and the rest."""
    separator = _STRONG.search(line)
    head = line[: separator.start()] if separator else line
    at = head.rstrip().rfind(": ")
    return (line[:at], line[at + 2 :]) if at >= 0 else ("", line)


def is_placeholder(slot: str) -> bool:
    """Whether a slot stands for any fitting name."""
    return slot.startswith("{")


def _slot(text: str) -> str:
    """A slot's name as found in prose: placeholders in one form, articles dropped; empty when it is no name."""
    name = _ARTICLE.sub("", text.strip(" `*_\"'"))
    braced = _BRACED.match(name)
    if braced:
        return "{" + braced[1].lower() + "}"
    if _GENERIC.match(name.lower()):
        return "{" + name.lower() + "}"
    words = name.lower().split()
    if not words or len(words) > _MAX_WORDS or _REJECTED & set(words):
        return ""
    return name
