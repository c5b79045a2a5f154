"""Draw a figure as PNG and PDF, with its data as CSV: python scripts/figures.py figure=3 results_dir=results out=FOLDER

Exit codes: 0 done, 1 no runs or unfinished ones, 2 wrong options. `--help` lists the options.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from _command import run_command


def _make(arguments: Sequence[str], root: Path) -> str:
    from strata.analysis.figures.command import make_figures

    return make_figures(arguments, root)


if __name__ == "__main__":
    sys.exit(run_command(_make))
