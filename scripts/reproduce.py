"""The main job: run Table 1's cells, then write the tables, radar charts and report. Finished work is not repeated.

    python scripts/reproduce.py [profile=quick|full] [results_dir=results] [jobs=N] [KEY=VALUE for scripts/run.py ...]

quick: one simulated backbone, 36 ALFWorld games, 23 ScienceWorld tasks. full: two backbones, all 134 games. Exit status
as of scripts/run.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {
    "quick": (["env=alfworld", "env.per_category=6"], ["env=scienceworld"]),
    "full": (["env=alfworld,scienceworld", "backbone.preset=sim_pro,sim_flash"],),
}


def main(arguments: list[str]) -> int:
    """Do all steps; stop at the first that fails."""
    if {"-h", "--help", "help"} & set(arguments):
        print(__doc__)
        return 0
    options = {"profile": "quick", "results_dir": "results", "jobs": str(min(os.cpu_count() or 1, 8))}
    options |= {key: value for key, _, value in (word.partition("=") for word in arguments) if key in options}
    rest = [word for word in arguments if word.partition("=")[0] not in options]
    if options["profile"] not in PROFILES:
        print(f"profile={options['profile']}: must be one of {', '.join(PROFILES)}.", file=sys.stderr)
        return 2
    results, place = Path(options["results_dir"]), f"results_dir={options['results_dir']}"
    sweep = ["run.py", "-m", "experiment=table1", place, f"hydra.launcher.n_jobs={options['jobs']}"]
    steps = [[*sweep, *cells, *rest] for cells in PROFILES[options["profile"]]]
    for format, ending in {"latex": "tex", "csv": "csv", "md": "md"}.items():
        steps.append(["tables.py", "table=1", f"format={format}", place, f"out={results}/tables/table1.{ending}"])
    steps += [["figures.py", "figure=3", place], ["report.py", place]]
    start = time.monotonic()
    for number, step in enumerate(steps, start=1):
        print(f"[{number}/{len(steps)}, {time.monotonic() - start:.0f} s] scripts/{' '.join(step)}", flush=True)
        command = [sys.executable, "-u", str(ROOT / "scripts" / step[0]), *step[1:]]
        if code := subprocess.run(command, check=False).returncode:
            then = "Correct the command." if code == 2 else "Start the same command again to go on."
            print(f"\nscripts/{step[0]} ended with {code}. {then}", file=sys.stderr)
            return code
    print(f"\n{(results / 'tables/table1.md').read_text(encoding='utf-8')}")
    print(f"{time.monotonic() - start:.0f} s. Runs: {results}/<run_id>/   tables: {results}/tables/")
    print(f"Radar charts: {results}/figures/   report, for a browser: {results}/report/index.html")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
