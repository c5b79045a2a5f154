"""One pass of a memory over a stream of tasks: order, resume, commit, trouble, caps.

For each task: play, reflect, commit. After trouble that is not the agent's doing the memory is put back to the last
committed state and the episode tried again, a bounded number of times.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata.budget import Budget
from strata.compose import Parts, build_memory, open_parts
from strata.config import RunSettings, results_folder
from strata.episode import TROUBLE, Agent, memory_at_work, outcome_of, run_episode
from strata.errors import DataError, Paused, StrataError, UsageError
from strata.ledger import MANIFEST, MARKER, read_ledger, read_sealed
from strata.lines import as_values
from strata.metering import MeteredBackbone, MeteredEmbedder, Stopwatch
from strata.plan import EMPTY, Plan, Source, make_plan
from strata.progress import Display, Tally
from strata.store import RunStore
from strata.types import EpisodeRecord, MemoryReport, Task

_LONGEST_WAIT = 60.0
_SUSPICIOUS = 10


@dataclass(frozen=True, slots=True)
class PassResult:
    """A finished pass. `unscored` names the tasks that trouble left without a score."""

    run_id: str
    folder: Path
    tally: Tally
    unscored: tuple[str, ...]


def run_pass(settings: RunSettings, *, show: Display, sleep: Callable[[float], None] = time.sleep) -> PassResult:
    """Run a memory over the tasks, or go on where an earlier process stopped, or return at once when all is done.

    Raises Paused (start again to go on), RunConflictError, StorageError, CorruptStateError, DataError, UsageError,
    BackboneRefused.
    """
    source = _train(settings, show, sleep) if settings.protocol == "offline" else _source(settings)
    with open_parts(settings) as parts:
        plan = make_plan(settings, parts, source)
        _check_source(source, plan)
        players = _Players(settings, parts)
        folder = results_folder(settings) / plan.run_id
        with RunStore.open(folder, plan, limit=settings.limit, accept_changes=settings.accept_changes) as store:
            show.start(plan.run_id, Tally.of(store.ledger.lines, store.planned))
            if not store.complete or store.ledger.holes:
                _Pass(settings, players, store, source, show, sleep).run(plan.tasks[: store.planned])
            tally = Tally.of(store.ledger.lines, store.planned)
            show.finish(tally, folder)
            return PassResult(plan.run_id, folder, tally, store.ledger.holes)


class _Players:
    """Who acts in an episode, each metered."""

    def __init__(self, settings: RunSettings, parts: Parts) -> None:
        self.watch = Stopwatch(time.perf_counter)
        self.budget = Budget(settings.budget)
        self.environment = parts.environment
        self.backbone = MeteredBackbone(parts.backbone, self.budget, self.watch)
        embedder = MeteredEmbedder(parts.embedder, self.watch)
        self.memory = build_memory(settings, backbone=self.backbone, embedder=embedder, prompts=parts.prompts)
        act, reask = parts.prompts.get("agent/act"), parts.prompts.get("agent/reask")
        self.agent = Agent(act, reask, settings.agent, settings.budget.episode_tokens)


class _Pass:
    """A pass at work on its store."""

    def __init__(
        self,
        settings: RunSettings,
        players: _Players,
        store: RunStore,
        source: Source | None,
        show: Display,
        sleep: Callable[[float], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._source = source
        self._show = show
        self._sleep = sleep
        self._players = players
        self._memory, self._watch = players.memory, players.watch
        self._tally = Tally.of(store.ledger.lines, store.planned)
        players.budget.spent = store.spent()

    def run(self, tasks: Sequence[Task]) -> None:
        """Play what is not committed yet, then once more what trouble left unscored, then write the end."""
        if self._store.complete:
            self._store.reopen()
        if self._store.ledger.lines or self._source:
            self._restore()
        attempted = self._store.ledger.attempted
        for task in tasks:
            if task.id not in attempted:
                self._play(task)
        holes = self._store.ledger.holes
        for task in tasks:
            if task.id in holes:
                self._play(task, out_of_order=True)
        with memory_at_work(self._watch):
            final = self._memory.snapshot() if self._settings.learns else None
        self._store.finish(final, self._warnings())

    def _play(self, task: Task, *, out_of_order: bool = False) -> None:
        """Bring one task to a committed line."""
        with self._watch.measure("harness"):
            self._play_and_commit(task, out_of_order=out_of_order)

    def _play_and_commit(self, task: Task, *, out_of_order: bool) -> None:
        record, report = self._try_until_scored(task)
        if out_of_order and not record.outcome.scored:
            self._show.warn(f"task {task.id} failed again ({record.outcome}: {record.detail}); it stays unscored")
            return
        delta = snapshot = None
        if self._settings.learns and record.outcome.scored:
            delta = self._memory.changes()
            if (record.episode.index + 1) % self._settings.snapshot_every == 0:
                snapshot = self._memory.snapshot()
        line = self._store.commit(record, report, delta=delta, snapshot=snapshot, out_of_order=out_of_order)
        self._store.note_timing({"index": line["index"], "task_id": task.id, **self._seconds()})
        self._tally = self._tally.add(line)
        self._show.update(self._tally)
        if line["index"] + 1 == _SUSPICIOUS and self._stays_empty():
            self._show.warn(f"the memory has stored nothing in the first {_SUSPICIOUS} episodes")

    def _try_until_scored(self, task: Task) -> tuple[EpisodeRecord, MemoryReport]:
        """An episode that the agent brought to an end; with on_error=skip also one that trouble kept from it."""
        retry = self._settings.retry
        wait = retry.wait_seconds
        for attempt in range(1, retry.attempts + 1):
            try:
                record, report = self._attempt(task)
            except BaseException as error:
                self._note_abandoned(task, attempt, error)
                raise
            if record.outcome.scored:
                return record, report
            self._note_abandoned(task, attempt, record)
            self._restore()
            if attempt < retry.attempts:
                self._show.warn(f"{record.outcome} on task {task.id}: {record.detail}; trying again in {wait:g} s")
                self._sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        if self._settings.on_error == "skip":
            return replace(record, usage={}), MemoryReport(stored=report.stored)
        raise Paused(
            f"Task {task.id} met {record.outcome} in {retry.attempts} of {retry.attempts} tries: {record.detail}\n"
            "The run is paused; what is committed is safe. Mend the cause and start the same command again to go on, "
            "or leave such tasks out with on_error=skip."
        )

    def _attempt(self, task: Task) -> tuple[EpisodeRecord, MemoryReport]:
        """Play the task once and let the memory learn from it. Trouble comes back as an unscored record."""
        index = len(self._store.ledger.lines)
        record = run_episode(
            index,
            task,
            environment=self._players.environment,
            memory=self._memory,
            backbone=self._players.backbone,
            agent=self._players.agent,
            seed=self._settings.seed,
            watch=self._watch,
        )
        stored = record.episode.context.stored
        report = MemoryReport(stored=stored)
        if record.outcome.scored:
            try:
                record = replace(record, episode=replace(record.episode, success=self._success_signal(record)))
                if self._settings.learns:
                    with memory_at_work(self._watch):
                        report = self._memory.reflect(record.episode)
            except tuple(TROUBLE) as error:
                outcome = outcome_of(error)
                episode = replace(record.episode, success=None)
                record = replace(
                    record, episode=episode, outcome=outcome, detail=str(error), score=None, raw_score=None
                )
        return replace(record, usage=self._players.backbone.take()), report

    def _success_signal(self, record: EpisodeRecord) -> bool | None:
        """What the memory is told about the episode's success. The place of other signals than the environment's."""
        return record.episode.success

    def _restore(self) -> None:
        """Put the memory back to what is committed."""
        snapshot, deltas = self._store.ledger.memory_state()
        if snapshot is None and self._source is not None:
            snapshot, earlier = self._source.ledger.memory_state()
            deltas = [*earlier, *deltas]
        self._memory.restore(snapshot, deltas)
        if not self._settings.learns:
            self._memory.freeze()

    def _note_abandoned(self, task: Task, attempt: int, cause: EpisodeRecord | BaseException) -> None:
        """Keep what an attempt without a commit has used, and why it came to nothing."""
        usage, reason = self._players.backbone.take(), str(cause)
        if isinstance(cause, EpisodeRecord):
            usage, reason = dict(cause.usage), f"{cause.outcome}: {cause.detail}"
        elif not isinstance(cause, StrataError):
            reason = "".join(traceback.format_exception(cause))
        spent = {purpose: as_values(part) for purpose, part in usage.items()}
        entry = {"task_id": task.id, "attempt": attempt, "reason": reason, "abandoned": spent}
        self._store.note_timing({**entry, **self._seconds()})

    def _seconds(self) -> dict[str, float]:
        seconds = {name: round(value, 6) for name, value in sorted(self._watch.take().items())}
        return {"wall": round(sum(seconds.values()), 6), **seconds}

    def _warnings(self) -> list[str]:
        """What a reader of the results must know. Said aloud too."""
        warnings = []
        if self._stays_empty():
            warnings.append(
                f"the memory {self._settings.memory['name']} stayed empty over all episodes: "
                "this run measures the agent without a memory"
            )
        if self._store.ledger.holes:
            warnings.append(f"unscored tasks: {', '.join(self._store.ledger.holes)}")
        for warning in warnings:
            self._show.warn(warning)
        return warnings

    def _stays_empty(self) -> bool:
        memories = [line["memory"] for line in self._store.ledger.lines]
        used = any(memory["stored"] or memory["injected_ids"] for memory in memories)
        return self._settings.memory["name"] != EMPTY and not used


def _train(settings: RunSettings, show: Display, sleep: Callable[[float], None]) -> Source:
    """The training pass of protocol=offline: an ordinary online run over the train split, with a folder of its own."""
    env = {**settings.env, "split": settings.train.split}
    result = run_pass(replace(settings, protocol="online", limit=settings.train.limit, env=env), show=show, sleep=sleep)
    ledger = read_ledger(result.folder)
    return Source(result.run_id, ledger.first(settings.train.limit or len(ledger.lines)))


def _source(settings: RunSettings) -> Source | None:
    """The run named by memory.init_from: a run id under results_dir, or a folder."""
    if settings.init_from is None:
        return None
    choices = [results_folder(settings) / settings.init_from, Path(settings.init_from).expanduser()]
    folder = next((choice for choice in choices if (choice / MANIFEST).is_file()), None)
    if folder is None:
        raise UsageError(
            f"memory.init_from={settings.init_from}: no such run; looked at {choices[0]} and {choices[1]}."
        )
    if not (folder / MARKER).is_file():
        raise UsageError(f"memory.init_from={settings.init_from}: {folder} is not complete. Finish that run first.")
    ledger = read_ledger(folder)
    if not any("delta" in line["files"] for line in ledger.lines):
        raise DataError(f"memory.init_from={settings.init_from}: this run has stored no memory.")
    return Source(str(read_sealed(folder / MANIFEST)["run_id"]), ledger)


def _check_source(source: Source | None, plan: Plan) -> None:
    """Refuse a memory of another method, or one whose vectors are another embedder's."""
    if source is None:
        return
    made = read_sealed(source.ledger.folder / MANIFEST)
    pairs = {
        "memory": (made["memory"]["name"], plan.manifest["memory"]["name"]),
        "embedder": (made["config"]["embedder"], plan.manifest["config"]["embedder"]),
    }
    for key, (theirs, mine) in pairs.items():
        if theirs != mine:
            raise UsageError(
                f"{source.run_id} was made with {key} {theirs}, this run has {mine}. Give this run the same {key}, or "
                "name another run by memory.init_from."
            )
