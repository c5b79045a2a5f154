"""Measure our ALFWorld engine against the stock one: python scripts/bench_alfworld.py games=24

Writes results/bench/alfworld.json: mean CPU milliseconds of load, reset and step, and the ratios. `--help` lists the
options.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _command import run_command


def _bench(arguments: Sequence[str], root: Path) -> str:
    from envs.alfworld.bench import measure, report, write_report
    from envs.alfworld.differential import sample
    from envs.alfworld.environment import TRANSLATIONS
    from envs.alfworld.generator import generate_games
    from envs.alfworld.settings import AlfworldSettings
    from envs.alfworld.translation import TranslationCache
    from strata.analysis.options import asks_for_help, read_options, usage
    from strata.errors import DataError
    from strata.settings import setting

    @dataclass(frozen=True)
    class Options:
        games: int = setting(13, "Games measured, over all task types; one more warms up.")
        steps: int = setting(20, "Commands a game.")
        data: str = setting("", "A split folder of games. Empty: generated games.")
        out: str = setting(str(root / "results/bench/alfworld.json"), "File to write.")

        def __post_init__(self) -> None:
            if self.games < 1 or self.steps < 1:
                raise ValueError("games and steps must be 1 or more.")

    if asks_for_help(arguments):
        return usage(Options)
    options = read_options(Options, arguments)
    cache = Path(AlfworldSettings().cache_dir).expanduser()
    folder = Path(options.data).expanduser()
    if not options.data:
        folder = generate_games(
            cache / "games", cache / TRANSLATIONS, split="valid_unseen", seed=0, per_category=3
        ).folder
    if len(files := sample(folder.glob("*/*/game.tw-pddl"), options.games + 1, seed=0)) < 2:
        raise DataError(f"data={folder}: fewer than two games (<task>/<trial>/game.tw-pddl). Name a split folder.")
    document = report(*measure(files, TranslationCache(cache / TRANSLATIONS), steps=options.steps), len(files) - 1)
    write_report(document, Path(options.out))
    return json.dumps(document, indent=2)


if __name__ == "__main__":
    sys.exit(run_command(_bench))
