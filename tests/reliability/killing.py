"""Kills real processes at a chosen call and checks what a resumed run makes of it. Run as a program by the tests.

    python killing.py SETTINGS.json

The settings: `folder` to work in, `points` (what is counted: `system` calls, `parts` of the run, or both), `start`
(changes of the run that stands before the kill, or null), `changes` of the run that is killed, `stride` (only every
n-th point). Changes are keys of the run; the only key `overrides` stands for the project's own configuration with these
overrides, so that the real parts are run.

A process that has everything imported forks a child for each point. The child counts its calls and sends itself
SIGKILL at the chosen one: before it, or, for a write, half-way through it. A second child resumes; the bytes of its run
directory are compared with those of a run that nobody killed. The last line printed is a JSON summary.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "core" / "doubles"))

import harness_doubles as doubles

from strata import plan, store
from strata.config import RunSettings, read_run_settings
from strata.runner import run_pass

SYSTEM = [(os, name) for name in ("open", "write", "fsync", "replace", "unlink", "mkdir", "ftruncate")]
PARTS = [
    *((doubles.ListMemory, name) for name in ("retrieve", "reflect", "changes", "snapshot", "restore")),
    *((doubles.Counting, name) for name in ("reset", "step")),
    (doubles.Hashed, "complete"),
]
POINTS = {"system": SYSTEM, "parts": PARTS}


def arm(points: list[tuple[Any, str]], at: int) -> None:
    """Make the `at`-th call of any of the points the process's last."""
    count = 0

    def wrap(owner: Any, name: str, original: Callable[..., Any]) -> None:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                if name == "write" and owner is os:
                    original(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **kwargs)

        setattr(owner, name, call)

    for owner, name in points:
        wrap(owner, name, getattr(owner, name))


def play(results: Path, changes: dict[str, Any]) -> None:
    overrides = changes.get("overrides")
    settings = composed(results, overrides) if overrides else doubles.run_settings(results, **changes)
    run_pass(settings, show=doubles.Said(), sleep=lambda _: None)


def composed(results: Path, overrides: list[str]) -> RunSettings:
    """The project's own configuration."""
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(Path(__file__).resolve().parents[2] / "configs"), version_base="1.3"):
        return read_run_settings(compose("config", [*overrides, f"results_dir={results}"]))


def in_child(work: Callable[[], None]) -> int:
    """The wait status of a forked process that did the work."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def prepare(results: Path, origin: Path | None) -> None:
    shutil.rmtree(results, ignore_errors=True)
    if origin is not None:
        shutil.copytree(origin, results)


def only_run(results: Path) -> dict[str, bytes]:
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return doubles.promised_bytes(folder)


def main(settings: dict[str, Any]) -> dict[str, Any]:
    # What is slow, or changes while somebody edits the code, and is not what is tested here.
    store.host_facts, plan.package_versions, plan.code_digests = dict, dict, lambda _: {}
    folder, changes = Path(settings["folder"]), settings["changes"]
    points = [point for name in settings["points"] for point in POINTS[name]]
    origin = None
    if settings["start"] is not None:
        origin = folder / "origin"
        play(origin, settings["start"])
    play(folder / "whole", changes)
    wanted = only_run(folder / "whole")
    at, kills = settings.get("first", 1), 0
    while True:
        results = folder / "killed"
        prepare(results, origin)
        status = in_child(lambda: (arm(points, at), play(results, changes)))  # noqa: B023
        if status == 0:
            break
        assert os.WIFSIGNALED(status), f"point {at}: ended with {status} instead of being killed"
        assert os.WTERMSIG(status) == signal.SIGKILL, f"point {at}: signal {os.WTERMSIG(status)}"
        kills += 1
        assert in_child(lambda: play(results, changes)) == 0, f"point {at}: the run did not resume"  # noqa: B023
        found = only_run(results)
        differing = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        assert not differing, f"point {at}: these files differ from an unkilled run's: {differing}"
        at += settings["stride"]
    return {"points": at, "kills": kills, "files": len(wanted)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))  # noqa: T201
