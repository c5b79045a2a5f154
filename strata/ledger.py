"""Reading a run directory back, verified: every committed episode, and the memory's state after any of them.

Each line of `episodes.jsonl` carries the hashes of the files it commits and a `check` over itself and the check of the
line before, so damage, loss and reordering are noticed and named. A last line without its newline never became a commit
and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.canonical import digest
from strata.durable import read_file
from strata.errors import CorruptStateError
from strata.lines import Line, chain, read_usage, render_line, sealed
from strata.types import Json, Usage

EPISODES, EVENTS, MANIFEST, MARKER = "episodes.jsonl", "events.jsonl", "manifest.json", "complete.json"
FINAL = "memory/final.bin"


@dataclass(frozen=True)
class Ledger:
    """The committed episodes of a run directory. `size` and `events_size` are the committed bytes of the two files."""

    folder: Path
    lines: tuple[Line, ...]
    size: int
    events_size: int
    torn: bool = False

    @property
    def check(self) -> str:
        """Hash over everything committed."""
        return str(self.lines[-1]["check"]) if self.lines else ""

    @property
    def attempted(self) -> frozenset[str]:
        """Ids of the tasks that have a line."""
        return frozenset(line["task_id"] for line in self.lines)

    @property
    def holes(self) -> tuple[str, ...]:
        """Ids of the tasks that have lines but no score, in order."""
        scored = {line["task_id"] for line in self.lines if line["scored"]}
        return tuple(dict.fromkeys(line["task_id"] for line in self.lines if line["task_id"] not in scored))

    @property
    def usage(self) -> Usage:
        """What the committed episodes used."""
        return sum((read_usage(part) for line in self.lines for part in line["usage"].values()), start=Usage())

    @property
    def files(self) -> frozenset[str]:
        """Paths, relative to the folder, of the whole files that are committed."""
        return frozenset(
            entry["path"] for line in self.lines for name, entry in line["files"].items() if name != "events"
        )

    def memory_state(self) -> tuple[bytes | None, list[bytes]]:
        """What `Memory.restore` takes: the last full copy, if any, and the deltas after it."""
        at = max((number for number, line in enumerate(self.lines) if "snapshot" in line["files"]), default=-1)
        snapshot = read_file(self.folder / self.lines[at]["files"]["snapshot"]["path"]) if at >= 0 else None
        later = [line["files"]["delta"]["path"] for line in self.lines[at + 1 :] if "delta" in line["files"]]
        return snapshot, [read_file(self.folder / path) for path in later]

    def first(self, tasks: int) -> Ledger:
        """The same run as it was when it had attempted this many tasks, repeats of the unscored ones included."""
        count, seen = 0, set[str]()
        for line in self.lines:
            seen.add(line["task_id"])
            if len(seen) > tasks:
                break
            count += 1
        lines = self.lines[:count]
        size = sum(len(render_line(line)) for line in lines)
        return Ledger(self.folder, lines, size, lines[-1]["files"]["events"]["end"] if lines else 0)


def read_ledger(folder: Path) -> Ledger:
    """Read and verify. Raises CorruptStateError that names the first damaged file."""
    path = folder / EPISODES
    data = read_file(path) if path.exists() else b""
    *whole, rest = data.split(b"\n")
    lines: list[Line] = []
    check = ""
    for number, text in enumerate(whole, start=1):
        line = _parse(text)
        if not _intact(line, text, check):
            raise _damaged(f"{path}:{number}")
        check = line["check"]
        lines.append(line)
    if _intact(_parse(rest[:-1]), rest[:-1], check):
        raise _damaged(f"{path}:{len(whole) + 1}")  # a whole line whose newline was damaged is no torn one
    events = _verify_files(folder, lines)
    return Ledger(folder, tuple(lines), len(data) - len(rest), events, torn=bool(rest))


def read_sealed(path: Path) -> dict[str, Json]:
    """The content of a file written by `sealed`. Raises CorruptStateError."""
    text = read_file(path)
    document = {key: value for key, value in _parse(text).items() if key != "seal"}
    if sealed(document) != text:
        raise _damaged(str(path))
    return document


def verify_file(folder: Path, entry: Mapping[str, Json]) -> None:
    """Compare a whole file with its hash, `{path, sha256}`. Raises CorruptStateError."""
    path = folder / entry["path"]
    if digest(read_file(path)) != entry["sha256"]:
        raise _damaged(str(path))


def _parse(text: bytes) -> Line:
    """The JSON object in a text; empty when there is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _intact(line: Line, text: bytes, previous: str) -> bool:
    return bool(line) and line.get("check") == chain(previous, line) and render_line(line) == text + b"\n"


def _verify_files(folder: Path, lines: Sequence[Line]) -> int:
    """Compare every committed file with its hash. Returns the committed length of the events."""
    path = folder / EVENTS
    events = read_file(path) if any(line["files"]["events"]["end"] for line in lines) else b""
    start = 0
    for line in lines:
        for name, entry in line["files"].items():
            if name != "events":
                verify_file(folder, entry)
        end = line["files"]["events"]["end"]
        if len(events) < end or digest(events[start:end]) != line["files"]["events"]["sha256"]:
            raise _damaged(str(path))
        start = end
    return start


def _damaged(where: str) -> CorruptStateError:
    return CorruptStateError(
        f"{where}: its content does not match its checksum or format; it was damaged or edited. Nothing was changed. "
        "Restore it from a copy, or remove the run's folder to run it again."
    )
