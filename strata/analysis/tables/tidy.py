"""A table as CSV: one row per cell, numbers unrounded, absent ones empty."""

from __future__ import annotations

import csv
import io

from strata.analysis.tables.model import Table, Value

_FORMULA = ("=", "+", "-", "@")


def render_csv(table: Table) -> str:
    """Comment lines with the banner and the warnings (each begins with `#`), a header, then one line per cell."""
    out = io.StringIO()
    for line in ([table.banner] if table.banner else []) + [f"warning: {text}" for text in table.warnings]:
        out.write(f"# {' '.join(line.split())}\n")
    columns = list(dict.fromkeys(key for record in table.records for key in record))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for record in table.records:
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
