"""What `scripts/tables.py` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strata.analysis.files import published_file, write
from strata.analysis.load import load_runs
from strata.analysis.options import asks_for_help, read_options, usage
from strata.analysis.published import load_published
from strata.analysis.tables import BUILDERS
from strata.analysis.tables.latex import render_latex
from strata.analysis.tables.markdown import render_markdown
from strata.analysis.tables.model import Request, Table
from strata.analysis.tables.tidy import render_csv
from strata.errors import UsageError
from strata.settings import setting

RENDERERS: Mapping[str, Callable[[Table], str]] = {"md": render_markdown, "latex": render_latex, "csv": render_csv}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of `scripts/tables.py`."""

    table: int = setting(1, "Number of the table in the paper.")
    format: Literal["md", "latex", "csv"] = setting("md", "md, latex (booktabs) or csv (one row per cell).")
    results_dir: str = setting("results", "Folder with one folder per run.")
    out: str = setting("", "File to write. Empty: print it.")
    allow_partial: bool = setting(False, "Show cells with too many tasks without a score, marked as partial.")
    show: Literal["runs", "all"] = setting("runs", "runs: what was run. all: the paper's rows and columns too.")
    paper: Literal["auto", "pro", "flash"] = setting("auto", "Which of the paper's backbones stands beside ours.")
    runs: str = setting("*", "Only runs whose folder name matches this pattern.")


def make_table(arguments: Sequence[str], root: Path) -> str:
    """Build one table. Returns it, or where it was written. `root` is the repository."""
    if asks_for_help(arguments):
        return usage(TableOptions)
    options = read_options(TableOptions, arguments)
    if (build := BUILDERS.get(options.table)) is None:
        raise UsageError(
            f"table={options.table}: there is no such table. There are: {', '.join(map(str, sorted(BUILDERS)))}."
        )
    request = Request(
        runs=load_runs(Path(options.results_dir), options.runs),
        published=load_published(published_file(root)),
        allow_partial=options.allow_partial,
        show=options.show,
        paper=options.paper,
    )
    text = RENDERERS[options.format](build(request))
    return write(Path(options.out), text) if options.out else text.rstrip("\n")
