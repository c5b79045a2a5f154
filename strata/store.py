"""The run directory on disk. The commit protocol stands in `RunStore.commit`.

manifest.json    what was to be run, with which versions, on which tasks in which order
episodes.jsonl   one line per committed episode; appending it is the commit
steps/           what was said and done, one file per episode
events.jsonl     the memory's decisions
memory/          a delta per episode, a full copy every few episodes, and one at the end
complete.json    written last: the run is finished
timings.jsonl    seconds and abandoned attempts      } outside the promise that a killed and resumed run
host.json        the machine                         } ends byte-identical to one never killed
run.lock         held while a process works on the run
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from strata.canonical import digest, dumps
from strata.durable import (
    TEMPORARY,
    append_file,
    cut_file,
    make_folder,
    read_file,
    remove_file,
    replace_file,
    sync_folder,
    writing,
)
from strata.errors import CorruptStateError, RunConflictError
from strata.ledger import EPISODES, EVENTS, FINAL, MANIFEST, MARKER, Ledger, read_ledger, read_sealed, verify_file
from strata.lines import Line, chain, decisions, episode_line, read_usage, render_line, sealed, steps_document
from strata.plan import Plan, differences
from strata.provenance import host_facts
from strata.types import EpisodeRecord, Json, MemoryReport, Usage

LOCK, TIMINGS, HOST = "run.lock", "timings.jsonl", "host.json"
_FOLDERS = ("steps", "memory")


class RunStore:
    """A run directory, open for work by this process alone."""

    def __init__(self, folder: Path, lock: int, ledger: Ledger, manifest: Mapping[str, Json]) -> None:
        self.folder = folder
        self.ledger = ledger
        self.manifest = manifest
        self._lock = lock

    @classmethod
    def open(cls, folder: Path, plan: Plan, *, limit: int | None, accept_changes: bool = False) -> Self:
        """Open or create a run directory, verified and cut back to what is committed.

        Raises RunConflictError (another process works on it; it was made with other settings, data or code),
        CorruptStateError, StorageError.
        """
        make_folder(folder)
        lock = _lock(folder)
        try:
            ledger = read_ledger(folder)
            planned = max(min(limit or len(plan.tasks), len(plan.tasks)), len(ledger.attempted))
            manifest = _reconcile(folder, plan, planned, ledger, accept_changes=accept_changes)
            store = cls(folder, lock, ledger, manifest)
            store._prepare()
            return store
        except BaseException:
            os.close(lock)
            raise

    @property
    def planned(self) -> int:
        """Number of tasks planned."""
        return int(self.manifest["planned"])

    @property
    def complete(self) -> bool:
        """Whether the completion marker stands. Raises CorruptStateError when it contradicts the episodes."""
        path = self.folder / MARKER
        if not path.exists():
            return False
        marker = read_sealed(path)
        if marker["check"] != self.ledger.check:
            raise CorruptStateError(f"{path}: does not fit {EPISODES}; one of the two was damaged or edited.")
        if marker["final"] is not None:
            verify_file(self.folder, marker["final"])
        return bool(marker["planned"] == self.planned)

    def commit(
        self,
        record: EpisodeRecord,
        report: MemoryReport,
        *,
        delta: bytes | None,
        snapshot: bytes | None,
        out_of_order: bool = False,
    ) -> Line:
        """Make one episode permanent: files first, each under a temporary name, synced and renamed; the line last.

        Raises StorageError; then the episode is not committed and everything before it stays as it was.
        """
        index = len(self.ledger.lines)
        files: dict[str, Json] = {"steps": self._write(f"steps/{index:05d}.json", steps_document(record))}
        if delta is not None:
            files["delta"] = self._write(f"memory/delta-{index:05d}.bin", delta)
        if snapshot is not None:
            files["snapshot"] = self._write(f"memory/snapshot-{index:05d}.bin", snapshot)
        for name in _FOLDERS:
            sync_folder(self.folder / name)
        events = decisions(index, record, report)
        body = b"".join(dumps(event).encode() + b"\n" for event in events)
        start = self.ledger.events_size
        if body:
            append_file(self.folder / EVENTS, body, size=start)
            if start == 0:
                sync_folder(self.folder)
        files["events"] = {"path": EVENTS, "end": start + len(body), "sha256": digest(body)}
        line = episode_line(index, record, report, files, events=len(events), out_of_order=out_of_order)
        line["check"] = chain(self.ledger.check, line)
        text = render_line(line)
        append_file(self.folder / EPISODES, text, size=self.ledger.size)
        if index == 0:
            sync_folder(self.folder)
        self.ledger = Ledger(self.folder, (*self.ledger.lines, line), self.ledger.size + len(text), start + len(body))
        return line

    def finish(self, final: bytes | None, notes: Iterable[str]) -> None:
        """Write the memory's last state, then the completion marker. Raises StorageError."""
        entry = None
        if final is not None:
            entry = self._write(FINAL, final)
            sync_folder(self.folder / "memory")
        marker = {
            "episodes": len(self.ledger.lines),
            "planned": self.planned,
            "sha256": digest(b"".join(render_line(line) for line in self.ledger.lines)),
            "check": self.ledger.check,
            "unscored": list(self.ledger.holes),
            "final": entry,
            "notes": list(notes),
        }
        self._write(MARKER, sealed(marker))
        sync_folder(self.folder)

    def reopen(self) -> None:
        """Take the completion marker and the last state away, before a complete run gets more episodes."""
        remove_file(self.folder / MARKER)
        remove_file(self.folder / FINAL)
        sync_folder(self.folder)

    def note_timing(self, entry: Mapping[str, Json]) -> None:
        """Add a line to the timings. Not synced: it may be lost in a crash of the machine."""
        path = self.folder / TIMINGS
        with writing(path), path.open("ab") as file:
            file.write(dumps(dict(entry)).encode() + b"\n")

    def spent(self) -> Usage:
        """Everything this run has used, abandoned attempts included."""
        path = self.folder / TIMINGS
        usage = self.ledger.usage
        for text in read_file(path).splitlines() if path.exists() else []:
            entry = _loads(text)
            for part in entry.get("abandoned", {}).values():
                usage += read_usage(part)
        return usage

    def close(self) -> None:
        """Let other processes work on the run."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _prepare(self) -> None:
        """Bring the folder to exactly what is committed, so that nothing of a cut-off episode remains."""
        if self.complete:
            return
        for name in _FOLDERS:
            make_folder(self.folder / name)
        self.reopen()
        if self.ledger.torn:
            cut_file(self.folder / EPISODES, self.ledger.size)
        events = self.folder / EVENTS
        if events.exists() and events.stat().st_size > self.ledger.events_size:
            cut_file(events, self.ledger.events_size)
        for path in _strays(self.folder, self.ledger.files):
            remove_file(path)
        timings = self.folder / TIMINGS
        if timings.exists() and not read_file(timings).endswith(b"\n"):
            append_file(timings, b"\n", size=timings.stat().st_size)
        text = sealed(self.manifest)
        path = self.folder / MANIFEST
        if not path.exists() or read_file(path) != text:
            replace_file(path, text)
            sync_folder(self.folder.parent)
        host = {"started": datetime.now(UTC).isoformat(timespec="seconds"), **host_facts()}
        replace_file(self.folder / HOST, dumps(host).encode() + b"\n")
        sync_folder(self.folder)

    def _write(self, name: str, data: bytes) -> dict[str, Json]:
        replace_file(self.folder / name, data)
        return {"path": name, "sha256": digest(data)}


def _lock(folder: Path) -> int:
    """Hold the run's lock. The system lets go of it when the process ends, however it ends."""
    path = folder / LOCK
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise RunConflictError(
                f"{folder}: another process is working on this run. Wait for it, or stop it, and start again."
            ) from error
    return descriptor


