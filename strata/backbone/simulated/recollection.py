"""Reading memory text: procedures by the action grammar, warnings by generic cues of negation.

No heading, bullet, number or label is required; where a text has some, they only bound what belongs together. Lines
are first taken one by one (`lines`), then gathered into records, then records become procedures with the words of the
text around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from strata.backbone.simulated.grammar import Command, Grammar
from strata.backbone.simulated.knowledge import Cues
from strata.backbone.simulated.lines import SOFT_LEVEL, Line, LineReader
from strata.backbone.simulated.words import Lexicon


@dataclass(frozen=True, slots=True)
class Procedure:
    """Steps found together, the words of the text around them, and whether a warning stands over them."""

    steps: tuple[Command, ...]
    context: frozenset[str]
    warned: bool


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was read. `avoided` are single steps that a warning names."""

    procedures: tuple[Procedure, ...] = ()
    avoided: tuple[Command, ...] = ()


@dataclass(slots=True)
class _Record:
    """Lines that belong together, under their headings (outermost first)."""

    chain: tuple[Line, ...]
    lines: list[Line] = field(default_factory=list)
    covered: bool = False
    block: int = 0

    @property
    def has_steps(self) -> bool:
        return any(line.steps for line in self.lines)

    @property
    def soft(self) -> bool:
        return bool(self.chain) and self.chain[-1].level == SOFT_LEVEL


class Reader:
    """Reads memory text for one grammar."""

    def __init__(self, grammar: Grammar, lexicon: Lexicon, cues: Cues) -> None:
        self._lines = LineReader(grammar, lexicon, cues)
        self._lexicon = lexicon
        self._cues = cues

    def read(self, text: str, reach: int) -> Recollection:
        """Procedures and warnings in the first `reach` non-blank lines."""
        lines = self._lines.read(text, reach)
        records = _attach(_Gatherer(lines, self._cues).records())
        procedures = [procedure for record in records for procedure in self._procedures(record, records)]
        single = [found.steps[0] for found in procedures if found.warned and len(found.steps) == 1]
        return Recollection(tuple(procedures), tuple(step for line in lines for step in line.avoided) + tuple(single))

    def _procedures(self, record: _Record, records: Sequence[_Record]) -> Iterator[Procedure]:
        """Lines with a lead of their own are one procedure each, all others of a record make one together."""
        if not record.has_steps:
            return
        warned = (
            record.covered
            or any(heading.covers for heading in record.chain)
            or any(line.failed for line in record.lines)
        )
        around = self._around(record, records)
        shared = [line for line in record.lines if line.steps and not line.named]
        words = around | self._words(record.lines)
        for line in record.lines:
            if line.steps and line.named:
                yield Procedure(tuple(line.steps), line.words | (around if shared else words), warned)
        if shared:
            yield Procedure(tuple(step for line in shared for step in line.steps), words, warned)

    def _around(self, record: _Record, records: Sequence[_Record]) -> frozenset[str]:
        """Words of the headings above a record, of the text under those, and of its sister sections if none acts."""
        lines = list(record.chain)
        parents = [record.chain[:depth] for depth in range(1, len(record.chain))]
        sisters = [other for other in records if record.chain and other.chain[:-1] == record.chain[:-1] != ()]
        acting = {id(other.chain[-1]) for other in sisters if other.has_steps}
        for other in records:
            if other.has_steps or other is record:
                continue
            if other.chain in parents or (len(acting) == 1 and other in sisters):
                lines += [*other.chain[-1:], *other.lines]
        return self._words(lines)

    def _words(self, lines: Iterable[Line]) -> frozenset[str]:
        spoken = (line for line in lines if not line.silent and not line.steps)
        return frozenset(word for line in spoken for word in line.words)


class _Gatherer:
    """Gathers lines into records, one pass."""

    def __init__(self, lines: Sequence[Line], cues: Cues) -> None:
        self._all = lines
        self._cues = cues
        self._chain: tuple[Line, ...] = ()
        self._records: list[_Record] = [_Record(())]
        self._cover = False
        self._covered_lines = 0
        self._gap = False
        self._block = 0

    def records(self) -> list[_Record]:
        """The records in the order of the text, empty ones left out."""
        for at, line in enumerate(self._all):
            if line.blank:
                self._end_block()
            elif line.level:
                self._enter(line)
            else:
                self._add(at, line)
        return [record for record in self._records if record.lines]

    def _end_block(self) -> None:
        self._gap = True
        if self._covered_lines:
            self._cover = False

    def _enter(self, heading: Line) -> None:
        if heading.level < SOFT_LEVEL:
            self._end_block()
        self._chain = (*(above for above in self._chain if above.level < heading.level), heading)
        self._cover, self._covered_lines = heading.covers and heading.level == SOFT_LEVEL, 0
        self._start()

    def _start(self) -> None:
        if self._gap:
            self._block += 1
            self._gap = False
        self._records.append(_Record(self._chain, covered=self._cover, block=self._block))

    def _add(self, at: int, line: Line) -> None:
        record = self._records[-1]
        apart = self._gap and not (line.counts_on and record.has_steps)
        if apart or self._repeats(line, record) or self._titles(at, line, record) or (line.covers and record.has_steps):
            self._start()
        self._gap = False
        if line.covers:
            self._cover, self._covered_lines = True, 0
            self._records[-1].covered = True
        else:
            self._covered_lines += 1
        self._records[-1].lines.append(line)

    def _repeats(self, line: Line, record: _Record) -> bool:
        """Whether a descriptive label comes a second time: a new record begins."""
        return line.label in self._cues.descriptions and any(line.label == other.label for other in record.lines)

    def _titles(self, at: int, line: Line, record: _Record) -> bool:
        """Whether a line after steps is the title of further steps, rather than a remark on those before it."""
        if line.label or line.steps or line.silent or not line.words or not record.has_steps:
            return False
        for other in self._all[at + 1 :]:
            if other.blank or other.level:
                return False
            if other.steps:
                return not other.counts_on
        return False


def _attach(records: list[_Record]) -> list[_Record]:
    """Give records of text alone to one with steps: the next of their section, or the last when none follows.

    Where the steps come first in a section, text belongs to the steps before it. Text right above a label line
    (`How to do it:`) belongs to what is below it. Warnings stay by themselves unless they still wait for their object.
    """
    joined: list[_Record] = []
    for at, record in enumerate(records):
        home = None if record.has_steps else _home(record, records, at)
        if home is None:
            joined.append(record)
            continue
        if records.index(home) > at:
            home.lines[:0] = record.lines
            home.covered = home.covered or (bool(record.lines) and record.lines[-1].covers)
        else:
            home.lines += record.lines
    return joined


def _home(record: _Record, records: Sequence[_Record], at: int) -> _Record | None:
    if record.covered and not record.lines[-1].covers:
        return None
    section = [other for other in records if other.chain == record.chain and other.has_steps]
    following = [other for other in section if records.index(other) > at]
    before = [other for other in section if records.index(other) < at]
    if before and next(other for other in records if other.chain == record.chain).has_steps:
        return before[-1]
    if following:
        return following[0]
    below = records[at + 1] if at + 1 < len(records) else None
    if below and below.has_steps and below.soft and not record.soft and below.block == record.block:
        return below
    return before[-1] if before else None
