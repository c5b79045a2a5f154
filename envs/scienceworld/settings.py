"""The `env` config group for ScienceWorld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from strata.settings import setting

Simplification = Literal[
    "easy", "teleportAction", "openDoors", "openContainers", "selfWateringFlowerPots", "noElectricalAction"
]


@dataclass(frozen=True)
class ScienceWorldSettings:
    """Which tasks are played and how. See the help texts."""

    suite: Literal["paper23", "all30"] = setting(
        "paper23", "Task types: the paper's 23 (all but 5-1, 5-2, 9-1, 9-2, 9-3, 10-1, 10-2), or all 30."
    )
    split: Literal["test", "dev", "train"] = setting("test", "Which of the engine's splits the variations are of.")
    variations: int | None = setting(1, "Variations of each task type. Null: all of the split.")
    variation_seed: int = setting(
        0, "Which ones: seed s takes the s-th group of that many, starting over at the split's end. 0 takes the first."
    )
    simplifications: tuple[Simplification, ...] = setting(
        (),
        "The engine's simplifications. easy stands for teleportAction, openDoors, selfWateringFlowerPots and, "
        "except in the electrical tasks, noElectricalAction.",
    )
    group: Literal["task", "topic"] = setting("task", "What grouped memories tell apart: 30 task names or 10 topics.")
    admissible: Literal["templates", "combinations"] = setting(
        "templates", "What the agent is shown beside the templates: names it has seen, or every possible command."
    )
    max_steps: int = setting(100, "Actions per episode.")
    timeout: float = setting(60.0, "Seconds that the engine may take for one call before it counts as hanging.")

    def __post_init__(self) -> None:
        if self.variations is not None and self.variations < 1:
            raise ValueError(f"variations={self.variations} must be 1 or more, or null for all of the split.")
        if self.variation_seed < 0:
            raise ValueError(f"variation_seed={self.variation_seed} must be 0 or more.")
        if self.max_steps < 1:
            raise ValueError(f"max_steps={self.max_steps} must be 1 or more.")
        if not self.timeout > 0:
            raise ValueError(f"timeout={self.timeout} must be above 0 seconds.")
