"""What a run was made with: versions, code, and facts about the machine.

Versions and code hashes are part of the run and must not change under it. Facts about the machine go to `host.json`,
which no promise covers.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from strata.canonical import digest
from strata.types import Json

PACKAGES = (
    "igraph",
    "json-repair",
    "litellm",
    "networkx",
    "numpy",
    "onnxruntime",
    "scipy",
    "sentence-transformers",
    "snowballstemmer",
    "tokenizers",
    "torch",
    "transformers",
    "wordllama",
)
"""Packages whose version may change a number, whichever parts are chosen. Environments report their engines."""

_NO_EFFECT = frozenset({"doctor.py", "estimate.py", "guard.py", "launch.py", "progress.py", "tracking.py"})
_ROOT = Path(__file__).resolve().parents[1]


def package_versions() -> dict[str, str]:
    """Installed versions of `PACKAGES`; those not installed are left out."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def python_version() -> str:
    """Such as 3.11.7."""
    return platform.python_version()


def code_digests(targets: Iterable[str], root: Path = _ROOT) -> dict[str, str]:
    """A hash of the source that a run depends on, by area: the harness itself and each part's package.

    `targets` are the dotted names of the classes in use; `root` holds the packages. Prompts are hashed on their own.
    """
    harness = [*(root / "strata").glob("*.py"), *(root / "strata" / "prompts").glob("*.py")]
    areas = {"strata": _digest(root, (path for path in harness if path.name not in _NO_EFFECT))}
    for target in targets:
        name, files = _area(root, target)
        areas[name] = _digest(root, files)
    return dict(sorted(areas.items()))


def host_facts() -> dict[str, Json]:
    """Facts about this machine and checkout, for people who look into a run."""
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "python": sys.version,
        "git": git_state(_ROOT),
    }


def git_state(folder: Path) -> dict[str, Json] | None:
    """Commit and whether files differ from it; None outside a git checkout or without git."""
    try:
        commit = _git(folder, "rev-parse", "HEAD").strip()
        return {"commit": commit, "changed": bool(_git(folder, "status", "--porcelain", "-uno").strip())}
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout


def _area(root: Path, target: str) -> tuple[str, list[Path]]:
    """The package or module that a class belongs to, such as `strata.graph` or `baselines`, and its files."""
    first, *rest = target.split(".")
    if first == "baselines":
        return first, _sources(root / first)
    if first in ("strata", "envs") and rest and (root / first / rest[0]).is_dir():
        return f"{first}.{rest[0]}", [*(root / first).glob("_*.py"), *_sources(root / first / rest[0])]
    module = target.rpartition(".")[0]
    spec = find_spec(module)
    file = Path(spec.origin) if spec and spec.origin else None
    return module, [file] if file and file.is_file() else []


def _sources(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]


def _digest(root: Path, files: Iterable[Path]) -> str:
    """Over names and contents. Names are relative to `root`, so that no path of the machine counts."""
    named = sorted((p.relative_to(root).as_posix() if p.is_relative_to(root) else p.name, p) for p in files)
    return digest("".join(f"{name} {digest(path.read_bytes())}\n" for name, path in named))[:16]
