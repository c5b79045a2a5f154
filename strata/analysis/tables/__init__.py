"""Tables: each is built as one `Table` object and rendered from it to Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strata.analysis.tables.model import Request, Table
from strata.analysis.tables.table1 import build_table1

BUILDERS: Mapping[int, Callable[[Request], Table]] = {1: build_table1}
"""Table number -> its builder."""
