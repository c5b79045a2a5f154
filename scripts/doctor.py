"""Say whether every environment, backbone, embedder and memory is ready: python scripts/doctor.py [GROUP=NAME ...]

Exit status: 0 all ready, 1 something is not and is named with what mends it, 2 wrong usage.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
runpy.run_path(str(ROOT / "strata" / "guard.py"))["check_packages"](ROOT)

from hydra import compose, initialize_config_dir  # noqa: E402

from strata.config import GROUPS, RunSettings, read_run_settings  # noqa: E402
from strata.doctor import examine_all  # noqa: E402

CHEAP = {"memory": "no_memory", "env": "alfworld", "backbone": "simulated", "embedder": "wordllama"}


def settings(group: str, name: str) -> RunSettings:
    """A run with one option, beside cheap ones of the other groups."""
    return read_run_settings(compose("config", overrides=[f"{k}={v}" for k, v in {**CHEAP, group: name}.items()]))


def main(arguments: list[str]) -> int:
    """Print a line for each finding."""
    if {"-h", "--help", "help"} & set(arguments):
        print(__doc__)
        return 0
    known = [(group, path.stem) for group in GROUPS for path in sorted((ROOT / "configs" / group).glob("*.yaml"))]
    asked = [tuple(word.split("=", 1)) for word in arguments]
    if unknown := [word for word, pair in zip(arguments, asked, strict=True) if pair not in known]:
        print(f"{unknown[0]}: must be one of {', '.join(map('='.join, known))}.", file=sys.stderr)
        return 2
    faults = 0
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        for finding in examine_all([pair for pair in known if not asked or pair in asked], settings, ROOT / "results"):
            state = "ready" if finding.ready else ("BROKEN" if finding.fault else "yours")
            print(f"{state:7}{finding.part:31} {finding.text}", flush=True)
            faults += finding.fault
    print("Everything is ready." if not faults else f"Not ready: {faults}.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
