"""ScienceWorld on the real engine: the same game as raw engine calls, the same bytes each time, nothing given away."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from envs.scienceworld import ScienceWorldEnvironment
from envs.scienceworld.bench import measure
from envs.scienceworld.catalogue import TASK_TYPES, split_variations
from envs.scienceworld.java import FLAGS, find_java
from envs.scienceworld.seen import choices_in, names_in
from envs.scienceworld.stock import stock_wrapper
from strata.types import Action

GOLD = json.loads(Path(__file__).with_name("scienceworld_gold.json").read_text(encoding="utf-8"))
"""The engine's own solutions of the first test variation of each task type, as `getGoldActionSequence` gave them."""

SHORT = sorted(name for name, walk in GOLD.items() if len(walk["actions"]) <= 100)
NUMBER = {kind.name: kind.number for kind in TASK_TYPES}


@pytest.fixture(scope="module")
def environment():
    made = ScienceWorldEnvironment.build({"suite": "all30"})
    yield made
    made.close()


@pytest.fixture(scope="module")
def raw():
    """The engine's interface as the package's own wrapper opens it, on a Java with our options."""
    with stock_wrapper(find_java(), FLAGS) as wrapper:
        yield wrapper.server


def task(environment, name: str):
    return next(task for task in environment.tasks() if task.data["name"] == name)


def walk(environment, name: str, actions) -> list:
    steps = [environment.reset(task(environment, name), seed=0)]
    return steps + [environment.step(Action(action)) for action in actions]


def arbitrary(names, seed: int, count: int) -> list[str]:
    """Commands of all kinds on things that may or may not be there."""
    rng = random.Random(seed)
    forms = (
        "pick up {}",
        "open {}",
        "look at {}",
        "look in {}",
        "activate {}",
        "move {} to {}",
        "use {} on {}",
        "wait1",
    )
    return [re.sub(r"\{\}", lambda _: rng.choice(names), rng.choice(forms)) for _ in range(count)]


# The same game as the engine's


@pytest.mark.parametrize("name", SHORT)
def test_a_solution_goes_as_with_raw_engine_calls_to_the_same_score(environment, raw, name) -> None:
    """Our steps go below the interface that these calls go through."""
    variation, actions = GOLD[name]["variation"], GOLD[name]["actions"]
    chosen = task(environment, name)
    assert chosen.data["variation"] == variation
    raw.load(name, variation, "", False)
    raw.reset()
    start = environment.reset(chosen, seed=0)
    assert start.text == raw.step("look around").strip()
    assert start.instruction == " ".join(raw.getTaskDescription().split())
    for at, action in enumerate(actions, start=1):
        step, text = environment.step(Action(action)), raw.step(action)
        assert (step.observation.text, step.score) == (text.strip(), round(100 * raw.getScore())), f"{at}: {action}"
        assert step.success == raw.getCompleted()
        if step.done:
            break
    assert (step.score, step.done, step.success) == (100, True, True)


def test_at_least_25_task_types_are_solved() -> None:
    assert len(SHORT) >= 25


@pytest.mark.parametrize("name", ["boil", "find-animal", "power-component"])
def test_arbitrary_commands_are_answered_as_by_raw_engine_calls(environment, raw, name) -> None:
    start = walk(environment, name, [])[0]
    raw.load(name, GOLD[name]["variation"], "", False)
    raw.reset()
    odd = ["task", "help", "objects", "", "look at door", "0", "look at door", "what", "nonsense", "focus on air"]
    for command in arbitrary(start.objects, seed=3, count=30) + odd:
        step = environment.step(Action(command))
        assert step.observation.text == raw.step(command).strip(), command
        assert step.score == round(100 * raw.getScore()), command
    assert step.score in (-100, 7)


