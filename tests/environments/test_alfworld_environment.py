"""The adapter: what is shown, what is scored, and what it says when something is wrong."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from envs.alfworld import AlfworldEnvironment
from envs.alfworld.dataset import CATEGORIES, GAME_FILE, read_game
from envs.alfworld.generator.goals import COUNTS
from envs.alfworld.guide import TEMPLATES, check_grammar
from envs.alfworld.texts import Grammar
from envs.alfworld.verify import replay
from strata.errors import DataError, EnvironmentFailure, UsageError
from strata.types import Action, Task

HEADER = "You are in the middle of a room. Looking quickly around you, you see a "


@pytest.fixture
def environment(generated, alfworld_cache):
    assert generated.is_relative_to(alfworld_cache)
    made = AlfworldEnvironment.build({"per_category": 1, "cache_dir": str(alfworld_cache)})
    yield made
    made.close()


def build(folder: Path, cache: Path, **config) -> AlfworldEnvironment:
    """An environment over a split folder."""
    return AlfworldEnvironment.build(
        {"data": str(folder.parent), "split": folder.name, "cache_dir": str(cache), **config}
    )


def walkthrough(folder: Path, task: Task) -> list[str]:
    found: list[str] = read_game(folder / task.id / GAME_FILE)["walkthrough"]
    return found


def copy_games(folder: Path, target: Path, count: int = 6) -> Path:
    """A split folder with the first games of another."""
    for trial in sorted(folder.glob("*/*"))[:count]:
        shutil.copytree(trial, target / "valid_unseen" / trial.relative_to(folder))
    return target / "valid_unseen"


def test_the_task_is_shown_once_and_the_room_without_it(environment) -> None:
    seen = environment.reset(environment.tasks()[0], seed=0)
    assert seen.text.startswith(HEADER)
    assert "Your task is to" not in seen.text + seen.instruction
    assert seen.instruction in ("look at box under the desklamp.", "examine the box with the desklamp.")
    assert {"look", "inventory", "help"} < set(seen.admissible)


def test_a_won_game_scores_100_on_its_last_step_only(generated, environment) -> None:
    for task in environment.tasks():
        environment.reset(task, seed=0)
        steps = [environment.step(Action(command)) for command in walkthrough(generated, task)]
        assert [(step.score, step.done, step.success) for step in steps] == [
            *[(0.0, False, False)] * (len(steps) - 1),
            (100.0, True, True),
        ]


def test_official_walkthroughs_end_in_success(official, alfworld_cache) -> None:
    assert replay(official, 2, alfworld_cache) == []


def test_a_walkthrough_that_does_not_win_is_reported(generated, alfworld_cache, tmp_path) -> None:
    folder = copy_games(generated, tmp_path, count=1)
    file = next(folder.glob(f"*/*/{GAME_FILE}"))
    game = json.loads(file.read_bytes())
    file.write_text(json.dumps({**game, "walkthrough": game["walkthrough"][:-1]}))
    assert len(replay(folder, None, alfworld_cache)) == 1


def test_commands_are_read_without_regard_to_case_spaces_and_full_stop(environment) -> None:
    for command in ("Inventory", "  inventory ", "inventory.", "INVENTORY"):
        environment.reset(environment.tasks()[0], seed=0)
        assert environment.step(Action(command)).observation.text == "You are not carrying anything."


def test_what_the_world_does_not_know_does_nothing(environment) -> None:
    start = environment.reset(environment.tasks()[0], seed=0)
    for command in ("dance", "put box 1 in/on shelf 1", ""):
        step = environment.step(Action(command))
        assert (step.observation.text, step.score, step.done) == ("Nothing happens.", 0.0, False)
        assert step.observation.admissible == start.admissible


def test_admissible_commands_can_be_withheld(generated, alfworld_cache) -> None:
    environment = build(generated, alfworld_cache, admissible="none")
    assert environment.reset(environment.tasks()[0], seed=0).admissible == ()
    assert environment.step(Action("look")).observation.admissible == ()


def test_categories_are_the_papers_and_groups_the_task_types(environment) -> None:
    tasks = environment.tasks()
    assert sorted(task.category for task in tasks) == sorted(CATEGORIES.values())
    assert {task.group: task.category for task in tasks} == dict(CATEGORIES)
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)


def test_official_evaluation_has_134_games_in_the_known_proportions(official, alfworld_cache) -> None:
    environment = build(official, alfworld_cache)
    assert Counter(task.group for task in environment.tasks()) == COUNTS["valid_unseen"]
    assert environment.skipped == ()
    assert environment.versions()["games"] == "134"


def test_a_smaller_selection_is_part_of_a_larger_one(official, alfworld_cache) -> None:
    chosen = [{task.id for task in build(official, alfworld_cache, per_category=n).tasks()} for n in (1, 3, 6)]
    assert chosen[0] < chosen[1] < chosen[2]
    assert [len(ids) for ids in chosen] == [6, 18, 36]


def test_the_data_hash_follows_content_and_not_place(generated, alfworld_cache, tmp_path) -> None:
    here = build(generated, alfworld_cache).versions()["data_hash"]
    copy = copy_games(generated, tmp_path)
    assert build(copy, alfworld_cache).versions()["data_hash"] == here
    file = next(copy.glob(f"*/*/{GAME_FILE}"))
    file.write_bytes(file.read_bytes() + b"\n")
    assert build(copy, alfworld_cache).versions()["data_hash"] != here


def test_a_renamed_action_stops_the_run_instead_of_scoring_zero(generated, alfworld_cache, tmp_path) -> None:
    folder = copy_games(generated, tmp_path, count=1)
    file = next(folder.glob(f"*/*/{GAME_FILE}"))
    game = json.loads(file.read_bytes())
    game["grammar"] = game["grammar"].replace('"move {o} to {r}"', '"put {o} in/on {r}"')
    file.write_text(json.dumps(game))
    environment = build(folder, alfworld_cache)
    with pytest.raises(DataError, match=r"'putobject' as 'put \{object\} in/on \{place\}'.*prompt as 'move"):
        environment.reset(environment.tasks()[0], seed=0)


def test_a_missing_action_stops_the_run(generated) -> None:
    grammar = Grammar(read_game(next(generated.glob(f"*/*/{GAME_FILE}")))["grammar"])
    check_grammar(grammar.templates, source="game")
    for action in TEMPLATES:
        fewer = {name: text for name, text in grammar.templates.items() if name != action}
        with pytest.raises(DataError, match=f"no action '{action}'"):
            check_grammar(fewer, source="game")


def test_the_guide_says_nothing_about_solving(environment) -> None:
    guide = environment.guide()
    text = " ".join((guide.description, *guide.hints)).lower()
    for word in ("clean", "heat", "cool", "wash", "microwave", "fridge", "sink", "lamp", "search", "first", "then"):
        assert word not in text.split()


def test_wrong_settings_are_named() -> None:
    for config, message in (
        ({"split": "test"}, "env.split=test: must be one of valid_unseen, valid_seen, train"),
        ({"per_category": 0}, "per_category=0 must be 1 or more"),
        ({"max_steps": -1}, "max_steps=-1 must be 1 or more"),
        ({"game_seed": -1}, "game_seed=-1 must be 0 or more"),
        ({"max_step": 3}, "env.max_step: unknown key"),
    ):
        with pytest.raises(UsageError, match=message):
            AlfworldEnvironment.build(config)


def test_a_task_of_another_split_and_a_step_before_reset_are_refused(environment) -> None:
    with pytest.raises(EnvironmentFailure, match="not a game of split valid_unseen"):
        environment.reset(Task("elsewhere/trial_1", "pick_and_place", "pick_and_place_simple"), seed=0)
    with pytest.raises(EnvironmentFailure, match="before reset"):
        environment.step(Action("look"))
