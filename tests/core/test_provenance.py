"""What a run was made with is stamped, so that a difference is seen."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from strata.plan import prompt_owners
from strata.prompts import PromptLibrary
from strata.provenance import code_digests, git_state, host_facts, package_versions, python_version

ROOT = Path(__file__).resolve().parents[2]
TARGETS = [
    "strata.graph.memory.StrataMemory",
    "envs.alfworld.AlfworldEnvironment",
    "strata.backbone.simulated.SimulatedBackbone",
    "strata.embedding.minilm.MiniLM",
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("strata", "envs", "baselines"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "areas"),
    [
        ("strata/runner.py", {"strata"}),
        ("strata/prompts/messages.py", {"strata"}),
        ("strata/graph/memory.py", {"strata.graph"}),
        ("strata/graph/vocabulary/alfworld.yaml", {"strata.graph"}),
        ("envs/alfworld/environment.py", {"envs.alfworld"}),
        ("strata/backbone/simulated/draws.py", {"strata.backbone"}),
        ("strata/prompts/agent/act.txt", set()),
        ("strata/analysis/load.py", set()),
        ("strata/progress.py", set()),
        ("baselines/flat_memory.py", set()),
    ],
)
def test_a_change_of_code_shows_in_its_area_alone(copy: Path, file: str, areas: set[str]) -> None:
    before = code_digests(TARGETS, copy)
    assert before == code_digests(TARGETS, ROOT)
    with (copy / file).open("a") as text:
        text.write("\n")
    after = code_digests(TARGETS, copy)
    assert {area for area in after if before[area] != after[area]} == areas


def test_a_class_of_ones_own_is_hashed_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_memory_of_mine.py").write_text("class Mine: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_digests(["my_memory_of_mine.Mine"])["my_memory_of_mine"]
    (tmp_path / "my_memory_of_mine.py").write_text("class Mine: x = 1\n")
    assert code_digests(["my_memory_of_mine.Mine"])["my_memory_of_mine"] != before
    assert str(tmp_path) not in before


def test_versions_are_the_installed_ones() -> None:
    assert package_versions()["numpy"] == np.__version__
    assert python_version().startswith("3.")


def test_the_machine_and_the_checkout_are_described(tmp_path: Path) -> None:
    assert host_facts()["processors"] >= 1
    assert git_state(tmp_path) is None
    for command in (["init", "-q"], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m", "--allow-empty"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    state = git_state(tmp_path)
    assert state is not None
    assert (len(str(state["commit"])), state["changed"]) == (40, False)


def test_prompts_that_a_memory_may_use_are_hashed() -> None:
    library = PromptLibrary()
    assert prompt_owners("strata", library) == ["agent", "strata"]
    assert set(library.hashes(prompt_owners("no_memory", library))) == set(library.names("agent"))
    assert set(library.hashes(prompt_owners("my_variant", library))) == set(library.names())
