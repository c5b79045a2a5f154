"""On a fresh machine the first cells of a sweep make the games, and they do so inside joblib's worker processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_sweep_on_a_fresh_machine_makes_its_games(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "scripts/run.py", "-m", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
        *("memory=no_memory", "embedder=wordllama", "env=alfworld", "env.per_category=2", "seed=0,1", "limit=1"),
        *(f"env.cache_dir={tmp_path / 'cache'}", f"results_dir={tmp_path / 'results'}"),
    ]
    environment = {key: value for key, value in os.environ.items() if key != "ALFWORLD_DATA"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert len(list((tmp_path / "cache").rglob("game.tw-pddl"))) == 12
    assert len(list((tmp_path / "results").glob("*/complete.json"))) == 2
