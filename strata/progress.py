"""What a person sees while a run goes on: a live bar on a terminal, plain lines otherwise. On stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TextIO

from strata.budget import total_tokens
from strata.lines import read_usage
from strata.types import Json, Usage

_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Tally:
    """A run so far: tasks planned, attempted and scored, the sum of their scores in percent, and what was used."""

    planned: int
    done: int = 0
    scored: int = 0
    points: float = 0.0
    usage: Usage = Usage()

    @classmethod
    def of(cls, lines: Iterable[Mapping[str, Json]], planned: int) -> Tally:
        """Count committed lines."""
        tally = cls(planned)
        for line in lines:
            tally = tally.add(line)
        return tally

    def add(self, line: Mapping[str, Json]) -> Tally:
        """Count one more line. A line out of order is the second one of its task."""
        return Tally(
            planned=self.planned,
            done=self.done + (not line.get("out_of_order", False)),
            scored=self.scored + line["scored"],
            points=self.points + (line["score"] or 0.0),
            usage=sum((read_usage(part) for part in line["usage"].values()), start=self.usage),
        )

    @property
    def score(self) -> float | None:
        """Mean over the scored tasks; None when there is none."""
        return self.points / self.scored if self.scored else None

    def describe(self) -> str:
        """Such as `score 71.4 (7 scored), 12.3k tokens, $0.0210`."""
        score = "no score yet" if self.score is None else f"score {self.score:.1f} ({self.scored} scored)"
        cost = "cost unknown" if self.usage.cost is None else f"${self.usage.cost:.4f}"
        return f"{score}, {_short(total_tokens(self.usage))} tokens, {cost}"


class Display(Protocol):
    """Where a pass reports to."""

    def start(self, title: str, tally: Tally) -> None: ...

    def update(self, tally: Tally) -> None: ...

    def warn(self, text: str) -> None: ...

    def finish(self, tally: Tally, folder: Path) -> None: ...

    def close(self) -> None: ...


class Quiet:
    """Warnings only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._title = ""

    def start(self, title: str, tally: Tally) -> None:
        """Remember which run speaks."""
        del tally
        self._title = title

    def update(self, tally: Tally) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        """One line."""
        self._say(f"WARNING: {text}")

    def finish(self, tally: Tally, folder: Path) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing to give back."""

    def _say(self, text: str) -> None:
        self._stream.write(f"[{self._title}] {text}\n")
        self._stream.flush()


class Plain(Quiet):
    """One line now and then, for pipes, logs and several runs on one terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock = clock
        self._pace = _Pace(clock)
        self._last = 0.0

    def start(self, title: str, tally: Tally) -> None:
        """Say what begins."""
        super().start(title, tally)
        self._pace.start(tally)
        self._last = self._clock()
        self._say(f"{tally.done}/{tally.planned} episodes committed")

    def update(self, tally: Tally) -> None:
        """Say how far it is, at most every few seconds."""
        now = self._clock()
        if now - self._last >= _EVERY_SECONDS:
            self._last = now
            self._say(f"{tally.done}/{tally.planned}: {tally.describe()}, {self._pace.left(tally)}")

    def finish(self, tally: Tally, folder: Path) -> None:
        """Say what came out and where it is."""
        self._say(f"done: {tally.done}/{tally.planned}: {tally.describe()} -> {folder}")


class Live(Plain):
    """A bar on a terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        super().__init__(stream, clock)
        columns = BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[note]}", markup=False)
        self._bar = Progress(*columns, console=Console(file=stream))
        self._item = self._bar.add_task("", total=None, note="")

    def start(self, title: str, tally: Tally) -> None:
        """Show the bar."""
        super().start(title, tally)
        self._bar.update(self._item, total=tally.planned, completed=tally.done, note=tally.describe())
        self._bar.start()

    def update(self, tally: Tally) -> None:
        """Move the bar."""
        note = f"{tally.describe()}, {self._pace.left(tally)}"
        self._bar.update(self._item, completed=tally.done, note=note)

    def warn(self, text: str) -> None:
        """A line above the bar."""
        self._bar.console.print(f"WARNING: {text}", markup=False, highlight=False, style="yellow")

    def finish(self, tally: Tally, folder: Path) -> None:
        """Leave the bar standing."""
        self._bar.update(self._item, completed=tally.done, note=tally.describe())
        self._bar.stop()
        super().finish(tally, folder)

    def close(self) -> None:
        """Give the terminal back, also after an error."""
        self._bar.stop()


def open_display(mode: Literal["auto", "rich", "plain", "none"], stream: TextIO, *, alone: bool) -> Display:
    """The display for a stream. `alone`: no other run writes to it at the same time."""
    if mode == "none":
        return Quiet(stream)
    live = mode == "rich" or (mode == "auto" and alone and stream.isatty())
    return Live(stream) if live else Plain(stream)


class _Pace:
    """How long the rest takes, from the episodes of this process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = 0.0
        self._first = 0

    def start(self, tally: Tally) -> None:
        self._began, self._first = self._clock(), tally.done

    def left(self, tally: Tally) -> str:
        here = tally.done - self._first
        if here < 1:
            return "time left unknown"
        seconds = (self._clock() - self._began) / here * (tally.planned - tally.done)
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{rest:02d} left"


def _short(count: int) -> str:
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 10_000_000 else f"{count / 1_000_000:.1f}M"
