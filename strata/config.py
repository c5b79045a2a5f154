"""The settings of a run: typed, checked, and hashed into its identity.

The groups `memory`, `env`, `backbone` and `embedder` stay plain mappings here; the class that a group's `_target_`
names checks its own keys. What identifies a run is every value that can change a number. Paths, caps that only pause,
retries, time-outs and display are left out, so a run may be moved, extended and continued with them changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig, ListConfig, OmegaConf

from strata.canonical import digest, dumps
from strata.errors import UsageError
from strata.settings import read_settings, setting
from strata.types import Json

GROUPS = ("memory", "env", "backbone", "embedder")
LOCAL_KEYS = frozenset(
    {
        *("accept_changes", "limit", "on_error", "progress", "prompts", "results_dir", "retry", "snapshot_every"),
        *("tracking", "train"),
    }
)
"""Top-level keys that cannot change a number, or that the identity holds in another form (prompts, train)."""
LOCAL_GROUP_KEYS = frozenset(
    {"api_base", "api_key_env", "batch_size", "cache_dir", "init_from", "label", "max_retries", "timeout"}
)
"""Keys of the groups, at any depth, that cannot change a number: places, time-outs, retries, names for display."""
PATH_KEYS = frozenset({"data"})
"""Keys that name a place whose content is hashed elsewhere: whether one is given counts, not which."""
FILE_KEYS = frozenset({"file"})
"""Keys that name a file of the user's: its content counts, not its name."""
_FROM_ENVIRONMENT = "${oc.env:"


