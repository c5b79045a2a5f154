"""A table as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from strata.analysis.tables.model import Grid, Table

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~$&!]|(?<!\w)_|_(?!\w))")


def render_markdown(table: Table) -> str:
    """Title, banner, grids, warnings and notes."""
    parts = [f"## Table {table.number}. {escape(table.title)}"]
    if table.banner:
        parts.append(f"> **{escape(table.banner)}**")
    parts += [_grid(grid) for grid in table.grids]
    if table.warnings:
        parts.append(_list("**Warnings**", table.warnings))
    parts.append(_list("**Notes**", table.notes))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and the HTML it may hold take literally; line ends and control characters become spaces."""
    plain = "".join(" " if ord(character) < 32 or ord(character) == 127 else character for character in text)
    return _SPECIAL.sub(r"\\\1", plain)


def _grid(grid: Grid) -> str:
    rows = [grid.head, ("---",) * len(grid.head), *grid.rows]
    lines = ["| " + " | ".join(cell if row == rows[1] else _cell(cell) for cell in row) + " |" for row in rows]
    return f"**{escape(grid.caption)}**\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return "<br>".join(escape(line) for line in text.split("\n"))


def _list(head: str, items: Iterable[str]) -> str:
    return head + "\n\n" + "\n".join(f"- {escape(item)}" for item in items)
