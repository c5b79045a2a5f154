"""Runs scripts/run.py many times for the price of one import. Run as a program by the tests.

    python many_commands.py CASES.json

CASES.json is a list of {"place": folder, "arguments": [...]}. Each case is a forked process of its own in its folder;
its streams go to `stdout` and `stderr` beside that folder, its exit status to `status`.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "run.py"


def run(place: Path, arguments: list[str]) -> None:
    """Become the command. Does not return."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(place.parent / name, os.O_WRONLY | os.O_CREAT, 0o644), descriptor)
    os.chdir(place)
    sys.argv = [str(SCRIPT), *arguments]
    status = 1
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:  # noqa: BLE001  as the interpreter does
        traceback.print_exc()
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(status)


def main(cases: list[dict[str, object]]) -> None:
    runpy.run_path(str(SCRIPT), run_name="imported")
    for case in cases:
        place = Path(str(case["place"]))
        place.mkdir(parents=True)
        child = os.fork()
        if child == 0:
            run(place, [str(argument) for argument in case["arguments"]])  # type: ignore[attr-defined]
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (place.parent / "status").write_text(str(status))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
