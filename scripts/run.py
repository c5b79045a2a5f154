"""Run one cell, or with -m a sweep of cells.

    python scripts/run.py memory=strata env=alfworld backbone=simulated seed=0 limit=20
    python scripts/run.py -m memory=no_memory,flat,strata seed=0,1,2

Exit status: 0 done, 1 something failed, 2 bad usage or configuration, 3 paused (start again to go on), 130 interrupted.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
runpy.run_path(str(ROOT / "strata" / "guard.py"))["check_packages"](ROOT)

import hydra  # noqa: E402
from omegaconf import DictConfig  # noqa: E402

from strata.launch import command_line, run_cell  # noqa: E402


@hydra.main(version_base="1.3", config_path="../configs", config_name="config")  # type: ignore[untyped-decorator]
def cell(config: DictConfig) -> None:
    """One cell of an experiment."""
    run_cell(config)


if __name__ == "__main__":
    sys.exit(command_line(cell))
