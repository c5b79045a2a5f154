"""Official and generated game files on disk: found, checked, selected, hashed.

A split folder holds `<task>/<trial>/game.tw-pddl` with a `traj_data.json` beside it. The stock loader walks it in
the order of the file system and leaves out, without a word, whatever it does not like; here the order is sorted,
what cannot be played is listed with its reason, and what is damaged is an error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.canonical import digest, dumps
from strata.errors import DataError

CATEGORIES: Mapping[str, str] = {
    "pick_and_place_simple": "pick_and_place",
    "look_at_obj_in_light": "examine_in_light",
    "pick_clean_then_place_in_recep": "clean_and_place",
    "pick_heat_then_place_in_recep": "heat_and_place",
    "pick_cool_then_place_in_recep": "cool_and_place",
    "pick_two_obj_and_place": "pick_two_and_place",
}
"""Task type in the data files -> the name under which the paper reports it."""

GAME_FILE = "game.tw-pddl"
TRAJECTORY_FILE = "traj_data.json"
_GAME_KEYS = ("pddl_domain", "grammar", "pddl_problem")
_REPAIR = "Restore the file from the download (`alfworld-download`), or generate games by leaving env.data empty."


@dataclass(frozen=True, slots=True)
class Game:
    """A playable game: its id (`<task>/<trial>`), task type and file."""

    id: str
    task_type: str
    file: Path


@dataclass(frozen=True, slots=True)
class GameSet:
    """The selected games in order of their ids, what was left out and why, and a hash over the selected files."""

    games: tuple[Game, ...]
    skipped: tuple[tuple[str, str], ...]
    digest: str


def split_folder(data: Path, split: str) -> Path:
    """The folder of a split below `data`. Raises DataError when there is none."""
    for folder in (data / split, data / "json_2.1.1" / split):
        if folder.is_dir():
            return folder
    state = "" if data.is_dir() else " does not exist, so it"
    raise DataError(
        f"ALFWorld data: {data}{state} has neither {split}/ nor json_2.1.1/{split}/. Run `alfworld-download`, point "
        f"env.data (or ALFWORLD_DATA) at its folder, or empty it for generated games."
    )


def choose(ids: Iterable[str], per_category: int | None) -> frozenset[str]:
    """`per_category` ids of each task type, or all. The choice is a fixed shuffle's first: more include fewer."""
    if per_category is None:
        return frozenset(ids)
    count: Counter[str] = Counter()
    chosen = set()
    for id in sorted(ids, key=digest):
        if count[type_of(id)] < per_category:
            count[type_of(id)] += 1
            chosen.add(id)
    return frozenset(chosen)


def type_of(id: str) -> str:
    """The task type that a game's id begins with."""
    return id.split("-", 1)[0]


def select_games(folder: Path, per_category: int | None, ids: Container[str] | None = None) -> GameSet:
    """Games of a split folder, `per_category` of each type, in the order of their ids; of `ids` only, if given.

    Games that the engine cannot play are left out before the choice is made, as the stock loader does, but listed.
    Raises DataError when no game is left or a file is damaged.
    """
    games: list[Game] = []
    skipped: list[tuple[str, str]] = []
    hashes: dict[str, str] = {}
    count: Counter[str] = Counter()
    trials = {trial.relative_to(folder).as_posix(): trial for trial in _trials(folder)}
    trials = {name: trial for name, trial in trials.items() if ids is None or name in ids}
    for name in sorted(trials, key=digest):
        if per_category is not None and count[type_of(name)] >= per_category:
            continue
        task_type, reason, content = _inspect(trials[name], name)
        if reason:
            skipped.append((name, reason))
            continue
        count[type_of(name)] += 1
        games.append(Game(name, task_type, trials[name] / GAME_FILE))
        hashes[name] = digest(content)
    if not games:
        left_out = f" {len(skipped)} were left out, the first: {skipped[0][0]} ({skipped[0][1]})." if skipped else ""
        raise DataError(f"ALFWorld data: no playable game below {folder}.{left_out} {_REPAIR}")
    games.sort(key=lambda game: game.id)
    return GameSet(tuple(games), tuple(sorted(skipped)), digest(dumps(hashes)))


def read_game(file: Path) -> dict[str, Any]:
    """The content of a game file. Raises DataError naming it when it cannot be read or lacks a part."""
    return _parse_game(file, _read(file))


def _trials(folder: Path) -> set[Path]:
    return {file.parent for name in (GAME_FILE, TRAJECTORY_FILE) for file in folder.rglob(name)}


def _inspect(trial: Path, name: str) -> tuple[str, str, bytes]:
    """Task type, the reason to leave the game out (empty: none) and the game file's bytes."""
    trajectory = trial / TRAJECTORY_FILE
    if not trajectory.is_file():
        raise DataError(f"ALFWorld data: {trajectory} is missing beside its game. {_REPAIR}")
    document = _parse(trajectory, _read(trajectory))
    task_type = document.get("task_type")
    if not isinstance(task_type, str):
        raise DataError(f"ALFWorld data: {trajectory} has no 'task_type'. {_REPAIR}")
    if "movable" in name or "Sliced" in name:
        return task_type, "need movable receptacles or slicing, which the text engine does not support", b""
    if task_type not in CATEGORIES:
        return task_type, f"are of the task type {task_type}, none of the six", b""
    if not (trial / GAME_FILE).is_file():
        return task_type, f"have no {GAME_FILE}", b""
    content = _read(trial / GAME_FILE)
    game = _parse_game(trial / GAME_FILE, content)
    if "solvable" not in game:
        return task_type, "were never checked for solvability", b""
    if not game["solvable"]:
        return task_type, "are marked unsolvable", b""
    return task_type, "", content


def _parse_game(file: Path, content: bytes) -> dict[str, Any]:
    game = _parse(file, content)
    lacking = [key for key in _GAME_KEYS if not isinstance(game.get(key), str)]
    if lacking:
        raise DataError(f"ALFWorld data: {file} has no '{lacking[0]}', so it is not a game. {_REPAIR}")
    return game


def _parse(file: Path, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError as error:
        raise DataError(f"ALFWorld data: {file} is damaged ({error}). {_REPAIR}") from error
    if not isinstance(document, dict):
        raise DataError(f"ALFWorld data: {file} holds no JSON object. {_REPAIR}")
    return document


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"ALFWorld data: {file} cannot be read ({error.strerror}). {_REPAIR}") from error
