"""Plays the fast and the stock engine side by side and reports where they differ."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from envs.alfworld.dataset import read_game
from envs.alfworld.engine import FastEngine, Moment
from envs.alfworld.stock import StockEngine

_VERB_WEIGHTS = {"go": 6.0, "help": 0.3, "inventory": 0.5}
_NONSENSE_SHARE = 0.05
_NONSENSE = ("", "dance", "go to nowhere 1", "take", "put mug 1 in/on shelf 1")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first point of a walk at which the engines differ."""

    file: Path
    commands: tuple[str, ...]
    stock: Moment
    fast: Moment

    def __str__(self) -> str:
        parts = [name for name in Moment._fields if getattr(self.stock, name) != getattr(self.fast, name)]
        shown = "; ".join(
            f"{name}: stock {getattr(self.stock, name)!r}, ours {getattr(self.fast, name)!r}" for name in parts
        )
        return f"{self.file} after {list(self.commands)}: {shown}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared on one game: how many states, whether the stored walkthrough wins, and the first difference."""

    states: int
    walkthrough_won: bool
    difference: Difference | None


def compare(file: Path, fast: FastEngine, stock: StockEngine, *, walks: int, steps: int, seed: int) -> Comparison:
    """Compare every state of the stored walkthrough and of random walks of `steps` commands on one game.

    A random walk takes admissible commands, and now and then one that no engine knows.
    """
    walkthrough = read_game(file).get("walkthrough") or []
    fast.load(file)
    stock.load(file)
    states, won = 0, False
    for walk in range(walks + 1):
        rng = random.Random(f"{seed} {file.parent.parent.name}/{file.parent.name} {walk}")
        choices: Iterator[str] | None = iter(walkthrough) if walk == 0 else None
        done: list[str] = []
        ours, theirs = fast.reset(), stock.reset()
        while True:
            states += 1
            if ours != theirs:
                return Comparison(states, won, Difference(file, tuple(done), theirs, ours))
            command = next(choices, None) if choices is not None else _random_command(rng, ours, len(done) < steps)
            if command is None:
                break
            done.append(command)
            ours, theirs = fast.step(command), stock.step(command)
        won = won or (walk == 0 and ours.won)
    return Comparison(states, won, None)


def sample(files: Iterable[Path], count: int, *, seed: int) -> list[Path]:
    """`count` files drawn evenly over the task types (the part of the task folder's name before the first hyphen)."""
    groups: dict[str, list[Path]] = {}
    for file in sorted(files):
        groups.setdefault(file.parent.parent.name.split("-")[0], []).append(file)
    rng = random.Random(seed)
    for group in groups.values():
        rng.shuffle(group)
    return list(islice(_round_robin(list(groups.values())), count))


def _random_command(rng: random.Random, moment: Moment, more: bool) -> str | None:
    """A command of a random verb, so that a walk does more than go about; now and then nonsense."""
    if not more:
        return None
    if rng.random() < _NONSENSE_SHARE:
        return rng.choice(_NONSENSE)
    verbs: dict[str, list[str]] = {}
    for command in moment.admissible:
        verbs.setdefault(command.split()[0], []).append(command)
    weights = [_VERB_WEIGHTS.get(verb, 1.0) for verb in verbs]
    return rng.choice(rng.choices(list(verbs.values()), weights)[0])


def _round_robin(groups: list[list[Path]]) -> Iterator[Path]:
    for rank in range(max(map(len, groups), default=0)):
        for group in groups:
            if rank < len(group):
                yield group[rank]
