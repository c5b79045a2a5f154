"""The main job: run Table 1's cells, then write the tables, radar charts and report; finished work is not repeated.

    python scripts/reproduce.py [profile=quick|full] [results_dir=results] [jobs=N] [KEY=VALUE for scripts/run.py ...]

quick: one simulated backbone, 36 ALFWorld games. full: both presets, all games. Exit status as of scripts/run.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {
    "quick": (["env=alfworld", "env.per_category=6"],),
    "full": (["env=alfworld", "backbone.preset=sim_pro,sim_flash"],),
}


def run(script: str, *arguments: str) -> int:
    """Run a script of this folder with unbuffered output. Returns its exit status."""
    command = [sys.executable, "-u", str(ROOT / "scripts" / script), *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main(arguments: list[str]) -> int:
    """Do all steps; stop at the first that fails."""
    options = {"profile": "quick", "results_dir": "results", "jobs": str(min(os.cpu_count() or 1, 8))}
    options |= {key: value for key, _, value in (word.partition("=") for word in arguments) if key in options}
    rest = [word for word in arguments if word.partition("=")[0] not in options]
    if options["profile"] not in PROFILES:
        print(f"profile={options['profile']}: must be one of {', '.join(PROFILES)}.", file=sys.stderr)
        return 2
    results, place = Path(options["results_dir"]), f"results_dir={options['results_dir']}"
    sweep = ["-m", "experiment=table1", place, f"hydra.launcher.n_jobs={options['jobs']}"]
    steps = [("run.py", *sweep, *cells, *rest) for cells in PROFILES[options["profile"]]]
    endings = {"latex": "tex", "csv": "csv", "md": "md"}
    steps += [("tables.py", place, f"format={k}", f"out={results}/tables/table1.{v}") for k, v in endings.items()]
    steps += [("tables.py", place), ("figures.py", place), ("report.py", place)]
    for script, *words in steps:
        start = time.monotonic()
        if code := run(script, *words):
            print(f"\nscripts/{script} ended with {code}. Start the same command again to go on.", file=sys.stderr)
            return code
        print(f"[{script} {time.monotonic() - start:.0f} s]", flush=True)
    print(f"\nRuns: {results}/<run_id>/   tables: {results}/tables/   charts: {results}/figures/")
    print(f"Report: {results}/report/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
