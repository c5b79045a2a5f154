"""Write the report: python scripts/report.py results_dir=results out=results/report/index.html

Exit codes: 0 done, 1 no runs or unfinished ones, 2 wrong options. `--help` lists the options.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from _command import run_command


def _make(arguments: Sequence[str], root: Path) -> str:
    from strata.analysis.report.command import make_report

    return make_report(arguments, root)


if __name__ == "__main__":
    sys.exit(run_command(_make))
