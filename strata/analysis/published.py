"""The paper's numbers, from `results/published/numbers.yaml`. What its text does not give is absent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import yaml

from strata.analysis.fields import Fields
from strata.errors import DataError

FORMAT = 1
ABSENT = "n/a in text"
"""Shown where the paper has a cell that its text does not give."""


class Kind(StrEnum):
    """How a number is known."""

    STATED = "stated"
    DERIVED = "derived"
    INFERRED = "inferred"

    @property
    def marker(self) -> str:
        """The sign that stands behind a number of this kind."""
        return {"stated": "", "derived": "†", "inferred": "‡"}[self]


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number of the paper. Without `value`, `low` and `high` bound it. `backbone` is None outside Table 1."""

    row: str
    column: str
    backbone: str | None
    value: float | None
    sd: float | None
    low: float | None
    high: float | None
    kind: Kind
    why: str

    @property
    def text(self) -> str:
        """As shown in a table: one decimal, the paper's sd when given, and the marker of its kind."""
        if self.value is not None:
            spread = "" if self.sd is None else f" ± {self.sd:.1f}"
            return f"{self.value:.1f}{spread}{self.kind.marker}"
        if self.low is None:
            return f"< {self.high:.1f}{self.kind.marker}"
        return f"{self.low:.1f} to {self.high:.1f}{self.kind.marker}"


@dataclass(frozen=True, slots=True)
class Published:
    """All numbers by table, and the memories that have a row in the paper's Table 1."""

    memories: tuple[str, ...]
    numbers: Mapping[tuple[str, str, str, str | None], PublishedNumber]

    def find(self, table: str, row: str, column: str, backbone: str | None = None) -> PublishedNumber | None:
        """One number, or None when the text does not give it."""
        return self.numbers.get((table, row, column, backbone))


def load_published(path: Path) -> Published:
    """Read the file. Raises DataError naming the entry that is wrong."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"Cannot read the published numbers in {path} ({error}).") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: must be a mapping.")
    fields = Fields(content, str(path))
    if fields.count("format") != FORMAT:
        raise DataError(f"{path}: format {fields.count('format')}, but this version reads {FORMAT}.")
    numbers = {}
    tables = fields.object("numbers")
    for table in tables.values:
        for entry in tables.objects(table):
            number = _read_number(entry)
            key = (table, number.row, number.column, number.backbone)
            if key in numbers:
                entry.fail("row", f"{number.row} has a number for {number.column} already")
            numbers[key] = number
    return Published(fields.texts("memories"), numbers)


def _read_number(entry: Fields) -> PublishedNumber:
    kind = entry.text("kind")
    if kind not in set(Kind):
        entry.fail("kind", f"is {kind!r} and must be one of {', '.join(Kind)}")
    if kind != Kind.STATED and not entry.text("why", ""):
        entry.fail("why", f"is missing: a number that is {kind} says how")
    backbone = entry.text("backbone", "") or None
    known = {key: entry.optional_number(key) if key in entry.values else None for key in ("value", "sd", "low", "high")}
    if known["value"] is None and known["high"] is None:
        entry.fail("value", "is missing, and so is an upper bound")
    return PublishedNumber(
        entry.text("row"), entry.text("column"), backbone, **known, kind=Kind(kind), why=entry.text("why", "")
    )