def test_the_catalogue_is_what_the_engine_says_of_itself(raw) -> None:
    assert sorted(kind.name for kind in TASK_TYPES) == sorted(raw.getTaskNames())
    for kind in TASK_TYPES:
        raw.load(kind.name, 0, "", False)
        assert raw.getTaskMaxVariations(kind.name) == kind.count
        for split, listed in (("train", "Train"), ("dev", "Dev"), ("test", "Test")):
            theirs = getattr(raw, f"getVariations{listed}")()
            ours = split_variations(kind.count, split)
            assert (theirs[0], theirs[-1], len(theirs)) == (ours[0], ours[-1], len(ours)), f"{kind.name} {split}"


# Scores, endings, steps


def test_a_wrong_focus_costs_a_hundred_points_and_ends_the_episode(environment) -> None:
    steps = walk(environment, "find-living-thing", ["focus on table"])
    assert (steps[-1].score, steps[-1].done, steps[-1].success) == (-100, True, False)


def test_a_looked_at_thing_is_not_a_focus(environment) -> None:
    steps = walk(environment, "find-living-thing", ["look at table", "pick up picture"])
    assert not any(step.done for step in steps[1:])
    assert steps[-1].score >= 0


def test_partial_progress_is_scored(environment) -> None:
    steps = walk(environment, "find-living-thing", GOLD["find-living-thing"]["actions"][:9])
    assert [step.score for step in steps[1:]] == [8, 17, 17, 17, 17, 17, 17, 67, 75]


def test_every_action_is_one_step_where_the_engine_counts_none_or_eleven(environment, raw) -> None:
    name, commands = "boil", ["wait", "look around", "nonsense", "wait1"]
    raw.load(name, GOLD[name]["variation"], "", False)
    moves = []
    for command in commands:
        raw.step(command)
        moves.append(raw.getNumMoves())
    assert moves == [11, 11, 11, 13]
    assert len(walk(environment, name, commands)) == 1 + len(commands)


def test_an_engine_failure_is_not_taken_for_a_wrong_focus(environment) -> None:
    """The engine answers both with a score of -1."""
    from strata.errors import EnvironmentFailure

    walk(environment, "melt", ["look around"])
    engine = environment._engine
    engine._machine.call("setErrorState", "java.lang.Exception: made for a test", of=engine._agent)
    with pytest.raises(EnvironmentFailure, match=r"the engine failed: java\.lang\.Exception: made for a test"):
        environment.step(Action("look around"))
    assert walk(environment, "melt", ["look around"])[-1].score == 0


# The same bytes each time


def test_episodes_repeat_byte_for_byte_in_a_used_machine_and_in_new_ones(environment) -> None:
    """Without our options the engine lists things in an order that differs from load to load (see docs)."""
    walks = {name: GOLD[name]["actions"][:12] for name in ("boil", "chemistry-mix-paint-secondary-color", "grow-fruit")}
    first = {name: repr(walk(environment, name, actions)) for name, actions in walks.items()}
    again = {name: repr(walk(environment, name, actions)) for name, actions in reversed(walks.items())}
    assert first == again
    other = ScienceWorldEnvironment.build({"suite": "all30"})
    try:
        assert first == {name: repr(walk(other, name, actions)) for name, actions in reversed(walks.items())}
    finally:
        other.close()


def test_without_our_options_the_same_start_is_told_in_several_orders() -> None:
    """If the engine ever orders things itself, the options can go."""
    with stock_wrapper(find_java()) as wrapper:
        seen = set()
        for _ in range(8):
            wrapper.server.load("chemistry-mix-paint-secondary-color", 27, "", False)
            wrapper.server.reset()
            seen.add(wrapper.server.step("look around"))
    assert len(seen) > 1
    assert len({tuple(sorted(text.splitlines())) for text in seen}) == 1


# What the agent is shown


def test_names_seen_are_understood_by_the_engine(environment) -> None:
    """Each name that a look around yields can be looked at, unless it is inside something closed."""
    for name in ("boil", "find-plant", "power-component"):
        seen = walk(environment, name, [])[0]
        for thing in seen.objects:
            answer = environment.step(Action(f"look at {thing}")).observation
            assert "No known action" not in answer.text, f"{name}: {thing}"
            if answer.admissible:
                environment.step(Action("0"))


