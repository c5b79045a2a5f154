"""Print or write a table: python scripts/tables.py table=1 format=md|latex|csv results_dir=results out=FILE

Exit codes: 0 done, 1 no runs or unfinished ones, 2 wrong options. `--help` lists the options.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from _command import run_command


def _make(arguments: Sequence[str], root: Path) -> str:
    from strata.analysis.tables.command import make_table

    return make_table(arguments, root)


if __name__ == "__main__":
    sys.exit(run_command(_make))
