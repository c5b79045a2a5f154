"""Makes, proves and keeps the games of a split."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context, get_start_method
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from envs._progress import shown_progress
from envs.alfworld.dataset import GAME_FILE, TRAJECTORY_FILE, choose
from envs.alfworld.engine import FastEngine
from envs.alfworld.generator.files import Composer, GameFiles
from envs.alfworld.generator.goals import Draft, draft_split
from envs.alfworld.translation import TranslationCache
from strata.errors import DataError, StorageError

_WORTH_A_POOL = 8


class Generated(NamedTuple):
    """The folder of a split, and the ids of the games in it that were asked for."""

    folder: Path
    ids: frozenset[str]


def generate_games(
    folder: Path,
    translations: Path,
    *,
    split: str,
    seed: int,
    per_category: int | None = None,
) -> Generated:
    """Make those games of a split that are not there yet.

    Each is played to success by its constructed walkthrough before it is put in place; its translation is kept for
    the first episode. A file that differs from what the seed gives (another version, an edit) is replaced. Raises
    StorageError when the folder cannot be written.
    """
    target = folder / f"seed_{seed}" / split
    composer = Composer()
    drafts = list(draft_split(composer.household, split, seed))
    ids = choose([draft.id for draft in drafts], per_category)

    def missing() -> list[Draft]:
        return [draft for draft in drafts if draft.id in ids and not _is_there(target, composer, draft)]

    try:
        if missing():
            target.mkdir(parents=True, exist_ok=True)
            with FileLock(target.parent / f"{split}.lock"):
                _make_all(missing(), target, translations)
    except OSError as error:
        raise StorageError(
            f"ALFWorld: generated games cannot be kept in {target} ({error.strerror or error}). Free some space or "
            f"point env.cache_dir at another folder."
        ) from error
    return Generated(target, ids)


def _is_there(target: Path, composer: Composer, draft: Draft) -> bool:
    made = composer.compose(draft)
    return all(
        (target / draft.id / name).is_file() and (target / draft.id / name).read_bytes() == content
        for name, content in ((GAME_FILE, made.game), (TRAJECTORY_FILE, made.trajectory))
    )


def _make_all(missing: list[Draft], target: Path, translations: Path) -> None:
    """Nothing is missing any more where another process held the lock before."""
    with shown_progress("Generating ALFWorld games") as progress:
        for done, _ in enumerate(_made(missing, target, translations), start=1):
            progress(done, len(missing))


def _made(missing: list[Draft], target: Path, translations: Path) -> Iterator[str]:
    workers = min(len(os.sched_getaffinity(0)), len(missing))
    if workers == 1 or len(missing) < _WORTH_A_POOL or _inside_a_sweep():
        yield from _Maker(target, translations).make_each(missing)
        return
    shares = [missing[at : at + 4] for at in range(0, len(missing), 4)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for share in pool.map(partial(_make_share, target, translations), shares):
            yield from share


def _inside_a_sweep() -> bool:
    """Whether this is a worker of joblib's, whose start method the standard pool's processes do not know."""
    return get_start_method(allow_none=True) not in (None, *get_all_start_methods())


def _make_share(target: Path, translations: Path, drafts: list[Draft]) -> list[str]:
    return list(_Maker(target, translations).make_each(drafts))


class _Maker:
    def __init__(self, target: Path, translations: Path) -> None:
        self._target = target
        self._composer = Composer()
        self._engine = FastEngine(TranslationCache(translations))

    def make_each(self, drafts: list[Draft]) -> Iterator[str]:
        for draft in drafts:
            files = self._composer.compose(draft)
            folder = self._target / draft.id
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._target.parent, prefix=".making-") as scratch:
                game, trajectory = Path(scratch, GAME_FILE), Path(scratch, TRAJECTORY_FILE)
                game.write_bytes(files.game)
                trajectory.write_bytes(files.trajectory)
                prove(self._engine, game, files, draft.id)
                trajectory.replace(folder / TRAJECTORY_FILE)
                game.replace(folder / GAME_FILE)
            yield draft.id
        self._engine.close()


def prove(engine: FastEngine, game: Path, files: GameFiles, name: str) -> None:
    """Play the walkthrough. Raises DataError unless each command is admissible and exactly the last one wins."""
    engine.load(game)
    moment = engine.reset()
    for number, command in enumerate(files.walkthrough, start=1):
        if moment.won or command not in moment.admissible:
            raise DataError(f"ALFWorld: generated game {name}: step {number} of its walkthrough, {command!r}, fails.")
        moment = engine.step(command)
    if not moment.won:
        raise DataError(f"ALFWorld: generated game {name} is not won by its walkthrough.")
