"""What a table is, whatever it is about and however it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from strata.analysis.published import Published
from strata.analysis.records import Run

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Request:
    """What a builder is given.

    `show` `all` adds the paper's columns and rows without runs; `paper` says which of the paper's backbones stands
    beside ours (`auto`: by the name of ours). Without `allow_partial` a builder refuses a cell with too many holes.
    """

    runs: tuple[Run, ...]
    published: Published
    allow_partial: bool = False
    show: Literal["runs", "all"] = "runs"
    paper: Literal["auto", "pro", "flash"] = "auto"


@dataclass(frozen=True, slots=True)
class Grid:
    """A rectangle of plain text with a heading. A newline in a cell parts its number from its remarks."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what is shown (`grids`), what must be said with it, and the same numbers unrounded (`records`).

    Texts are plain and may come from anywhere: whoever renders them escapes them.
    """

    number: int
    title: str
    banner: str
    grids: tuple[Grid, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Value], ...]
