"""How the simulated agent acts on real ALFWorld games: purely, with shared luck, helped and misled by what it reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from envs.alfworld import AlfworldEnvironment
from strata.backbone.simulated import SimulatedBackbone
from strata.backbone.simulated.calibration import good, misleading, warned
from strata.types import Action, EnvironmentGuide, Message, Sampling, Task

CLEAR = {"p_follow": 1.0, "p_malformed": 0.0, "slip": 0.0}


@pytest.fixture(scope="module")
def tasks(alfworld: Any) -> dict[str, Task]:
    """A real game of each category."""
    return {task.category: task for task in alfworld.tasks()}


def agent(seed: int = 0, **changes: Any) -> SimulatedBackbone:
    return SimulatedBackbone.build({"preset": "sim_pro", **changes}, seed=seed)


def test_one_episode_repeats_exactly_in_a_fresh_instance(alfworld: Any, tasks: Any, play: Any) -> None:
    task = tasks["heat_and_place"]
    shared = agent()
    first = play(alfworld, task, shared, good)
    play(alfworld, tasks["cool_and_place"], shared, misleading, steps=8)
    assert play(alfworld, task, shared, good) == first == play(alfworld, task, agent(), good)
    assert play(alfworld, task, agent(seed=1), good).actions != first.actions


def test_calls_in_any_order_give_the_same_replies(alfworld: Any, tasks: Any, talk: Any, play: Any) -> None:
    task = tasks["pick_and_place"]
    conversations = conversations_of(alfworld, task, agent(), talk, play)
    forward = [agent_reply(shared, talk_) for shared in [agent()] for talk_ in conversations]
    backward = [agent_reply(shared, talk_) for shared in [agent()] for talk_ in reversed(conversations)]
    assert forward == backward[::-1] == [agent_reply(agent(), talk_) for talk_ in conversations]


def conversations_of(environment: Any, task: Task, backbone: Any, talk: Any, play: Any) -> list[list[Message]]:
    """The prompts of an episode's first steps."""
    start = now = environment.reset(task, seed=0)
    turns = play(environment, task, backbone, steps=12).turns
    environment.reset(task, seed=0)
    prompts = []
    for at, turn in enumerate(turns):
        prompts.append(talk(environment, start.instruction, start, turns[:at], now, ""))
        now = environment.step(Action(turn.action)).observation
    return prompts


def agent_reply(backbone: SimulatedBackbone, messages: list[Message]) -> str:
    return backbone.complete(messages, sampling=Sampling(), purpose="act").text


def test_another_process_with_another_hash_seed_answers_the_same(alfworld: Any, tasks: Any, talk: Any) -> None:
    start = alfworld.reset(tasks["clean_and_place"], seed=0)
    messages = talk(alfworld, start.instruction, start, [], start, good(start.instruction))
    code = (
        "import json, sys\n"
        "from strata.backbone.simulated import SimulatedBackbone\n"
        "from strata.types import Message, Sampling\n"
        "messages = [Message(*pair) for pair in json.load(sys.stdin)]\n"
        "backbone = SimulatedBackbone.build({}, seed=3)\n"
        "print(backbone.complete(messages, sampling=Sampling(), purpose='act').text)\n"
    )
    data = json.dumps([[message.role, message.content] for message in messages])
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=data,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed},
        )
        assert done.stdout.strip() == agent_reply(agent(seed=3), messages)


@pytest.mark.parametrize(
    "text", ["", good, misleading, "# Notes\nThe weather is fine."], ids=["none", "good", "bad", "notes"]
)
def test_an_agent_that_never_follows_acts_as_without_memory(
    alfworld: Any, tasks: Any, play: Any, text: Callable[[str], str] | str
) -> None:
    task = tasks["cool_and_place"]
    alone = play(alfworld, task, agent(p_follow=0.0, p_heed=0.0))
    assert play(alfworld, task, agent(p_follow=0.0, p_heed=0.0), text).actions == alone.actions


def test_memories_share_their_luck(alfworld: Any, tasks: Any, talk: Any) -> None:
    """A slip happens at the same steps and to the same action, whatever the memory wrote."""
    start = alfworld.reset(tasks["heat_and_place"], seed=0)
    texts = ["", good(start.instruction), misleading(start.instruction), "# Notes\nThe weather is fine."]
    for seed in range(5):
        slips = {
            agent_reply(
                agent(seed, slip=1.0, p_malformed=0.0), talk(alfworld, start.instruction, start, [], start, text)
            )
            for text in texts
        }
        assert len(slips) == 1


FORMS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE),
    lambda text: re.sub(r"^#+ ", "", text, flags=re.MULTILINE),
    lambda text: re.sub(r"^\d+\. ", "- ", text, flags=re.MULTILINE),
    lambda text: re.sub(r"^(\d+)\. (.*)$", r"   (\1) `\2`", text, flags=re.MULTILINE),
    lambda text: "\n\n".join(
        "\n".join([*block.splitlines()[1:], block.splitlines()[0]]) for block in text.split("\n\n")
    ),
]


@pytest.mark.parametrize("form", FORMS, ids=["as is", "bold", "plain", "dashes", "code", "titles last"])
def test_a_cosmetic_edit_changes_no_action(alfworld: Any, tasks: Any, play: Any, form: Callable[[str], str]) -> None:
    def both(goal: str) -> str:
        return f"{good(goal)}\n\n{misleading(goal)}"

    task = tasks["heat_and_place"]
    assert (
        play(alfworld, task, agent(), lambda goal: form(both(goal))).actions
        == play(alfworld, task, agent(), both).actions
    )


