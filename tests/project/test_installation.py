"""`make setup`: locked dependencies, and a preflight that names what is missing before the work starts."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(file: str = "constraints.txt") -> dict[str, Requirement]:
    lines = (line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def needed(requirements: list[str], extras: frozenset[str] = frozenset()) -> set[str]:
    """Names of everything that the requirements pull in, as far as it is installed."""
    todo = [(Requirement(text), extras) for text in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        requirement, wanted = todo.pop()
        environments = [{**default_environment(), "extra": extra} for extra in ("", *wanted)]
        if requirement.marker and not any(requirement.marker.evaluate(each) for each in environments):
            continue
        name, of_it = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, of_it) in seen:
            continue
        seen.add((name, of_it))
        try:
            below = importlib.metadata.distribution(name).requires or []
        except importlib.metadata.PackageNotFoundError:
            below = []
        todo += [(Requirement(text), of_it) for text in below]
    return {name for name, _ in seen}


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-build.txt"])
def test_every_pin_is_exact_and_no_host_is_named(file: str) -> None:
    loose = [str(pin) for pin in pins(file).values() if [spec.operator for spec in pin.specifier] != ["=="]]
    assert not loose
    assert "://" not in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("extra", [None, *PROJECT["optional-dependencies"]])
def test_everything_that_gets_installed_is_pinned(extra: str | None) -> None:
    wanted = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    missing = needed(wanted) - set(pins())
    assert not missing, f"run `make lock`: {sorted(missing)} not in constraints.txt"


def test_what_is_installed_is_what_is_pinned() -> None:
    differing = []
    for name in needed([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]):
        version = importlib.metadata.version(name)
        if not pins()[name].specifier.contains(version, prereleases=True):
            differing.append(f"{pins()[name]}, installed {version}")
    assert not differing, f"run `make setup`: {differing}"


def machine(tmp_path: Path, *commands: str) -> dict[str, str]:
    """The environment of a machine that has only these commands."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for command in commands:
        place = shutil.which(command)
        assert place, command
        (folder / command).symlink_to(place)
    return {"PATH": str(folder), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}


BASICS = ("sh", "awk", "df", "id", "mktemp", "rm", "cat", "dirname", "head", "cksum")


def preflight(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", "scripts/preflight.sh", "."]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_a_machine_without_anything_is_told_all_of_it_at_once(tmp_path: Path) -> None:
    result = preflight(machine(tmp_path, *BASICS))
    assert result.returncode == 1
    for name in ("Python 3.11", "venv", "make", "a C compiler", "a C++ compiler"):
        assert name in result.stderr
    assert "Traceback" not in result.stderr
    assert "Nothing has been changed" in result.stderr


@pytest.mark.skipif(not shutil.which("apt-get"), reason="names Debian's command only on Debian")
def test_the_command_that_installs_it_is_printed(tmp_path: Path) -> None:
    result = preflight(machine(tmp_path, *BASICS, "apt-get"))
    assert re.search(r"apt-get install -y .*python3 .*build-essential", result.stderr)


def test_a_compiler_without_headers_counts_as_missing(tmp_path: Path) -> None:
    environment = machine(tmp_path, *BASICS, "make", "python3")
    compiler = tmp_path / "bin" / "cc"
    compiler.write_text("#!/bin/sh\necho stdio.h: No such file >&2\nexit 1\n")
    compiler.chmod(0o755)
    assert "a C compiler with headers" in preflight(environment).stderr


def test_a_full_disk_is_named_before_the_work_starts(tmp_path: Path) -> None:
    result = preflight({**os.environ, "STRATA_NEED_MB": "999999999", "TMPDIR": str(tmp_path)})
    assert result.returncode == 1
    assert re.search(r"disk space: 999999999 MB wanted .* \d+ MB free", result.stderr)


def test_setup_refuses_before_it_touches_anything(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    (copy / "scripts").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", "constraints-build.txt"):
        shutil.copy(ROOT / name, copy / name)
    for script in (ROOT / "scripts").glob("*.sh"):
        shutil.copy(script, copy / "scripts" / script.name)
    command = ["/bin/sh", "scripts/setup.sh"]
    lacking = machine(tmp_path, *BASICS)
    result = subprocess.run(command, cwd=copy, env=lacking, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "This machine lacks" in result.stderr
    assert not (copy / ".venv").exists()
