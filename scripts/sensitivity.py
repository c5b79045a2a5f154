"""Rerun cells of Table 1 over the 3x3x3 grid of the simulated agent and say how often each ordering holds.

    python scripts/sensitivity.py [results_dir=results/sensitivity] [KEY=VALUE for scripts/run.py ...]
    python scripts/sensitivity.py memory=no_memory,flat,strata env=alfworld env.per_category=6 seed=0,1,2

Finished runs are not repeated. The report is printed and written to RESULTS_DIR/sensitivity.md. Exit status as of
scripts/run.py.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
runpy.run_path(str(ROOT / "strata" / "guard.py"))["check_packages"](ROOT)

from strata.analysis.load import load_runs  # noqa: E402
from strata.analysis.sensitivity import overrides, sensitivity  # noqa: E402
from strata.errors import StrataError  # noqa: E402

DEFAULTS = {
    "results_dir": "results/sensitivity",
    "memory": "no_memory,flat,strata",
    "env": "alfworld",
    "env.per_category": "6",
    "seed": "0",
    "backbone": "simulated",
}


def main(arguments: list[str]) -> int:
    """Run the sweep, then report."""
    given = dict(word.partition("=")[::2] for word in arguments)
    options = {**DEFAULTS, **given}
    if "alfworld" not in options["env"] and "env.per_category" not in given:
        del options["env.per_category"]
    words = [*(f"{key}={value}" for key, value in options.items()), *overrides()]
    command = [sys.executable, str(ROOT / "scripts/run.py"), "-m", *words]
    if code := subprocess.run(command, check=False).returncode:
        return code
    results = Path(options["results_dir"])
    try:
        text = sensitivity(load_runs(results))
    except StrataError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    (results / "sensitivity.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