def _check_limit(limit: int | None) -> None:
    if limit is not None and not limit >= 1:
        raise ValueError(f"limit={limit} must be 1 or more, or null for all tasks.")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Caps. Money is in US dollars; tokens are input plus output."""

    run_cost: float | None = setting(None, "Pause the run before it spends more than this, in dollars. Null: no cap.")
    run_tokens: int | None = setting(None, "Pause the run when it has used this many tokens. Null: no cap.")
    episode_tokens: int | None = setting(
        None, "End an episode (outcome token_limit, scored) when the agent has used this many tokens. Null: no cap."
    )

    def __post_init__(self) -> None:
        for name in ("run_cost", "run_tokens", "episode_tokens"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name}={value} must be above 0, or null for no cap.")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent: a ReAct loop of one thought and one action a step."""

    max_reasks: int = setting(2, "How often a step is asked again after a reply without a readable action.")
    max_tool_calls: int = setting(3, "Calls of a memory's tools in one episode; further ones count as steps.")
    temperature: float | None = setting(0.0, "Sampling temperature. Null: the provider's default.")
    max_tokens: int | None = setting(1024, "Longest reply. Null: the provider's default.")
    episode_seconds: float | None = setting(
        None, "End an episode (outcome time_limit, scored) after this wall time. Makes a run unrepeatable. Null: none."
    )

    def __post_init__(self) -> None:
        if not 0 <= self.max_reasks <= 100:
            raise ValueError(f"max_reasks={self.max_reasks} must be 0 to 100.")
        if not self.max_tool_calls >= 0:
            raise ValueError(f"max_tool_calls={self.max_tool_calls} must be 0 or more.")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature={self.temperature} must be 0 to 2, or null.")
        if self.max_tokens is not None and not self.max_tokens >= 1:
            raise ValueError(f"max_tokens={self.max_tokens} must be 1 or more, or null.")
        if self.episode_seconds is not None and not self.episode_seconds > 0:
            raise ValueError(f"episode_seconds={self.episode_seconds} must be above 0, or null.")


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """What happens after trouble that is not the agent's doing."""

    attempts: int = setting(3, "How often an episode is tried, each time from the last committed state.")
    wait_seconds: float = setting(2.0, "Pause before the second try; doubles each time, up to a minute.")

    def __post_init__(self) -> None:
        if not 1 <= self.attempts <= 100:
            raise ValueError(f"attempts={self.attempts} must be 1 to 100.")
        if not 0 <= self.wait_seconds <= 3600:
            raise ValueError(f"wait_seconds={self.wait_seconds} must be 0 to 3600.")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Where `protocol=offline` builds the memory."""

    split: str = setting("train", "The environment's split that the memory is built on.")
    limit: int | None = setting(None, "How many of its tasks. Null: all.")

    def __post_init__(self) -> None:
        _check_limit(self.limit)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One run: a memory, an environment, a backbone, an embedder, a seed and how they are put together."""

    memory: Mapping[str, Json] = field(metadata={"help": "The memory under test and its keys."})
    env: Mapping[str, Json] = field(metadata={"help": "The environment and its keys."})
    backbone: Mapping[str, Json] = field(metadata={"help": "The language model and its keys."})
    embedder: Mapping[str, Json] = field(metadata={"help": "The text encoder and its keys."})
    seed: int = setting(0, "Seeds the task order, the environment, the memory and a simulated backbone.")
    limit: int | None = setting(None, "Only the first tasks of the order. Null: all. Raised later, the run goes on.")
    order: Literal["by_id", "shuffled"] = setting("by_id", "Order of the tasks; shuffled is a function of the seed.")
    protocol: Literal["online", "offline", "frozen"] = setting(
        "online",
        "online: learn after each task. offline: learn on the train split, then frozen. frozen: use memory.init_from.",
    )
    signal: Literal["env"] = setting("env", "Who tells the memory whether a task succeeded: the environment.")
    on_error: Literal["pause", "skip"] = setting(
        "pause", "After trouble that outlasts the tries: pause the run, or leave the episode out and try it at the end."
    )
    snapshot_every: int = setting(25, "Episodes between full copies of the memory.")
    accept_changes: bool = setting(
        False, "Go on with a run although code or package versions differ from those it began with; noted in it."
    )
    results_dir: str = setting("results", "Folder that holds one folder per run.")
    progress: Literal["auto", "rich", "plain", "none"] = setting(
        "auto", "Display on stderr: a live bar on a terminal, plain lines otherwise."
    )
    tracking: Literal["none", "wandb"] = setting("none", "wandb: also send running totals to Weights & Biases.")
    budget: BudgetSettings = setting(BudgetSettings(), "Caps on money and tokens.")
    agent: AgentSettings = setting(AgentSettings(), "The agent.")
    retry: RetrySettings = setting(RetrySettings(), "Trouble that is not the agent's doing.")
    train: TrainSettings = setting(TrainSettings(), "The training pass of protocol=offline.")
    prompts: Mapping[str, Json] = setting({}, "Prompt name -> file that replaces it, nested: prompts.agent.act=FILE.")

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed={self.seed} must be 0 to {2**31 - 1}.")
        _check_limit(self.limit)
        if not self.snapshot_every >= 1:
            raise ValueError(f"snapshot_every={self.snapshot_every} must be 1 or more.")
        for group in GROUPS:
            values = getattr(self, group)
            if not isinstance(values.get("_target_"), str):
                raise ValueError(f"{group} names no class: choose one of the group's files, {group}=NAME.")
            if not isinstance(values.get("name"), str) or not values["name"]:
                raise ValueError(f"{group}.name must be a short text; it goes into the run's name.")
        if self.protocol == "frozen" and not self.init_from:
            raise ValueError("protocol=frozen needs memory.init_from=RUN: a run whose memory is used.")
        if self.protocol == "offline" and self.init_from:
            raise ValueError("protocol=offline builds its own memory; memory.init_from goes with frozen or online.")

    @property
    def init_from(self) -> str | None:
        """The run whose memory this one starts with: a run id, or a run's folder."""
        value = self.memory.get("init_from")
        return None if value is None else str(value)

    @property
    def learns(self) -> bool:
        """Whether the memory is written to."""
        return self.protocol == "online"


def read_run_settings(config: DictConfig) -> RunSettings:
    """The settings in a composed configuration. Raises UsageError.

    A value may come from an environment variable (`${oc.env:NAME}`) only where it does not count for the identity,
    such as a path. Those keys are never written to a run directory, so no secret can end up there.
    """
    raw = OmegaConf.to_container(config, resolve=False)
    values, written = _resolved(config), _resolved(OmegaConf.create(_escape(raw)))
    for key, value in _leaves(recorded_config(_without_files(written))):
        if isinstance(value, str) and _FROM_ENVIRONMENT in value:
            raise UsageError(f"{key}={value}: only paths may come from an environment variable. Write the value.")
    return read_settings(RunSettings, values, where="config")


