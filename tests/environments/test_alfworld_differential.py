"""Our engine shows what the stock engine shows, state by state. The stock packages are the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.alfworld.differential import compare, sample
from envs.alfworld.engine import FastEngine, Moment
from envs.alfworld.environment import TRANSLATIONS
from envs.alfworld.stock import StockEngine
from envs.alfworld.translation import TranslationCache


@pytest.fixture(scope="module")
def stock() -> StockEngine:
    return StockEngine()


@pytest.fixture(scope="module")
def fast(alfworld_cache) -> Iterator[FastEngine]:
    engine = FastEngine(TranslationCache(alfworld_cache / TRANSLATIONS))
    yield engine
    engine.close()


@pytest.mark.parametrize("number", range(6))
def test_official_games_look_the_same_at_every_state(official, fast, stock, number) -> None:
    file = sample(official.glob("*/*/game.tw-pddl"), 6, seed=1)[number]
    result = compare(file, fast, stock, walks=1, steps=20, seed=0)
    assert result.difference is None, str(result.difference)
    assert result.walkthrough_won
    assert result.states >= 20 + 4


@pytest.mark.parametrize("number", [0, 3])
def test_generated_games_look_the_same_at_every_state(generated, fast, stock, number) -> None:
    file = sorted(generated.glob("*/*/game.tw-pddl"))[number]
    result = compare(file, fast, stock, walks=1, steps=20, seed=0)
    assert result.difference is None, str(result.difference)
    assert result.walkthrough_won


class Both:
    """Plays both engines and demands that they agree."""

    def __init__(self, fast: FastEngine, stock: StockEngine, file: Path) -> None:
        self.fast, self.stock = fast, stock
        fast.load(file)
        stock.load(file)
        self.now = self._agreed("reset", fast.reset(), stock.reset())

    def do(self, command: str) -> str:
        assert command in self.now.admissible
        self.now = self._agreed(command, self.fast.step(command), self.stock.step(command))
        return self.now.feedback

    def _agreed(self, command: str, ours: Moment, theirs: Moment) -> Moment:
        assert ours == theirs, command
        return ours


def test_every_place_and_every_treatment_reads_the_same(generated, fast, stock) -> None:
    """A tour of a whole kitchen, then one object is sliced, washed, heated, cooled and looked at."""
    kitchens = [file for type in ("heat", "cool") for file in generated.glob(f"pick_{type}*/*/game.tw-pddl")]
    file = min(kitchens, key=lambda kitchen: kitchen.stat().st_size)
    both = Both(fast, stock, file)
    seen: dict[str, str] = {}
    for going in [command for command in both.now.admissible if command.startswith("go to ")]:
        if going in both.now.admissible:
            both.do(going)
        place = going.removeprefix("go to ")
        if f"open {place}" in both.now.admissible:
            both.do(f"open {place}")
        for command in both.now.admissible:
            if command.startswith("take ") and command.endswith(f" from {place}"):
                seen[command.removeprefix("take ").removesuffix(f" from {place}")] = place
    knife = next(name for name in sorted(seen) if name.startswith(("knife", "butterknife")))
    food = next(name for name in sorted(seen) if name.startswith(("apple", "potato", "tomato")))

    def go(place: str) -> None:
        if f"go to {place}" in both.now.admissible:
            both.do(f"go to {place}")

    go(seen[knife])
    both.do(f"take {knife} from {seen[knife]}")
    go(seen[food])
    both.do(f"slice {food} with {knife}")
    go("countertop 1")
    both.do(f"move {knife} to countertop 1")
    go(seen[food])
    both.do(f"take {food} from {seen[food]}")
    texts = []
    for place, verb in (("sinkbasin 1", "clean"), ("microwave 1", "heat"), ("fridge 1", "cool")):
        go(place)
        both.do(f"{verb} {food} with {place}")
        texts.append(both.do(f"examine {food}"))
        both.do("look")
        both.do("inventory")
    assert texts == [
        f"This is a clean sliced {food}.",
        f"This is a hot and clean sliced {food}.",
        f"This is a cool and clean sliced {food}.",
    ]


def test_a_single_changed_word_is_found(generated, fast, stock, monkeypatch) -> None:
    file = sorted(generated.glob("*/*/game.tw-pddl"))[0]
    step = FastEngine.step

    def altered(self: FastEngine, command: str) -> Moment:
        moment = step(self, command)
        return moment._replace(feedback=moment.feedback.replace("pick up", "lift"))

    monkeypatch.setattr(FastEngine, "step", altered)
    difference = compare(file, fast, stock, walks=0, steps=0, seed=0).difference
    assert difference is not None
    assert difference.commands[-1].startswith("take ")
    assert "feedback" in str(difference)
    assert "admissible" not in str(difference)
