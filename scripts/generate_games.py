"""Generate ALFWorld games: python scripts/generate_games.py split=valid_unseen seed=0 out=FOLDER

Nothing is downloaded; every game is won by its stored walkthrough. `env=alfworld` does this by itself when it has no
official data. `--help` lists the options.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from _command import run_command


def _generate(arguments: Sequence[str], _: Path) -> str:
    from envs.alfworld.environment import TRANSLATIONS
    from envs.alfworld.generator import generate_games
    from envs.alfworld.settings import AlfworldSettings
    from strata.analysis.options import asks_for_help, read_options, usage
    from strata.settings import setting

    @dataclass(frozen=True)
    class Options:
        split: Literal["valid_unseen", "valid_seen", "train"] = setting("valid_unseen", "Which split to make.")
        seed: int = setting(0, "Seed of the games.")
        per_category: int | None = setting(None, "Only n games of each task type. Null: all of the split.")
        out: str = setting(AlfworldSettings().cache_dir, "Folder for games and translated problems.")

        def __post_init__(self) -> None:
            AlfworldSettings(split=self.split, game_seed=self.seed, per_category=self.per_category)

    if asks_for_help(arguments):
        return usage(Options)
    options = read_options(Options, arguments)
    out = Path(options.out).expanduser()
    made = generate_games(
        out / "games", out / TRANSLATIONS, split=options.split, seed=options.seed, per_category=options.per_category
    )
    play = f"env.data={made.folder.parent} env.split={options.split}"
    return f"{len(made.ids)} games in {made.folder}\nPlay them with {play}"


if __name__ == "__main__":
    sys.exit(run_command(_generate))