def recorded_config(values: Mapping[str, Json]) -> dict[str, Json]:
    """The part of a configuration that counts for the identity and is written to the run directory.

    Raises UsageError when a file that counts by its content cannot be read.
    """
    kept: dict[str, Json] = {key: value for key, value in values.items() if key not in LOCAL_KEYS}
    for group in GROUPS:
        if isinstance(kept.get(group), Mapping):
            kept[group] = _recorded_group(kept[group], group)
    if isinstance(kept.get("budget"), Mapping):
        kept["budget"] = {key: value for key, value in kept["budget"].items() if not key.startswith("run_")}
    return kept


def prompt_files(prompts: Mapping[str, Json]) -> dict[str, str]:
    """Nested or flat prompt replacements as {"agent/act": file}. Raises UsageError."""
    files: dict[str, str] = {}
    for key, value in prompts.items():
        if isinstance(value, Mapping):
            files.update({f"{key}/{name}": path for name, path in prompt_files(value).items()})
        elif isinstance(value, str):
            files[str(key)] = value
        else:
            raise UsageError(f"prompts.{key}={value}: must be the path of a file.")
    return files


def run_id(settings: RunSettings, identity: Mapping[str, Json]) -> str:
    """A readable prefix and twelve digits of the identity's hash. Also the name of the run's folder."""
    names = [settings.memory["name"], settings.env["name"], settings.backbone["name"]]
    prefix = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "_", str(name)).strip("._")[:40] for name in names)
    return f"{prefix}-s{settings.seed}-{digest(dumps(identity))[:12]}"


def as_mapping(settings: RunSettings) -> dict[str, Json]:
    """Settings as plain nested values."""
    return {name: _unfold(getattr(settings, name)) for name in RunSettings.__dataclass_fields__}


def _recorded_group(values: Mapping[str, Json], where: str) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for key, value in values.items():
        if key in LOCAL_GROUP_KEYS:
            continue
        if isinstance(value, Mapping):
            kept[key] = _recorded_group(value, f"{where}.{key}")
        elif key in PATH_KEYS:
            kept[key] = None if value is None else "given"
        elif key in FILE_KEYS and isinstance(value, str):
            kept[key] = _content(value, f"{where}.{key}")
        else:
            kept[key] = value
    return kept


def _content(path: str, where: str) -> str:
    try:
        return f"sha256 {digest(Path(path).expanduser().read_bytes())}"
    except OSError as error:
        raise UsageError(f"{where}={path}: cannot be read ({error.strerror}).") from error


def _unfold(value: Any) -> Json:
    names = getattr(type(value), "__dataclass_fields__", None)
    return value if names is None else {name: _unfold(getattr(value, name)) for name in names}


def _resolved(config: DictConfig | ListConfig) -> dict[str, Json]:
    values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(values, dict), "a DictConfig becomes a dict"
    return {str(key): value for key, value in values.items()}


def _escape(value: Json) -> Json:
    """Turn interpolations of environment variables into plain text, so that resolving leaves them alone."""
    if isinstance(value, dict):
        return {key: _escape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape(item) for item in value]
    return value.replace(_FROM_ENVIRONMENT, "\\" + _FROM_ENVIRONMENT) if isinstance(value, str) else value


def _without_files(value: Json) -> Json:
    """What names a path may come from the environment."""
    if isinstance(value, dict):
        return {key: _without_files(item) for key, item in value.items() if key not in FILE_KEYS}
    return value


def _leaves(value: Json, key: str = "") -> list[tuple[str, Json]]:
    if isinstance(value, Mapping):
        return [leaf for name, item in value.items() for leaf in _leaves(item, f"{key}.{name}" if key else str(name))]
    return [(key, value)]


def results_folder(settings: RunSettings) -> Path:
    """The folder of all runs."""
    return Path(settings.results_dir).expanduser()
