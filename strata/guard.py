"""Do the project's three import names mean this repository? All three exist on package indexes too.

Standard library only, and no import of the project: a script runs this file by its path, before it imports anything.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("strata", "envs", "baselines")


def find_intruders(root: Path) -> list[str]:
    """One sentence for each package that is missing or comes from outside `root`."""
    problems = []
    for name in PACKAGES:
        expected = (root / name).resolve()
        spec = find_spec(name)
        places = [Path(place).resolve() for place in (spec.submodule_search_locations or ())] if spec else []
        if spec is None:
            problems.append(f"Package {name} is not installed. Run: make setup")
        elif places[:1] != [expected]:
            found = places[0] if places else spec.origin
            problems.append(
                f"Package {name} would be imported from {found}, not from {expected}. "
                f"Uninstall what brought it (pip uninstall {name}), or take its folder out of PYTHONPATH."
            )
    return problems


def check_packages(root: Path) -> None:
    """End the process with status 1, naming the intruder, unless every package resolves inside `root`."""
    problems = find_intruders(root)
    if problems:
        sys.exit("\n".join(problems))