def test_only_what_was_shown_is_named(environment) -> None:
    steps = walk(environment, "boil", ["go to kitchen", "open door to kitchen", "go to kitchen"])
    assert "fridge" not in steps[-1].observation.objects
    seen = environment.step(Action("look around")).observation.objects
    assert {"fridge", "thermometer", "glass cup", "red apple", "door to hallway", "hallway", "sodium chloride"} <= set(
        seen
    )
    assert "orange juice" not in seen
    assert seen[0] == "kitchen"
    seen = [environment.step(Action(command)).observation for command in ("open fridge", "look around")][-1].objects
    assert {"wood cup", "orange juice", "toilet"} <= set(seen)


def test_what_was_shown_in_another_episode_is_forgotten(environment) -> None:
    walk(environment, "boil", ["look around"])
    start = walk(environment, "power-component", [])[0]
    assert "bathtub" not in start.objects
    assert "battery" in start.objects


def test_a_question_for_one_of_several_actions_offers_the_numbers(environment) -> None:
    steps = walk(environment, "boil", ["open door to kitchen", "go to kitchen", "look at door", "1", "look around"])
    assert steps[3].observation.admissible == ("0", "1", "2")
    assert steps[4].observation.admissible == steps[5].observation.admissible == ()
    assert "No known action" not in steps[4].observation.text


def test_combinations_are_offered_on_demand_and_can_be_carried_out() -> None:
    environment = ScienceWorldEnvironment.build({"admissible": "combinations", "simplifications": ["easy"]})
    try:
        start = environment.reset(environment.tasks()[0], seed=0)
        assert len(start.admissible) > 100
        assert list(start.admissible) == sorted(set(start.admissible))
        assert {"look around", "focus on sink", "teleport to kitchen"} <= set(start.admissible)
        templates = environment.guide().grammar.templates
        patterns = [re.compile(re.sub(r"\{\w+\}", ".+", template)) for template in templates]
        assert not [text for text in start.admissible if not any(pattern.fullmatch(text) for pattern in patterns)]
        assert not any(command.startswith("connect") for command in start.admissible)
        step = environment.step(Action("teleport to kitchen"))
        assert step.observation.text == "You teleport to the kitchen."
        electrical = next(task for task in environment.tasks() if task.data["name"] == "power-component")
        assert any(command.startswith("connect") for command in environment.reset(electrical, seed=0).admissible)
    finally:
        environment.close()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("\ta toilet. In the toilet is: A drain, which is open, a substance called water.", ["toilet", "water"]),
        ("\ta bed. On the bed is: a mattress. On the mattress is: a white pillow..", ["bed", "mattress", "pillow"]),
        ("\ta jug (containing a pea plant in the reproducing stage. On the pea plant you see: a flower. , soil)",
         ["jug", "pea plant", "flower", "soil"]),
        ("\tA door to the art studio (that is closed)", ["door to art studio", "art studio"]),
        ("\ta stopwatch, which is activated. The time reads 20 ticks.", ["stopwatch"]),
        ("\ta thermometer, currently reading a temperature of 10 degrees celsius", ["thermometer"]),
        ("\tA recipe titled instructions to make sugar water", ["recipe"]),
        ("\tan inclined plane with a aluminum surface", ["inclined plane with a aluminum surface"]),
        ("a battery. its anode is connected to: nothing. its cathode is connected to: nothing. ", ["battery"]),
        ("In your inventory, you see:\n\tan orange\n\tsolid unknown substance Y",
         ["orange", "solid unknown substance Y"]),
        ("You move the liquid lead to the metal pot.", ["liquid lead", "metal pot"]),
        ("(disconnecting red wire)You move the red wire to the inventory.", ["red wire"]),
        ("You focus on the door between kitchen and outside.", []),
        ("You move to the living room.", ["living room"]),
        ("the thermometer measures a temperature of 105 degrees celsius", []),
        ("The fridge is now open.", []),
        ("No known action matches that input.", []),
        ("Ambiguous request: Please enter the number\n0:\tlook at cup (in sink)\n1:\tlook at cup (in table)\n", []),
    ],
)  # fmt: skip
def test_names_are_read_off_the_text(text, names) -> None:
    assert names_in(text) == names