def played(environment: Any, tasks: Any, play: Any, memory: Any, **changes: Any) -> list[list[str]]:
    """The actions of every game."""
    backbone = agent(**changes)
    return [play(environment, task, backbone, memory, steps=30).actions for task in tasks.values()]


def test_without_heed_a_warning_is_worth_nothing(alfworld: Any, tasks: Any, play: Any) -> None:
    """p_heed=0: the same procedures, flat or under a contrast warning, lead to the same actions on every game."""

    def flat(goal: str) -> str:
        return f"{misleading(goal)}\n\n{good(goal)}"

    def contrast(goal: str) -> str:
        return f"{warned(goal)}\n\n# Procedures\n{good(goal)}"

    heedless = {"p_heed": 0.0, "p_follow": 1.0, "p_malformed": 0.0}
    assert played(alfworld, tasks, play, contrast, **heedless) == played(alfworld, tasks, play, flat, **heedless)
    heedful = {**heedless, "p_heed": 1.0}
    assert played(alfworld, tasks, play, contrast, **heedful) == played(alfworld, tasks, play, good, **heedful)


def test_a_warned_procedure_alone_leaves_an_attentive_agent_to_itself(alfworld: Any, tasks: Any, play: Any) -> None:
    changes = {"p_heed": 1.0, "p_follow": 1.0}
    assert played(alfworld, tasks, play, warned, **changes) == played(alfworld, tasks, play, "", **changes)


def test_only_the_first_lines_are_read_reliably(alfworld: Any, tasks: Any, play: Any) -> None:
    task = tasks["heat_and_place"]
    padding = "\n".join(f"Remark {number}: nothing of note." for number in range(20)) + "\n\n"
    near = agent(**CLEAR, attention_lines=4, attention_decay=0.0)
    alone = play(alfworld, task, agent(**CLEAR, p_heed=0.0)).actions
    helped = play(alfworld, task, near, good).actions
    assert helped != alone
    assert play(alfworld, task, near, lambda goal: padding + good(goal)).actions == alone
    far = agent(**CLEAR, attention_lines=30, attention_decay=0.0)
    assert play(alfworld, task, far, lambda goal: padding + good(goal)).actions == helped
    decaying = [agent(seed, **CLEAR, attention_lines=4, attention_decay=0.95) for seed in range(10)]
    reached = [play(alfworld, task, each, lambda goal: padding + good(goal), steps=15).actions for each in decaying]
    without = [play(alfworld, task, agent(seed, **CLEAR), steps=15).actions for seed in range(10)]
    assert 0 < sum(one != other for one, other in zip(reached, without, strict=True)) < 10


def share(environment: Any, tasks: Any, play: Any, memory: Any, seeds: Sequence[int], **changes: Any) -> float:
    agents = [agent(seed, **changes) for seed in seeds]
    wins = [play(environment, task, each, memory).success for task in tasks.values() for each in agents]
    return 100 * sum(wins) / len(wins)


def test_a_good_memory_helps_and_a_misleading_one_hurts(alfworld: Any, tasks: Any, play: Any) -> None:
    alone = share(alfworld, tasks, play, "", range(4))
    assert 20 < alone < 85
    assert share(alfworld, tasks, play, good, range(4)) > alone + 15
    assert share(alfworld, tasks, play, misleading, range(4)) < alone


class OtherGuide:
    """An environment that tells the agent something else about itself."""

    def __init__(self, inner: Any, guide: EnvironmentGuide) -> None:
        self._inner = inner
        self._guide = guide

    def guide(self) -> EnvironmentGuide:
        return self._guide

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_what_cannot_be_undone_is_never_tried_out(alfworld: Any, tasks: Any, play: Any) -> None:
    told = alfworld.guide()
    taking = "take {object} from {place}"
    marked = replace(told, grammar=replace(told.grammar, irreversible=(taking,)))
    careful = OtherGuide(alfworld, marked)
    for task in (tasks["pick_and_place"], tasks["examine_in_light"]):
        wild = agent(slip=0.5, prior={}, p_malformed=0.0)
        assert any(action.startswith("take ") for action in play(alfworld, task, wild).actions)
        assert not any(action.startswith("take ") for action in play(careful, task, wild).actions)


def test_a_family_without_a_prior_is_improvised(alfworld: Any, tasks: Any, play: Any) -> None:
    task = tasks["pick_two_and_place"]
    knowing = agent(**CLEAR, prior={"alfworld": {"two": 1.0}})
    assert play(alfworld, task, knowing).success
    assert play(alfworld, task, agent(**CLEAR, prior={})).actions != play(alfworld, task, knowing).actions


@pytest.mark.parametrize("listed", ["list", "none"])
def test_a_game_is_won_with_and_without_listed_commands(
    alfworld_config: Any, tasks: Any, play: Any, listed: str
) -> None:
    """Without a list, commands are made from the templates and the names in the observations."""
    environment = AlfworldEnvironment.build({**alfworld_config, "admissible": listed})
    knowing = agent(**CLEAR, prior={"alfworld": {"pick": 1.0, "clean": 1.0, "heat": 1.0}})
    names = ("pick_and_place", "clean_and_place", "heat_and_place")
    assert all(play(environment, tasks[name], knowing).success for name in names)
    environment.close()
