"""Records as CSV: one row per cell, numbers unrounded, absent ones empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from strata.analysis.tables.model import Table, Value

_FORMULA = ("=", "+", "-", "@")


def render_csv(table: Table) -> str:
    """The table's records, headed by its banner and warnings."""
    return tidy(table.records, [table.banner, *(f"warning: {text}" for text in table.warnings)])


def tidy(records: Sequence[Mapping[str, Value]], remarks: Iterable[str]) -> str:
    """Remarks as lines that begin with `#` (empty ones left out), a header, then one line per record."""
    out = io.StringIO()
    for text in remarks:
        if text:
            out.write(f"# {' '.join(text.split())}\n")
    columns = list(dict.fromkeys(key for record in records for key in record))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow([_plain(record.get(column)) for column in columns])
    return out.getvalue()


def _plain(value: Value) -> str:
    """Shortest text that reads back as the same number. Text is one line; a spreadsheet shall run no formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        line = "".join(character if character.isprintable() else " " for character in value)
        return f"'{line}" if line.startswith(_FORMULA) else line
    return repr(value)
