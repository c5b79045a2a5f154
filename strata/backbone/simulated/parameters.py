"""The parameters of the simulated agent and their presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

import yaml

from strata.errors import UsageError
from strata.settings import setting
from strata.types import Json


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the agent is like. Probabilities are between 0 and 1."""

    preset: str = setting("sim_pro", "whose values hold where a value is null: sim_pro or sim_flash")
    p_follow: float = setting(0.0, "probability, per episode, of following the most goal-like procedure in memory")
    p_heed: float = setting(0.0, "probability, per episode, of honouring warnings")
    attention_lines: int = setting(0, "non-blank lines of memory text that are always read")
    attention_decay: float = setting(0.0, "probability, for each further line, that reading goes on to it")
    relevance_floor: float = setting(0.0, "share of goal words that a procedure must share to be followed")
    p_recover: float = setting(0.0, "probability of turning to its own ideas when a procedure did not solve the task")
    p_wander: float = setting(0.0, "probability, per move while searching, of going to a random place")
    naive_noise: float = setting(0.0, "spread of the scores by which it chooses where it has no plan")
    slip: float = setting(0.0, "probability, per step, of a random action")
    p_malformed: float = setting(0.0, "probability, per step, of a reply without an action, until asked again")
    p_judge: float = setting(0.0, "probability of judging an attempt rightly when no outcome is given")
    prior: Mapping[str, Any] = setting({}, "probability of knowing the generic steps, by world and task family")

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.type == "float" and item.name != "naive_noise" and not 0 <= value <= 1:
                raise ValueError(f"{item.name}={value}: must be between 0 and 1.")
        if self.attention_lines < 0 or self.naive_noise < 0:
            raise ValueError("attention_lines and naive_noise must not be negative.")
        if self.attention_decay == 1:
            raise ValueError("attention_decay=1: must be below 1.")
        for world, families in self.prior.items():
            if not isinstance(families, Mapping) or not all(_is_share(value) for value in families.values()):
                raise ValueError(f"prior.{world}={families}: must map task families to numbers between 0 and 1.")

    def known(self, world: str, family: str) -> float:
        """Probability of knowing a family's generic steps; 0 where none is given."""
        return float(self.prior.get(world, {}).get(family, 0.0))


def presets() -> dict[str, dict[str, Json]]:
    """Preset name -> parameter values, from the packaged file."""
    text = files("strata.backbone.simulated").joinpath("presets.yaml").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Json]] = yaml.safe_load(text)
    return loaded


def with_preset(config: Mapping[str, Json]) -> dict[str, Json]:
    """The preset's values, with every value of the config that is not None in their place.

    Raises UsageError for an unknown preset.
    """
    known = presets()
    name = config.get("preset") or "sim_pro"
    if name not in known:
        raise UsageError(f"backbone.preset={name}: no such preset. There are: {', '.join(sorted(known))}.")
    changed = {key: value for key, value in config.items() if value is not None}
    return {**known[name], **changed, "preset": name}


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
