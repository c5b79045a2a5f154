"""The `env` config group for ALFWorld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from strata.settings import setting


@dataclass(frozen=True)
class AlfworldSettings:
    """Which games are played and how. See the help texts."""

    data: str | None = setting(
        None, "Folder of official games: holds the split folder, itself or under json_2.1.1. Null: generate games."
    )
    split: Literal["valid_unseen", "valid_seen", "train"] = setting("valid_unseen", "Which split to play.")
    per_category: int | None = setting(None, "Only the first n games of each task type, by id. Null: all.")
    max_steps: int = setting(50, "Actions per episode.")
    admissible: Literal["list", "none"] = setting("list", "Whether the agent is shown its admissible commands.")
    game_seed: int = setting(0, "Seed of generated games. Without effect on official data.")
    cache_dir: str = setting("~/.cache/strata-bench/alfworld", "Folder for generated games and translated problems.")

    def __post_init__(self) -> None:
        if self.per_category is not None and self.per_category < 1:
            raise ValueError(f"per_category={self.per_category} must be 1 or more, or null for all games.")
        if self.max_steps < 1:
            raise ValueError(f"max_steps={self.max_steps} must be 1 or more.")
        if self.game_seed < 0:
            raise ValueError(f"game_seed={self.game_seed} must be 0 or more.")
