"""A first comparison with a real model: No-Memory and STRATA on the same 20 ALFWorld tasks, under a hard cap on money.

    python scripts/first_real.py model=openai/gpt-4o-mini budget=2 [tasks=20] [KEY=VALUE for scripts/run.py ...]

First the same cells run with the simulated backbone, for an estimate. Each memory may spend half of the budget. Exit
status as of scripts/run.py: 3 when the cap was reached; the same command with a higher budget goes on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from _command import ROOT, run_command

CELLS = ["-m", "env=alfworld", "order=shuffled", "memory=no_memory,strata"]
USAGE = "Needed: make first-real MODEL=provider/model BUDGET=dollars, the key in the environment, one value for a KEY."


def run(script: str, *words: str) -> None:
    """Run a script of this folder; end with its status when it fails."""
    if code := subprocess.run([sys.executable, "-u", str(ROOT / "scripts" / script), *words], check=False).returncode:
        sys.exit(code)


def compare(arguments: Sequence[str], _: Path) -> str:
    """Estimate, ask, run both memories, show the table. Returns where the runs are."""
    from omegaconf import OmegaConf

    from strata.backbone.litellm import LitellmBackbone
    from strata.errors import UsageError
    from strata.estimate import estimate

    given = dict(word.partition("=")[::2] for word in arguments)
    model, money, tasks = given.pop("model", ""), given.pop("budget", ""), given.pop("tasks", "20")
    swept = any(re.match(r"[^\[{(\"']+,", value) for value in given.values())  # more runs would share out more money
    if swept or not model or not re.fullmatch(r"\d*\.?\d+", money) or float(money) == 0:
        raise UsageError(USAGE)
    place = Path(given.pop("results_dir", "results")) / "first-real" / re.sub(r"[^\w.-]+", "_", model)
    rest = [f"{key}={value}" for key, value in given.items()]
    own = OmegaConf.from_dotlist([f"backbone.model={model}", *rest]).backbone
    if (prices := LitellmBackbone.build(dict(own), seed=0).prices()) is None:
        raise UsageError(f"The price of {model} is unknown: give backbone.price.kind=known, .input= and .output=.")
    cells, trial = [*CELLS, f"limit={tasks}"], [word for word in rest if not word.startswith("backbone.")]
    run("run.py", *cells, *trial, "backbone=simulated", f"results_dir={place}/simulated")
    print(estimate([path.parent for path in place.glob("simulated/*/complete.json")], prices).describe(model))
    print(f"Each run pauses when it has cost ${float(money) / 2:.2f}. The same command goes on.", flush=True)
    if sys.stdin.isatty():
        input("Enter to start, Ctrl-C to leave: ")
    cap = [f"budget.run_cost={float(money) / 2}", f"results_dir={place}"]
    run("run.py", *cells, "backbone=litellm", f"backbone.model={model}", *rest, *cap)
    run("tables.py", f"results_dir={place}")
    return f"Runs: {place}/<run_id>/"


if __name__ == "__main__":
    sys.exit(run_command(compare))
