"""The full proof: both engines on every game at hand, and every official walkthrough through the adapter."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

from envs._progress import shown_progress
from envs.alfworld.dataset import GAME_FILE, read_game, split_folder
from envs.alfworld.differential import Comparison, compare
from envs.alfworld.engine import FastEngine
from envs.alfworld.environment import TRANSLATIONS, AlfworldEnvironment
from envs.alfworld.generator import generate_games
from envs.alfworld.settings import AlfworldSettings
from envs.alfworld.stock import StockEngine
from envs.alfworld.translation import TranslationCache
from strata.errors import DataError, StrataError
from strata.settings import setting
from strata.types import Action


@dataclass(frozen=True)
class VerifyOptions:
    """Options of `scripts/verify_alfworld.py`."""

    data: str = setting("", "Official games: a folder, or an archive (.tar.gz) of one. Empty: ALFWORLD_DATA, or none.")
    split: Literal["valid_unseen", "valid_seen", "train"] = setting(
        "valid_unseen", "Split of the official games, and of the generated ones."
    )
    generated: bool = setting(True, "Whether generated games are compared too.")
    per_category: int | None = setting(None, "Only n games of each type. Null: all.")
    walks: int = setting(1, "Random walks a game, beside its walkthrough.")
    steps: int = setting(40, "Commands in a random walk.")
    seed: int = setting(0, "Seeds the generated games and the walks.")
    processes: int | None = setting(None, "Games compared at the same time. Null: one per core.")
    cache_dir: str = setting(AlfworldSettings().cache_dir, "Folder for generated games and translated problems.")

    def __post_init__(self) -> None:
        AlfworldSettings(split=self.split, game_seed=self.seed, per_category=self.per_category)
        if self.walks < 0 or self.steps < 1 or (self.processes is not None and self.processes < 1):
            raise ValueError("walks must be 0 or more; steps and processes 1 or more.")


def verify(options: VerifyOptions, data: str) -> str:
    """Compare the engines on all games and replay the walkthroughs. `data` is ALFWORLD_DATA or empty.

    Returns a summary. Raises StrataError that lists the differences and the walkthroughs that do not win.
    """
    cache = Path(options.cache_dir).expanduser()
    lines, faults = [], []
    with _official(options.data or data, options.split) as official:
        for title, folder in (("official", official), ("generated", _generated(options, cache))):
            if folder is None:
                lines.append(f"{title} games: none at hand")
                continue
            summary, found = _verify_folder(folder, options, cache, title)
            lines.append(summary)
            faults += found
    if faults:
        raise StrataError("\n".join([*lines, *faults[:20], f"{len(faults)} faults in all."]))
    return "\n".join(lines)


def replay(folder: Path, per_category: int | None, cache: Path) -> list[str]:
    """Play the stored walkthrough of every game of a split folder through the adapter. Returns those that fail."""
    config = {"data": str(folder.parent), "split": folder.name, "per_category": per_category, "cache_dir": str(cache)}
    environment = AlfworldEnvironment.build(config)
    failed = []
    for task in environment.tasks():
        environment.reset(task, seed=0)
        step = None
        for command in read_game(folder / task.id / GAME_FILE).get("walkthrough") or []:
            step = environment.step(Action(command))
        if step is None or not (step.success and step.done and step.score == 100.0):
            failed.append(f"{folder / task.id}: its walkthrough does not end in success")
    environment.close()
    return failed


def compare_all(files: Sequence[Path], options: VerifyOptions, cache: Path, title: str) -> list[Comparison]:
    """Compare the engines on each file, several at a time."""
    workers = options.processes or len(os.sched_getaffinity(0))
    found: list[Comparison] = []
    work = partial(_compare_share, options, cache)
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        shown_progress(f"Comparing {title} games") as progress,
    ):
        for share in pool.map(work, [files[at : at + 4] for at in range(0, len(files), 4)]):
            found += share
            progress(len(found), len(files))
    return found


def _compare_share(options: VerifyOptions, cache: Path, files: Sequence[Path]) -> list[Comparison]:
    fast, stock = FastEngine(TranslationCache(cache / TRANSLATIONS)), StockEngine()
    return [compare(file, fast, stock, walks=options.walks, steps=options.steps, seed=options.seed) for file in files]


def _verify_folder(folder: Path, options: VerifyOptions, cache: Path, title: str) -> tuple[str, list[str]]:
    config = {"data": str(folder.parent), "split": folder.name, "per_category": options.per_category}
    tasks = AlfworldEnvironment.build({**config, "cache_dir": str(cache)}).tasks()
    files = [folder / task.id / GAME_FILE for task in tasks]
    found = compare_all(files, options, cache, title)
    faults = [str(each.difference) for each in found if each.difference]
    faults += replay(folder, options.per_category, cache)
    states = sum(each.states for each in found)
    different = sum(each.difference is not None for each in found)
    return (
        f"{title} games: {len(files)} compared at {states} states, {different} differ; "
        f"{sum(each.walkthrough_won for each in found)} walkthroughs win on both engines",
        faults,
    )


def _generated(options: VerifyOptions, cache: Path) -> Path | None:
    if not options.generated:
        return None
    return generate_games(
        cache / "games",
        cache / TRANSLATIONS,
        split=options.split,
        seed=options.seed,
        per_category=options.per_category,
    ).folder


@contextmanager
def _official(data: str, split: str) -> Iterator[Path | None]:
    """The split folder of the official games, unpacked for the time being where they come as an archive."""
    if not data:
        yield None
    elif Path(data).is_file():
        with tempfile.TemporaryDirectory() as scratch:
            unpack_games(Path(data), Path(scratch))
            yield split_folder(Path(scratch), split)
    else:
        yield split_folder(Path(data).expanduser(), split)


def unpack_games(archive: Path, folder: Path) -> None:
    """Unpack the plain files of an archive of games, none outside `folder`. Raises DataError when it is no archive.

    By hand, because the filters of `extractall` came with Python 3.11.4.
    """
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                target = (folder / member.name).resolve()
                source = packed.extractfile(member) if member.isfile() else None
                if source is not None and target.is_relative_to(folder.resolve()):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(source.read())
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"ALFWorld data: {archive} is no archive of games that can be unpacked.") from error
