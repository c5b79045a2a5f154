"""Lines of a memory's text, each by itself: headings, labels, steps, and cues of negation or failure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from strata.backbone.simulated.grammar import Command, Grammar, split_lead
from strata.backbone.simulated.knowledge import Cues
from strata.backbone.simulated.words import Lexicon

_HASHES = re.compile(r"^\s*(#{1,6})\s+\S")
_BOLD = re.compile(r"^\s*(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$")
_RULE = re.compile(r"^\s*([-=*_~])\1{2,}\s*$")
_ASIDE = re.compile(r"^\s*\[[^\]]*\]\s*$")
_MARKS = re.compile(r"^(?:[-*•>#+|_`\s⚠!]+|\(?\[?\d+[.):\]]+\s*|\(\d+\)\s*)+")
_LABEL = re.compile(r"^[*_`]*([A-Za-z][A-Za-z /_-]{0,30}?)[*_`]*:(?=[\s*_`]|$)")
_NUMBER = re.compile(r"^\W*(?:step\s+)?(\d+)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!;])\s+")
_MAX_LABEL_WORDS = 12
BOLD_LEVEL = 7
SOFT_LEVEL = 8


@dataclass(slots=True)
class Line:
    """One line. `level` is 0 for plain text, 1 to 6 for headings by `#`, 7 for a bold line, 8 for a bare label line.

    `words` are its content words (of a negation or of steps only those that describe); `named` says that its steps have
    a text before them in the line; `counts_on` that its number goes on from a line before; `covers` that it warns of
    what follows; `failed` that it reports a failure; `silent` that it is no description (a thought, an observation).
    """

    blank: bool = False
    level: int = 0
    label: str = ""
    words: frozenset[str] = frozenset()
    steps: list[Command] = field(default_factory=list)
    avoided: list[Command] = field(default_factory=list)
    named: bool = False
    counts_on: bool = False
    covers: bool = False
    failed: bool = False
    silent: bool = False


class LineReader:
    """Takes lines apart for one grammar."""

    def __init__(self, grammar: Grammar, lexicon: Lexicon, cues: Cues) -> None:
        self._grammar = grammar
        self._lexicon = lexicon
        self._cues = cues

    def read(self, text: str, reach: int) -> list[Line]:
        """The first `reach` non-blank lines, with blank ones between them."""
        lines: list[Line] = []
        observing = False
        for raw in text.splitlines():
            if not raw.strip() or _RULE.match(raw):
                lines.append(Line(blank=True))
                continue
            reach -= 1
            if reach < 0:
                break
            line = self._line(raw)
            perceives = line.label in self._cues.perceptions
            observing = perceives or (observing and not (line.label or line.steps or line.level))
            line.silent = line.silent or observing
            lines.append(line)
        return lines

    def _line(self, raw: str) -> Line:
        text = _MARKS.sub("", raw).strip()
        found = _LABEL.match(text)
        label = found[1].lower().strip() if found else ""
        number = _NUMBER.match(raw)
        line = Line(level=self._level(raw, text, label), label=label, words=self._lexicon.content(text))
        line.counts_on = bool(number and int(number[1]) > 1)
        line.silent = label in self._cues.perceptions or _ASIDE.match(raw) is not None
        line.failed = label in self._cues.verdicts and self._cues.fails(text)
        if line.silent or line.failed:
            return line
        described = label in self._cues.descriptions
        about_text = bool(line.level) or text.rstrip("*_").endswith(":") or self._cues.refers(text)
        line.covers = about_text and self._cues.negates(text) and (not described or label in self._cues.names)
        if line.covers and line.level in (0, SOFT_LEVEL):
            line.words = self._lexicon.content(self._cues.without_negation(text))
        elif not line.level and self._cues.negates(text):
            line.words = frozenset()
        if not described:
            self._find_steps(line, text)
        if line.level == SOFT_LEVEL and line.steps:
            line.level = 0
        return line

    def _level(self, raw: str, text: str, label: str) -> int:
        hashes = _HASHES.match(raw)
        if hashes:
            return len(hashes[1])
        if _BOLD.match(raw):
            return BOLD_LEVEL
        known = label in self._cues.plain_labels or label in self._cues.descriptions
        bare = text.endswith(":") and len(text.split()) <= _MAX_LABEL_WORDS * (1 + self._cues.negates(text))
        return SOFT_LEVEL if bare and not known else 0

    def _find_steps(self, line: Line, text: str) -> None:
        """Steps of a line, and those that a negation in their own sentence forbids."""
        if line.covers:
            plain, negative = text, []
        else:
            sentences = _SENTENCE.split(text)
            negative = [sentence for sentence in sentences if self._cues.negates(sentence)]
            plain = " ".join(sentence for sentence in sentences if sentence not in negative)
        lead, body = split_lead(plain)
        line.steps = self._grammar.steps(plain)
        own = self._lexicon.content(lead) - self._lexicon.content(" ".join(self._cues.plain_labels))
        line.named = bool(line.steps) and bool(own) and bool(body)
        if line.steps:
            line.words = self._lexicon.content(lead)
        for sentence in negative:
            line.avoided += self._grammar.steps(self._cues.without_negation(sentence))
        line.avoided = [step for step in line.avoided if step.slots]
