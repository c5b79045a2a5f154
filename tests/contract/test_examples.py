"""The examples in the documentation are complete: they pass the checks and run, exactly as printed there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def save_example(page, module, config, folder):
    """Save the page's Python and YAML blocks where the page says."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"`{module}.py`" in text
    assert f"`{config}`" in text
    (code,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    (settings,) = re.findall(r"^```yaml\n(.*?)^```", text, flags=re.M | re.S)
    (folder / module).with_suffix(".py").write_text(code)
    (folder / config).parent.mkdir()
    (folder / config).write_text(settings)
    return code


def run(folder, *words):
    environment = {key: value for key, value in os.environ.items() if key != "ALFWORLD_DATA"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def lines_of(results):
    (path,) = results.glob("*/episodes.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_example_memory_passes_the_checks_and_an_episode(folder, tmp_path):
    code = save_example("adding-a-memory.md", "recipes", "memory/recipes.yaml", folder)
    assert len([line for line in code.splitlines() if line.strip()]) <= 50
    checked = run(folder, "-m", "strata.check", "memory", "recipes:Recipes", "steps=10")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    save_example("adding-an-environment.md", "corridor", "env/corridor.yaml", folder)
    words = ["memory=recipes", "env=corridor", "embedder=wordllama", "progress=none", f"results_dir={tmp_path / 'r'}"]
    done = run(folder, "scripts/run.py", "--config-dir", str(folder), *words)
    assert done.returncode == 0, done.stderr
    lines = lines_of(tmp_path / "r")
    assert any(line["success"] for line in lines[:2])
    for at, line in enumerate(lines):
        solved_before = any(earlier["success"] for earlier in lines[:at])
        assert line["memory"]["injected_ids"] == (["fetch"] if solved_before else [])


def test_example_environment_passes_the_checks(folder):
    save_example("adding-an-environment.md", "corridor", "env/corridor.yaml", folder)
    checked = run(folder, "-m", "strata.check", "environment", "corridor:Corridor", "rooms=6")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "no faults" in checked.stdout
