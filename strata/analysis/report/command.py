"""What `scripts/report.py` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strata.analysis.files import published_file, write
from strata.analysis.load import load_runs
from strata.analysis.options import asks_for_help, read_options, usage
from strata.analysis.published import load_published
from strata.analysis.report.build import build_report
from strata.analysis.tables.model import Request
from strata.settings import setting


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of `scripts/report.py`."""

    results_dir: str = setting("results", "Folder with one folder per run.")
    out: str = setting("", "File to write. Empty: report/index.html in the results folder.")
    episodes: int = setting(6, "Episodes of each run that are shown with their texts.")
    allow_partial: bool = setting(False, "Show tables and figures with too many tasks without a score, marked.")
    show: Literal["runs", "all"] = setting("runs", "runs: what was run. all: the paper's rows and columns too.")
    paper: Literal["auto", "pro", "flash"] = setting("auto", "Which of the paper's backbones stands beside ours.")
    runs: str = setting("*", "Only runs whose folder name matches this pattern.")

    def __post_init__(self) -> None:
        if not 0 <= self.episodes <= 1000:
            raise ValueError(f"episodes={self.episodes} must be 0 to 1000.")


def make_report(arguments: Sequence[str], root: Path) -> str:
    """Write the report. Returns where it is. `root` is the repository."""
    if asks_for_help(arguments):
        return usage(ReportOptions)
    options = read_options(ReportOptions, arguments)
    request = Request(
        runs=load_runs(Path(options.results_dir), options.runs),
        published=load_published(published_file(root)),
        allow_partial=options.allow_partial,
        show=options.show,
        paper=options.paper,
    )
    path = Path(options.out) if options.out else Path(options.results_dir) / "report" / "index.html"
    return write(path, build_report(request, samples=options.episodes))
