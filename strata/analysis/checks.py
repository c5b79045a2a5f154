"""What a reader must be told about a set of runs: holes, differing settings, memories that did nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from strata.analysis.records import Manifest, Run
from strata.canonical import digest, dumps
from strata.errors import DataError
from strata.types import Json

OPEN_SHARE = 0.02
OPEN_TASKS = 1

BANNER = (
    "SIMULATED. These numbers come from a simulated backbone: a model of an agent, not a language model. They show how "
    "the mechanisms behave under its assumptions. They are no evidence about any method's worth and no reproduction of "
    "the paper's numbers."
)

_FAIRNESS = (
    "protocol",
    "order",
    "signal",
    "agent.max_reasks",
    "agent.max_tool_calls",
    "agent.temperature",
    "agent.max_tokens",
    "agent.episode_seconds",
    "budget.episode_tokens",
)


def banner(runs: Iterable[Run]) -> str:
    """The text that heads everything a simulated run took part in, else empty."""
    return BANNER if any(run.manifest.simulated for run in runs) else ""


def too_many_open(open_tasks: int, planned: int) -> bool:
    """Whether a cell must not be shown without a mark: more than 2 % and more than one task without a score."""
    return open_tasks > OPEN_TASKS and open_tasks > OPEN_SHARE * planned


def is_partial(runs: Sequence[Run]) -> bool:
    """Whether a cell has too many tasks open, in one of its runs or in all of them together."""
    together = too_many_open(sum(run.open for run in runs), sum(run.manifest.planned for run in runs))
    return together or any(too_many_open(run.open, run.manifest.planned) for run in runs)


def require_complete(what: str, cells: Iterable[Sequence[Run]]) -> None:
    """Raises DataError naming every unfinished run of a partial cell and how to finish it."""
    unfinished = {run.manifest.run_id: run for cell in cells if is_partial(cell) for run in cell if run.open}
    if not unfinished:
        return
    lines = [f"  {describe_open(run)}\n    go on with: {resume_command(run)}" for _, run in sorted(unfinished.items())]
    raise DataError(
        f"{what} cannot be shown: more than 2 % and more than one of a cell's planned tasks have no score.\n"
        + "\n".join(lines)
        + "\nWith allow_partial=true it is made all the same and these cells are marked."
    )


def describe_open(run: Run) -> str:
    """One line about a run's holes: how many, and of what kind."""
    failed = Counter(episode.outcome.value for episode in run.results if not episode.scored)
    kinds = [f"{count} ended by {name}" for name, count in sorted(failed.items())]
    missing = run.open - failed.total()
    if missing > 0:
        kinds.append(f"{missing} not run yet")
    return f"{run.manifest.run_id}: {len(run.scored)} of {run.manifest.planned} scored, {', '.join(kinds)}"


def resume_command(run: Run) -> str:
    """The command that goes on with a run, as far as the manifest tells it."""
    manifest = run.manifest
    preset, model = manifest.config.get("backbone.preset"), manifest.config.get("backbone.model")
    backbone = manifest.backbone
    if preset or model:
        backbone = f"simulated backbone.preset={preset}" if preset else f"litellm backbone.model={model}"
    return (
        f"python scripts/run.py memory={manifest.memory} env={manifest.env} backbone={backbone} seed={manifest.seed} "
        f"results_dir={run.folder.parent} and the other overrides it was started with (see its manifest.json)"
    )


def idle_memory(runs: Sequence[Run]) -> tuple[str, ...]:
    """Remarks about runs whose memory never held anything, or held something and never showed it."""
    kinds = Counter(kind for run in runs if (kind := _idleness(run)))
    return tuple(
        kind if count == len(runs) else f"{kind} in {count} of {len(runs)} runs"
        for kind, count in sorted(kinds.items())
    )


def _idleness(run: Run) -> str:
    if not run.results or run.manifest.memory == "no_memory":
        return ""
    if not any(episode.memory.stored for episode in run.results):
        return "memory stayed empty"
    return "" if any(episode.memory.lines for episode in run.results) else "memory never shown"


