"""CPU time of our engine and of the stock engine, on the same games and commands, in one process."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Protocol

from envs.alfworld.engine import FastEngine, Moment
from envs.alfworld.stock import StockEngine
from envs.alfworld.translation import TranslationCache
from strata.types import Json

_MILLISECONDS = 1000.0


class _Engine(Protocol):
    def load(self, file: Path) -> None: ...

    def reset(self) -> Moment: ...

    def step(self, command: str) -> Moment: ...


@dataclass(frozen=True, slots=True)
class Cost:
    """Mean CPU milliseconds."""

    load: float
    reset: float
    step: float

    @property
    def start(self) -> float:
        """Load and reset together."""
        return self.load + self.reset


def measure(files: Sequence[Path], cache: TranslationCache, *, steps: int, seed: int = 0) -> tuple[Cost, Cost]:
    """Mean costs of (our engine, stock engine) over all games but the first, which both play to warm up.

    Translations are cached beforehand. Random admissible commands, the same for both.
    """
    fast, stock = FastEngine(cache), StockEngine()
    commands = [
        _commands(fast, file, steps, random.Random(f"{seed} {file.name} {at}")) for at, file in enumerate(files)
    ]
    return _cost(fast, files, commands), _cost(stock, files, commands)


def report(ours: Cost, stock: Cost, games: int) -> Json:
    """The measurement as a JSON document."""
    return {
        "games": games,
        "unit": "mean CPU milliseconds",
        "ours": {"load": ours.load, "reset": ours.reset, "step": ours.step},
        "stock": {"load": stock.load, "reset": stock.reset, "step": stock.step},
        "ratio": {"load_and_reset": stock.start / ours.start, "step": stock.step / ours.step},
    }


def write_report(document: Json, file: Path) -> None:
    """Write the document, indented."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2) + "\n")


def _commands(engine: _Engine, file: Path, steps: int, rng: random.Random) -> list[str]:
    engine.load(file)
    moment, commands = engine.reset(), []
    for _ in range(steps):
        commands.append(rng.choice(moment.admissible))
        moment = engine.step(commands[-1])
    return commands


def _cost(engine: _Engine, files: Sequence[Path], commands: Sequence[Sequence[str]]) -> Cost:
    loads, resets, steps = [], [], []
    for file, walk in zip(files, commands, strict=True):
        marks = [process_time()]
        engine.load(file)
        marks.append(process_time())
        engine.reset()
        marks.append(process_time())
        for command in walk:
            engine.step(command)
        marks.append(process_time())
        loads.append(marks[1] - marks[0])
        resets.append(marks[2] - marks[1])
        steps.append((marks[3] - marks[2]) / len(walk))
    return Cost(_mean(loads[1:]), _mean(resets[1:]), _mean(steps[1:]))


def _mean(values: Sequence[float]) -> float:
    return _MILLISECONDS * sum(values) / len(values)