def test_only_a_question_has_choices() -> None:
    assert choices_in("Ambiguous request: Please enter\n0:\tlook at cup\n10:\tlook at cup\n") == ("0", "10")
    assert choices_in("0:\tlook at cup\n") == ()


# Selection and settings


def test_the_default_is_the_papers_23_tasks_each_in_its_first_test_variation() -> None:
    tasks = ScienceWorldEnvironment.build({}).tasks()
    assert len(tasks) == 23
    assert (tasks[0].id, tasks[0].category, tasks[0].group) == ("1-1/boil/var-0021", "boil", "boil")
    assert not {"5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2"} & {task.id.split("/")[0] for task in tasks}
    living = [task.id.split("/")[1] for task in tasks if task.category == "find-living"]
    assert living == ["find-living-thing", "find-non-living-thing"]


def test_variations_rotate_by_seed_and_stay_in_their_split() -> None:
    def variations(**config: object) -> list[int]:
        tasks = ScienceWorldEnvironment.build(config).tasks()
        return [task.data["variation"] for task in tasks if task.data["name"] == "boil"]

    assert variations(variations=2) == [21, 22]
    assert variations(variations=2, variation_seed=1) == [23, 24]
    assert variations(variations=2, variation_seed=4) == [21, 29]
    assert variations(variations=None) == list(range(21, 30))
    assert variations(split="train", variations=100) == list(range(14))
    assert variations(split="dev") == [14]
    assert len(ScienceWorldEnvironment.build({"suite": "all30", "variations": None}).tasks()) == 1819


def test_groups_are_task_names_or_topics() -> None:
    by_task = ScienceWorldEnvironment.build({"suite": "all30"}).tasks()
    by_topic = ScienceWorldEnvironment.build({"suite": "all30", "group": "topic"}).tasks()
    assert len({task.group for task in by_task}) == 30
    assert len({task.group for task in by_topic}) == 10


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"suite": "all"}, r"env\.suite=all: must be one of paper23, all30\."),
        ({"split": "valid"}, r"env\.split=valid: must be one of test, dev, train\."),
        ({"simplification": "easy"}, r"env\.simplification: unknown key"),
        ({"simplifications": ["teleport"]}, r"env\.simplifications\[0\]=teleport: must be one of easy, teleportAction"),
        ({"simplifications": "easy"}, r"env\.simplifications=easy: must be a list\."),
        ({"variations": 0}, r"env: variations=0 must be 1 or more, or null"),
        ({"variation_seed": -1}, r"env: variation_seed=-1 must be 0 or more"),
        ({"max_steps": 0}, r"env: max_steps=0 must be 1 or more"),
        ({"timeout": 0}, r"env: timeout=0\.0 must be above 0 seconds"),
        ({"admissible": "list"}, r"env\.admissible=list: must be one of templates, combinations\."),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named(config, message) -> None:
    from strata.errors import UsageError

    with pytest.raises(UsageError, match=message):
        ScienceWorldEnvironment.build(config)


# Speed


def test_a_step_takes_an_eighth_of_the_packages_own_step() -> None:
    """Without the time of compiling Java code, which depends on how long a machine has run."""
    walks = {name: GOLD[name]["actions"][:20] for name in ("melt", "test-conductivity", "chemistry-mix")}
    document = measure(walks, rounds=2)
    assert document["ratio"]["work"] >= 8, document
