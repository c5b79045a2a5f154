"""Generated games: proportions, determinism, plausibility, and that the packages' own loader and expert take them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from envs.alfworld.dataset import GAME_FILE, TRAJECTORY_FILE, read_game
from envs.alfworld.engine import FastEngine
from envs.alfworld.environment import TRANSLATIONS
from envs.alfworld.generator import generate_games
from envs.alfworld.generator.build import prove
from envs.alfworld.generator.files import Composer, GameFiles
from envs.alfworld.generator.goals import COUNTS, Draft, draft_split
from envs.alfworld.translation import TranslationCache
from strata.errors import DataError, StorageError


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer()


@pytest.fixture(scope="module")
def drafts(composer) -> list[Draft]:
    return list(draft_split(composer.household, "valid_unseen", 0))


def test_the_evaluation_split_has_the_official_proportions(drafts) -> None:
    assert Counter(draft.goal.task_type for draft in drafts) == COUNTS["valid_unseen"]
    assert sum(COUNTS["valid_unseen"].values()) == len({draft.id for draft in drafts}) == 134


def test_no_two_games_have_the_same_goal_and_scene(composer, drafts) -> None:
    scenes = [(draft.goal, draft.floor, composer.layout(draft).scene) for draft in drafts]
    assert len(set(scenes)) == len(scenes)


def test_splits_share_no_game_and_unseen_rooms_are_unseen(composer, drafts) -> None:
    train = list(draft_split(composer.household, "train", 0))
    seen = list(draft_split(composer.household, "valid_seen", 0))
    assert not {draft.floor for draft in drafts} & {draft.floor for draft in train + seen}
    keys = [draft.key for draft in drafts + train + seen]
    assert len(set(keys)) == len(keys)
    problems = {read_problem(composer, draft) for draft in train[:20]} & {read_problem(composer, d) for d in seen[:20]}
    assert not problems


def read_problem(composer: Composer, draft: Draft) -> str:
    problem: str = json.loads(composer.compose(draft).game)["pddl_problem"]
    return problem.partition("(:objects")[2]


def test_equal_seeds_give_equal_bytes_in_every_process_and_other_seeds_other_games() -> None:
    script = (
        "import hashlib, sys\n"
        "from envs.alfworld.generator.files import Composer\n"
        "from envs.alfworld.generator.goals import draft_split\n"
        "composer, whole = Composer(), hashlib.sha256()\n"
        "for draft in list(draft_split(composer.household, 'valid_unseen', int(sys.argv[1])))[::24]:\n"
        "    files = composer.compose(draft)\n"
        "    whole.update(draft.id.encode() + files.game + files.trajectory)\n"
        "print(whole.hexdigest())\n"
    )

    def digest(seed: int, hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", script, str(seed)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert digest(0, "1") == digest(0, "2") != digest(1, "1")


def test_objects_lie_only_where_the_household_allows(composer, drafts) -> None:
    from alfworld.gen import constants

    for draft in drafts[::5]:
        layout = composer.layout(draft)
        for thing in layout.things:
            if thing.kind not in ("DeskLamp", "HousePlant", "Television"):
                assert thing.kind in constants.VAL_RECEPTACLE_OBJECTS[thing.place.kind]
        assert layout.start not in {place.location for place in layout.floor.places}
        assert len({thing.id for thing in layout.things}) == len(layout.things)


def test_what_is_to_be_moved_lies_elsewhere_and_there_is_enough_of_it(composer, drafts) -> None:
    for draft in drafts:
        things = composer.layout(draft).of_kind(draft.goal.object)
        assert len(things) >= draft.goal.needed
        if not draft.goal.treated_at and not draft.goal.lit:
            assert draft.goal.place not in {thing.place.kind for thing in things}


def test_games_need_as_much_search_as_the_official_ones(composer, drafts) -> None:
    """Places looked into before the object is found, in expectation: 4 to 14 in the official games, 8.6 on average."""
    efforts = []
    for draft in drafts:
        layout = composer.layout(draft)
        holders = {thing.place.id for thing in layout.of_kind(draft.goal.object)}
        efforts.append((len(layout.floor.places) + 1) / (len(holders) + 1))
    assert 7 < sum(efforts) / len(efforts) < 11
    assert min(efforts) >= 2.5


def test_the_goal_is_worded_as_in_the_official_games(composer, drafts) -> None:
    wordings = (
        r"put (a|some|two) (clean |hot |cool )?\w+ (in|on) \w+",
        r"(clean|heat|cool) some \w+ and put it in \w+",
        r"find two \w+ and put them in \w+",
        r"look at \w+ under the desklamp",
        r"examine the \w+ with the desklamp",
    )
    pattern = re.compile(rf'Your task is to: ({"|".join(wordings)})\."')
    for draft in drafts:
        grammar = json.loads(composer.compose(draft).game)["grammar"]
        assert pattern.search(grammar), draft.id
        assert "UNKNOWN GOAL" not in grammar


# The stock engine leaves its game files open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_alfworlds_own_environment_loads_every_game_and_is_won_by_the_walkthrough(generated) -> None:
    from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv

    config = {
        "env": {"goal_desc_human_anns_prob": 0, "task_types": [1, 2, 3, 4, 5, 6], "domain_randomization": False},
        "dataset": {"eval_ood_data_path": str(generated), "num_eval_games": 0},
        "general": {"training_method": "dqn"},
        "rl": {"training": {"max_nb_steps_per_episode": 50}},
    }
    config["env"]["expert_type"] = "handcoded"
    loaded = AlfredTWEnv(config, train_eval="eval_out_of_distribution")
    assert sorted(loaded.game_files) == sorted(map(str, generated.glob(f"*/*/{GAME_FILE}")))
    assert len(loaded.game_files) == 6
    played = loaded.init_env(batch_size=1)
    _, infos = played.reset()
    for command in read_game(Path(infos["extra.gamefile"][0]))["walkthrough"]:
        assert infos["won"] == [False]
        _, scores, dones, infos = played.step([command])
    assert (scores, dones, infos["won"]) == ((1,), (True,), [True])
    played.close()


def test_a_second_call_makes_nothing_and_a_damaged_or_missing_file_is_made_anew(generated, alfworld_cache) -> None:
    def again() -> None:
        generate_games(
            alfworld_cache / "games", alfworld_cache / TRANSLATIONS, split="valid_unseen", seed=0, per_category=1
        )

    files = sorted(generated.glob("*/*/*"))
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files}
    assert len(before) == 12
    again()
    assert {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files} == before
    files[0].write_bytes(before[files[0]][1][:100])
    files[-1].unlink()
    again()
    assert {file: file.read_bytes() for file in sorted(generated.glob("*/*/*"))} == {
        f: b for f, (_, b) in before.items()
    }
    assert not list(generated.parent.glob(".making-*"))


def test_a_walkthrough_that_fails_or_wins_too_early_is_no_proof(generated, alfworld_cache) -> None:
    engine = FastEngine(TranslationCache(alfworld_cache / TRANSLATIONS))
    file = next(generated.glob(f"pick_two*/*/{GAME_FILE}"))
    good = tuple(read_game(file)["walkthrough"])
    prove(engine, file, GameFiles(b"", b"", good), "good")
    for bad, message in (
        (good[:-1], "is not won"),
        ((*good, "look"), "step .* 'look', fails"),
        (good[1:], "step 1 of its walkthrough"),
    ):
        with pytest.raises(DataError, match=message):
            prove(engine, file, GameFiles(b"", b"", bad), "bad")
    engine.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"cannot be kept in .*file/seed_0/valid_unseen.*env\.cache_dir"):
        generate_games(tmp_path / "file", tmp_path, split="valid_unseen", seed=0, per_category=1)


def test_many_games_are_made_by_several_processes_and_are_the_same(generated, alfworld_cache, tmp_path) -> None:
    """Two of each type are enough for a pool; the translations made before are reused."""
    shutil.copytree(alfworld_cache / TRANSLATIONS, tmp_path / TRANSLATIONS)
    folder, ids = generate_games(
        tmp_path / "games", tmp_path / TRANSLATIONS, split="valid_unseen", seed=0, per_category=2
    )
    assert len(ids) == 12
    made = {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*/*")}
    assert len(made) == 24
    assert all(made[path.relative_to(generated)] == path.read_bytes() for path in generated.glob("*/*/*"))
    assert {path.name for path in made} == {GAME_FILE, TRAJECTORY_FILE}
