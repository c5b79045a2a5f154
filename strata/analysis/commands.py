"""What the scripts do: read options, load runs, write a table, a figure or the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strata.analysis.load import load_runs
from strata.analysis.options import read_options, usage
from strata.analysis.published import load_published
from strata.analysis.tables import BUILDERS
from strata.analysis.tables.latex import render_latex
from strata.analysis.tables.markdown import render_markdown
from strata.analysis.tables.model import Request, Table
from strata.analysis.tables.tidy import render_csv
from strata.errors import StorageError, UsageError
from strata.settings import setting

HELP = {"-h", "--help", "help"}
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
    if HELP & set(arguments):
        return usage(TableOptions)
    options = read_options(TableOptions, arguments)
    if (build := BUILDERS.get(options.table)) is None:
        raise UsageError(f"table={options.table}: there is no such table. There are: {_names(BUILDERS)}.")
    request = Request(
        runs=load_runs(Path(options.results_dir), options.runs),
        published=load_published(published_file(root)),
        allow_partial=options.allow_partial,
        show=options.show,
        paper=options.paper,
    )
    text = RENDERERS[options.format](build(request))
    return write(Path(options.out), text) if options.out else text.rstrip("\n")


def published_file(root: Path) -> Path:
    """The paper's numbers in the repository."""
    return root / "results" / "published" / "numbers.yaml"


def write(path: Path, content: str | bytes) -> str:
    """Write a file and say so. Raises StorageError."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(f"Cannot write {path} ({error.strerror or error}). Name another place: out=...") from error
    return f"Wrote {path}"


def _names(known: Mapping[int, object]) -> str:
    return ", ".join(map(str, sorted(known)))
