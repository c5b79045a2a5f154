"""The simulated agent on the real ScienceWorld engine: rooms, commands made from templates, a wrong focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envs.scienceworld import ScienceWorldEnvironment
from strata import parse
from strata.backbone.simulated import SimulatedBackbone
from strata.types import Action, Sampling, Task

FOUND_A_TREE = """
1. Task: Your task is to find a(n) living thing. First, focus on the thing. Then, move it to the red box in the kitchen.
   Outcome: success
   Reflection: The task was solved.
   Do this in order: go to greenhouse; focus on banana tree; pick up banana tree; move banana tree to red box.
"""
FOUND_ANY = """
### Find a living thing (when: find a living thing)
1. go to {place}
2. focus on {object}
3. pick up {object}
4. move {object} to {target}
"""
MELTED = """
## Melt {object} (when: melt lead)
1. pick up {object}
2. focus on {object}
3. move {object} to blast furnace
4. activate blast furnace
5. wait
"""


@pytest.fixture(scope="module")
def scienceworld() -> Iterator[ScienceWorldEnvironment]:
    environment = ScienceWorldEnvironment.build({})
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def tasks(scienceworld: ScienceWorldEnvironment) -> dict[str, Task]:
    return {str(task.data["name"]): task for task in scienceworld.tasks()}


def agent(**changes: Any) -> SimulatedBackbone:
    return SimulatedBackbone.build({"p_malformed": 0.0, "slip": 0.0, "p_follow": 1.0, **changes}, seed=0)


def test_a_memory_of_concrete_steps_walks_into_the_worst_score(scienceworld: Any, tasks: Any, play: Any) -> None:
    """Alone the agent finds a thing that is not alive; told how a tree was found, it focuses on the tree."""
    task = tasks["find-non-living-thing"]
    assert play(scienceworld, task, agent()).score == 100
    misled = play(scienceworld, task, agent(), FOUND_A_TREE)
    assert misled.score == -100
    assert misled.actions[-1] == "focus on banana tree"
    assert play(scienceworld, task, agent(), FOUND_ANY).score == 100


def test_a_warned_of_trap_is_avoided_by_those_who_heed(scienceworld: Any, tasks: Any, play: Any) -> None:
    text = f"# Beware of this, it is misleading\n{FOUND_A_TREE}"
    assert play(scienceworld, tasks["find-non-living-thing"], agent(p_heed=1.0), text).score == 100
    assert play(scienceworld, tasks["find-non-living-thing"], agent(p_heed=0.0), text).score == -100


def test_a_procedure_serves_a_task_with_the_same_operation(scienceworld: Any, tasks: Any, play: Any) -> None:
    alone = play(scienceworld, tasks["boil"], agent(prior={}), steps=45)
    helped = play(scienceworld, tasks["boil"], agent(prior={}), MELTED, steps=45)
    assert 0 < alone.score < 100
    assert helped.score == 100


def test_it_finds_its_way_through_rooms_and_earns_partial_scores(scienceworld: Any, tasks: Any, play: Any) -> None:
    played = play(scienceworld, tasks["use-thermometer"], agent(), steps=60)
    assert 20 < played.score < 100
    assert len({action for action in played.actions if action.startswith("go to ")}) > 2


def test_an_interrupted_conversation_is_taken_up_by_a_fresh_instance(
    scienceworld: Any, tasks: Any, play: Any, talk: Any
) -> None:
    """The replay that goes on from the last call gives what a replay from the start gives."""
    whole = play(scienceworld, tasks["find-animal"], agent(), steps=30)
    start = scienceworld.reset(tasks["find-animal"], seed=0)
    now, prompts = start, []
    for at, action in enumerate(whole.actions):
        prompts.append(talk(scienceworld, start.instruction, start, whole.turns[:at], now, ""))
        now = scienceworld.step(Action(action)).observation
    for at in (3, 11, len(prompts) - 1):
        reply = agent().complete(prompts[at], sampling=Sampling(), purpose="act").text
        assert parse.action(reply) == Action(whole.actions[at], whole.turns[at].thought)