def shared_settings(runs: Sequence[Run]) -> str:
    """The settings that every run has in common and that a reader needs, as one line."""
    facts = [_fairness(run.manifest) for run in runs]
    common = [f"{key} {facts[0][key]}" for key in facts[0] if len({fact.get(key) for fact in facts}) == 1]
    return "; ".join(common)


def differences(runs: Sequence[Run]) -> tuple[str, ...]:
    """One warning for each setting, version or task set in which runs that are compared differ."""
    found = [*_differing("", runs, _fairness), *_differing("", runs, _own_versions, absent=False)]
    by_env: dict[str, list[Run]] = {}
    for run in runs:
        by_env.setdefault(f"{run.manifest.env} {run.manifest.split}", []).append(run)
    for env, chosen in sorted(by_env.items()):
        found += _differing(f"{env}: ", chosen, _env_settings)
        found += _differing(f"{env}: ", chosen, _env_versions, absent=False)
        found += _differing_tasks(env, chosen)
        found += _differing_seeds(env, chosen)
    return tuple(found)


def _fairness(manifest: Manifest) -> dict[str, str]:
    known = {key: _plain(manifest.config[key]) for key in _FAIRNESS if key in manifest.config}
    known["embedder"] = manifest.embedder
    agent = {name: sha for name, sha in manifest.prompts.items() if name.startswith("agent/")}
    return known | {f"prompt {name}": sha[:12] for name, sha in sorted(agent.items())}


def _own_versions(manifest: Manifest) -> dict[str, str]:
    versions = {key: value for key, value in manifest.versions.items() if not key.startswith("env.")}
    return {f"version of {key}": _plain(value) for key, value in versions.items()}


def _env_versions(manifest: Manifest) -> dict[str, str]:
    return {key: _plain(value) for key, value in manifest.versions.items() if key.startswith("env.")}


def _env_settings(manifest: Manifest) -> dict[str, str]:
    return {key: _plain(value) for key, value in manifest.config.items() if key.startswith("env.")}


def _differing(
    where: str, runs: Sequence[Run], facts: Callable[[Manifest], Mapping[str, str]], *, absent: bool = True
) -> list[str]:
    """Warnings for the facts that not all runs share. With `absent` a fact that a run lacks counts as differing."""
    known = [facts(run.manifest) for run in runs]
    warnings = []
    for key in dict.fromkeys(key for fact in known for key in fact):
        holders: dict[str, list[str]] = {}
        for run, fact in zip(runs, known, strict=True):
            if absent or key in fact:
                holders.setdefault(fact.get(key, "absent"), []).append(run.manifest.run_id)
        if len(holders) > 1:
            warnings.append(f"{where}{key} differs between runs: {_who(holders)}.")
    return warnings


def _differing_tasks(env: str, runs: Sequence[Run]) -> list[str]:
    holders: dict[str, list[str]] = {}
    for run in runs:
        tasks = run.manifest.tasks[: run.manifest.planned]
        name = f"{len(tasks)} tasks, set {digest(dumps(sorted(task.id for task in tasks)))[:6]}"
        holders.setdefault(name, []).append(run.manifest.run_id)
    return [f"{env}: runs are not over the same tasks: {_who(holders)}."] if len(holders) > 1 else []


def _differing_seeds(env: str, runs: Sequence[Run]) -> list[str]:
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.manifest.memory, set()).add(run.manifest.seed)
    holders: dict[str, list[str]] = {}
    for memory, found in seeds.items():
        holders.setdefault(", ".join(map(str, sorted(found))), []).append(memory)
    return [f"{env}: memories were run with different seeds: {_who(holders)}."] if len(holders) > 1 else []


def _who(holders: Mapping[str, Sequence[str]]) -> str:
    """Each value with who holds it; a long list is cut to its first names and a count."""
    shown = []
    for value, names in sorted(holders.items(), key=lambda item: (-len(item[1]), item[0])):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        shown.append(f"{value} ({', '.join(names[:3])}{more})")
    return "; ".join(shown)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)
