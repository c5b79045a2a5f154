"""What `scripts/figures.py` does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.analysis.checks import require_complete
from strata.analysis.figures.radar import save_radar
from strata.analysis.figures.radar_data import radar_of, records_of
from strata.analysis.files import write
from strata.analysis.load import load_runs
from strata.analysis.options import asks_for_help, read_options, usage
from strata.analysis.select import arrange, cells_of
from strata.analysis.tables.tidy import tidy
from strata.errors import UsageError
from strata.settings import setting

FIGURES = frozenset({3})


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Options of `scripts/figures.py`."""

    figure: int = setting(3, "Number of the figure in the paper. 3: radar charts by category, one per backbone.")
    results_dir: str = setting("results", "Folder with one folder per run.")
    out: str = setting("", "Folder to write PNG, PDF and the data as CSV into. Empty: figures in the results folder.")
    floor: float | None = setting(None, "Where every axis begins, in percent. Null: chosen for each panel.")
    allow_partial: bool = setting(False, "Draw cells with too many tasks without a score, and say so beneath.")
    runs: str = setting("*", "Only runs whose folder name matches this pattern.")

    def __post_init__(self) -> None:
        if self.floor is not None and (not -100 <= self.floor < 100 or self.floor == 0):
            raise ValueError(f"floor={self.floor:g} must be from -100 to below 100, and not 0.")


def make_figures(arguments: Sequence[str], root: Path) -> str:  # noqa: ARG001 - the scripts call all commands alike
    """Draw one figure for each backbone. Returns where the files are."""
    if asks_for_help(arguments):
        return usage(FigureOptions)
    options = read_options(FigureOptions, arguments)
    if options.figure not in FIGURES:
        raise UsageError(
            f"figure={options.figure}: there is no such figure. There are: {', '.join(map(str, sorted(FIGURES)))}."
        )
    blocks = arrange(load_runs(Path(options.results_dir), options.runs))
    if not options.allow_partial:
        require_complete(f"Figure {options.figure}", cells_of(blocks))
    folder = Path(options.out) if options.out else Path(options.results_dir) / "figures"
    written = []
    for block in blocks:
        radar = radar_of(block, floor=options.floor)
        stem = folder / f"figure{options.figure}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', block.backbone)}"
        written += [write(stem.with_name(f"{stem.name}.{kind}"), save_radar(radar, kind)) for kind in ("png", "pdf")]
        written.append(write(stem.with_name(f"{stem.name}.csv"), tidy(records_of(radar, 3), [radar.banner])))
    return "\n".join(written)
