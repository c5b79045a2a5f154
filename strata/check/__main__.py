"""Command line of the checks."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any

import yaml

from strata.check import environment, memory
from strata.check.report import Finding, run_checks
from strata.check.subject import Maker, state_digest
from strata.errors import StrataError, UsageError


def main(arguments: list[str] | None = None) -> int:
    """Run the checks and write the findings. Returns 0 without faults, 1 with, 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m strata.check", description=__doc__)
    parser.add_argument("kind", choices=("memory", "environment"))
    parser.add_argument("target", help="package.module:Class")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="keys of its config group")
    parser.add_argument("--digest", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    try:
        target, config = load(given.target), read_config(given.settings)
        if given.kind == "memory":
            make = Maker(target, config, given.target)
            if given.digest:
                return _write(state_digest(make))
            findings = run_checks(memory.MEMORY_CHECKS, make)
        else:
            findings = _check_environment(target, config)
    except StrataError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    faults = sum(finding.result == "fault" for finding in findings)
    _write("\n".join(map(str, findings)))
    _write(f"\n{given.target}: {f'{faults} of {len(findings)} checks failed' if faults else 'no faults'}.")
    return 1 if faults else 0


def load(target: str) -> Any:
    """The class named by `package.module:Class`. Raises UsageError."""
    module, separator, name = target.partition(":")
    if not separator or not module:
        raise UsageError(f"{target}: write package.module:Class, with a colon before the class.")
    try:
        found = getattr(import_module(module), name, None)
    except ImportError as error:
        raise UsageError(f"{target}: cannot import {module} ({error}). Run from the folder that holds it.") from error
    if not isinstance(found, type):
        raise UsageError(f"{target}: module {module} has no class {name}.")
    return found


def read_config(settings: list[str]) -> dict[str, Any]:
    """`key=value` pairs, values read as YAML. Raises UsageError."""
    config = {}
    for item in settings:
        key, separator, value = item.partition("=")
        try:
            config[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"{item}: the value is not YAML ({error}).") from error
        if not separator:
            raise UsageError(f"{item}: write key=value.")
    return config


def _check_environment(target: Any, config: dict[str, Any]) -> list[Finding]:
    make = environment.Maker(target, config)
    try:
        return run_checks(environment.ENVIRONMENT_CHECKS, make)
    finally:
        make.close()


def _write(text: str) -> int:
    sys.stdout.write(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
