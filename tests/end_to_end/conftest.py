"""The project as a user meets it: scripts as processes, results as files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = {
    "OPENAI_API_KEY": "sk-" + "planted-0123456789abcdef0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-" + "planted-0123456789abcdef0123456789",
}
Ended = subprocess.CompletedProcess[str]
Call = Callable[..., Ended]


def _call(
    *command: str, timeout: float = 300, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository without a terminal, with API keys planted in its environment."""
    kept = {key: value for key, value in os.environ.items() if key not in {"ALFWORLD_DATA", "PYTHONPATH"}}
    environment = {**kept, **PLANTED, "COLUMNS": "100", **(extra or {})}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _script(name: str, *arguments: str, timeout: float = 300) -> Ended:
    """Run a script of the project with this interpreter."""
    return _call(sys.executable, str(ROOT / "scripts" / name), *arguments, timeout=timeout)


class Sweep:
    """A small sweep over the three memories that has been run once."""

    CELLS = (
        "-m",
        "memory=no_memory,flat,strata",
        "env=alfworld",
        "env.per_category=1",
        "backbone=simulated",
        "embedder=wordllama",
        "limit=3",
        "hydra/launcher=basic",
    )

    def __init__(self, results: Path) -> None:
        self.results = results
        self.first = self.run()

    def run(self) -> Ended:
        return _script("run.py", *self.CELLS, f"results_dir={self.results}")

    def folders(self) -> dict[str, Path]:
        """Memory name -> run folder."""
        return {
            manifest.parent.name.split("-")[0]: manifest.parent for manifest in self.results.glob("*/manifest.json")
        }


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return Sweep(tmp_path_factory.mktemp("sweep") / "results")


@pytest.fixture(scope="session")
def call() -> Call:
    return _call


@pytest.fixture(scope="session")
def script() -> Call:
    return _script


@pytest.fixture(scope="session")
def planted() -> list[str]:
    """API keys that lie in the environment of every process."""
    return list(PLANTED.values())
