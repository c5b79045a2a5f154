"""Speed against the stock engine, in CPU time of one process, and memory over many games."""

from __future__ import annotations

import gc
from pathlib import Path

from envs.alfworld.bench import measure, report
from envs.alfworld.engine import FastEngine
from envs.alfworld.environment import TRANSLATIONS
from envs.alfworld.translation import TranslationCache


def test_steps_and_starts_are_at_least_ten_times_faster_than_stock(generated, alfworld_cache) -> None:
    files = sorted(generated.glob("*/*/game.tw-pddl"))[1:4]
    document = report(*measure(files, TranslationCache(alfworld_cache / TRANSLATIONS), steps=8), len(files) - 1)
    assert document["ratio"]["step"] >= 10, document
    assert document["ratio"]["load_and_reset"] >= 10, document


def test_memory_does_not_grow_with_the_number_of_games(generated, alfworld_cache) -> None:
    files = sorted(generated.glob("*/*/game.tw-pddl"))
    engine = FastEngine(TranslationCache(alfworld_cache / TRANSLATIONS))
    sizes = []
    for _ in range(14):
        for file in files:
            engine.load(file)
            moment = engine.reset()
            for command in moment.admissible[:5]:
                engine.step(command)
        gc.collect()
        sizes.append(resident_megabytes())
    engine.close()
    assert sizes[-1] - sizes[4] < 6, f"{len(files) * 9} loads took {sizes[-1] - sizes[4]:.1f} MB"


def resident_megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
