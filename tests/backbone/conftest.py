"""Real ALFWorld games and an episode loop for the tests of the simulated backbone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from envs.alfworld import AlfworldEnvironment
from strata import parse
from strata.prompts import PromptLibrary, build_messages
from strata.protocols import Backbone, Environment
from strata.types import Action, Message, Observation, Sampling, Task, Turn

PROMPTS = PromptLibrary()


@dataclass(frozen=True)
class Played:
    """A finished episode."""

    instruction: str
    success: bool
    score: float
    turns: tuple[Turn, ...]

    @property
    def actions(self) -> list[str]:
        return [turn.action for turn in self.turns]


def conversation(
    environment: Environment, instruction: str, start: Observation, turns: Sequence[Turn], now: Observation, memory: str
) -> list[Message]:
    prompt = PROMPTS.get("agent/act")
    return build_messages(prompt, environment.guide(), instruction, start, turns, now, memory=memory)


def play_episode(
    environment: Environment,
    task: Task,
    backbone: Backbone,
    memory: Callable[[str], str] | str = "",
    steps: int | None = None,
) -> Played:
    """Play a task. `memory` is the text, or makes it from the instruction. A malformed reply is asked again once."""
    start = now = environment.reset(task, seed=0)
    text = memory if isinstance(memory, str) else memory(start.instruction)
    turns: list[Turn] = []
    score, success = 0.0, False
    for _ in range(steps or environment.max_steps):
        messages = conversation(environment, start.instruction, start, turns, now, text)
        reply = backbone.complete(messages, sampling=Sampling(), purpose="act").text
        action = parse.action(reply)
        if not isinstance(action, Action):
            again = [Message("assistant", reply), Message("user", "Your reply could not be read: no action.")]
            action = parse.action(backbone.complete([*messages, *again], sampling=Sampling(), purpose="act").text)
        assert isinstance(action, Action)
        step = environment.step(action)
        turns.append(Turn(action.thought, action.text, step.observation.text, step.score))
        now, score, success = step.observation, step.score, step.success
        if step.done:
            break
    return Played(start.instruction, success, score, tuple(turns))


@pytest.fixture(scope="session")
def alfworld_config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The `env` group of the games, to build other environments on the same ones."""
    return {"data": None, "per_category": 1, "cache_dir": str(tmp_path_factory.mktemp("alfworld"))}


@pytest.fixture(scope="session")
def alfworld(alfworld_config: dict[str, object]) -> Iterator[AlfworldEnvironment]:
    """One generated game of each task type, on the real engine."""
    environment = AlfworldEnvironment.build(alfworld_config)
    yield environment
    environment.close()


@pytest.fixture(scope="session")
def play() -> Callable[..., Played]:
    return play_episode


@pytest.fixture(scope="session")
def talk() -> Callable[..., list[Message]]:
    return conversation
