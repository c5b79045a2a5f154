"""Bad data: one message that names the file and what to do, and nothing left out in silence."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from envs.alfworld import AlfworldEnvironment
from envs.alfworld.dataset import GAME_FILE, TRAJECTORY_FILE, choose, select_games, split_folder
from strata.errors import DataError

TRIAL = "pick_and_place_simple-Mug-None-Shelf-1/trial_1"


@pytest.fixture
def split(tmp_path, generated) -> Path:
    """A split folder with two good games."""
    folder = tmp_path / "valid_unseen"
    for trial in sorted(generated.glob("*/*"))[:2]:
        shutil.copytree(trial, folder / trial.relative_to(generated))
    return folder


def add(split: Path, name: str = TRIAL, *, trajectory: object = None, **changes: object) -> Path:
    """Another game, altered; the value None takes a key away. Returns its folder."""
    good = next(iter(sorted(split.glob("*/*"))))
    game = {**json.loads((good / GAME_FILE).read_bytes()), **changes}
    folder = split / name
    folder.mkdir(parents=True)
    (folder / GAME_FILE).write_text(json.dumps({key: value for key, value in game.items() if value is not None}))
    (folder / TRAJECTORY_FILE).write_text(json.dumps(trajectory or {"task_type": name.split("-")[0]}))
    return folder


def test_a_missing_folder_is_named_with_the_way_out(tmp_path) -> None:
    with pytest.raises(DataError, match=rf"{tmp_path}/no does not exist.*alfworld-download.*ALFWORLD_DATA"):
        split_folder(tmp_path / "no", "train")
    with pytest.raises(DataError, match=rf"{tmp_path} has neither train/ nor json_2\.1\.1/train/"):
        split_folder(tmp_path, "train")


def test_the_official_folder_layout_is_found(tmp_path) -> None:
    (tmp_path / "json_2.1.1" / "train").mkdir(parents=True)
    assert split_folder(tmp_path, "train") == tmp_path / "json_2.1.1" / "train"


def test_zero_games_found_is_an_error_and_not_a_hang(tmp_path) -> None:
    with pytest.raises(DataError, match=f"no playable game below {tmp_path}"):
        select_games(tmp_path, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"pddl_domain": "(define', "damaged"),
        (b"\xff\xfe\x00", "damaged"),
        (b"[]", "no JSON object"),
        (b'{"pddl_domain": "x", "grammar": "y", "solvable": true}', "no 'pddl_problem'"),
    ],
)
def test_a_corrupt_game_file_is_named(split, content, message) -> None:
    file = add(split) / GAME_FILE
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        select_games(split, None)
    assert str(file) in str(caught.value)
    assert "Restore the file" in str(caught.value)


def test_a_missing_trajectory_file_is_named(split) -> None:
    file = add(split) / TRAJECTORY_FILE
    file.unlink()
    with pytest.raises(DataError, match=f"{file} is missing beside its game"):
        select_games(split, None)


def test_a_trajectory_without_a_task_type_is_named(split) -> None:
    folder = add(split, trajectory={"scene": 1})
    with pytest.raises(DataError, match=f"{folder / TRAJECTORY_FILE} has no 'task_type'"):
        select_games(split, None)


@pytest.mark.parametrize("part", ["pddl_domain", "pddl_problem", "grammar"])
def test_a_game_whose_text_the_engine_cannot_read_is_named_at_its_start(split, tmp_path, part) -> None:
    folder = add(split, **{part: "(define (nonsense"})
    environment = AlfworldEnvironment.build({"data": str(split.parent), "cache_dir": str(tmp_path)})
    task = next(task for task in environment.tasks() if task.id == TRIAL)
    with pytest.raises(DataError, match="its PDDL or grammar cannot be read") as caught:
        environment.reset(task, seed=0)
    assert str(folder / GAME_FILE) in str(caught.value)
    # The next game is not affected.
    assert environment.reset(environment.tasks()[0], seed=0).instruction


def test_games_that_cannot_be_played_are_listed_with_their_reason(split, caplog) -> None:
    add(split, "pick_and_place_simple-AppleSliced-None-Fridge-1/trial_1")
    add(split, "pick_and_place_with_movable_recep-Mug-Bowl-Shelf-1/trial_1")
    add(split, "pick_and_place_simple-Mug-None-Shelf-2/trial_1", solvable=False)
    add(split, "pick_and_place_simple-Mug-None-Shelf-3/trial_1", solvable=None)
    (add(split, "pick_and_place_simple-Mug-None-Shelf-4/trial_1") / GAME_FILE).unlink()
    with caplog.at_level(logging.WARNING):
        environment = AlfworldEnvironment.build({"data": str(split.parent)})
    assert len(environment.tasks()) == 2
    assert len(environment.skipped) == 5
    for words in ("movable receptacles or slicing", "marked unsolvable", "never checked", f"no {GAME_FILE}"):
        assert words in environment.versions()["skipped_games"]
        assert words in caplog.text
    assert environment.versions()["skipped_games"].startswith("5 (")


def test_only_unplayable_games_is_an_error_that_says_why(split) -> None:
    for trial in sorted(split.glob("*/*")):
        game = json.loads((trial / GAME_FILE).read_bytes())
        (trial / GAME_FILE).write_text(json.dumps({**game, "solvable": False}))
    with pytest.raises(DataError, match=r"2 were left out, the first: .*marked unsolvable"):
        select_games(split, None)


def test_the_order_is_that_of_the_ids_however_the_disk_lists_them(split, tmp_path) -> None:
    copy = tmp_path / "other" / "valid_unseen"
    for trial in sorted(split.glob("*/*"), reverse=True):
        shutil.copytree(trial, copy / trial.relative_to(split))
    ids = [game.id for game in select_games(copy, None).games]
    assert ids == [game.id for game in select_games(split, None).games] == sorted(ids)


def test_the_choice_of_few_does_not_follow_the_alphabet() -> None:
    ids = [f"pick_and_place_simple-{letter}-None-Shelf-1/trial" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    chosen = choose(ids, 5)
    assert len(chosen) == 5
    assert chosen != set(ids[:5])
    assert choose(reversed(ids), 5) == chosen