def _reconcile(folder: Path, plan: Plan, planned: int, ledger: Ledger, *, accept_changes: bool) -> dict[str, Json]:
    """The manifest to go on with. Raises RunConflictError with the differences."""
    path = folder / MANIFEST
    if not path.exists():
        if ledger.lines:
            raise CorruptStateError(f"{path}: missing, but there are committed episodes. Restore it from a copy.")
        return plan.manifest_for(planned, ())
    old = read_sealed(path)
    hard, soft = differences(old, plan.manifest_for(planned, ()))
    hard += [f"task {name}: (committed) -> (absent)" for name in sorted(ledger.attempted - plan.ids)[:3]]
    if hard or (soft and not accept_changes):
        hint = "" if hard else " To go on all the same, noted in the run: accept_changes=true."
        raise RunConflictError(
            f"{folder}: this run was started with other data, tasks, code or versions:\n  "
            + "\n  ".join([*hard, *soft])
            + f"\nNothing was changed. Start afresh with results_dir=FOLDER, or undo the change.{hint}"
        )
    when = f"changed before episode {len(ledger.lines)}: "
    return plan.manifest_for(planned, [*old.get("notes", []), *(when + line for line in soft)])


def _strays(folder: Path, committed: frozenset[str]) -> list[Path]:
    """Files that a cut-off episode or write left behind."""
    found = [path for name in _FOLDERS for path in (folder / name).iterdir()]
    strays = [path for path in found if path.relative_to(folder).as_posix() not in committed]
    return sorted([*strays, *folder.glob(f"*{TEMPORARY}")])


def _loads(text: bytes) -> Mapping[str, Json]:
    """A line of the timings; empty when a crash tore it."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
