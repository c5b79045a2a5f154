"""The simulated agent behind the `Backbone` protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Self

from strata.backbone.simulated.agent import Agent
from strata.backbone.simulated.draws import Draws
from strata.backbone.simulated.knowledge import load_knowledge
from strata.backbone.simulated.parameters import Parameters, with_preset
from strata.backbone.simulated.writing import Writer
from strata.canonical import digest, dumps
from strata.settings import read_settings
from strata.types import FinishReason, Json, Message, Reply, Sampling, Usage

_CHARS_PER_TOKEN = 4
_UNREADABLE = "I am not sure what to do here and think about it first."


class SimulatedBackbone:
    """A model of an agent, not a language model.

    Its reply is a pure function of messages, sampling, purpose, repeat, seed and parameters. It reads the prompt and
    nothing else, and asks neither who wrote the memory's text nor which task it is.

    Tokens are counted as one per 4 characters, rounded up, of every message and of the reply; money is 0. A reply
    longer than `sampling.max_tokens` is cut there.
    """

    simulated = True

    def __init__(self, parameters: Parameters, seed: int) -> None:
        self.name = f"simulated:{parameters.preset}"
        self.parameters = parameters
        self._seed = seed
        self._knowledge = load_knowledge()
        self._agent = Agent(self._knowledge, parameters, seed)

    @classmethod
    def build(cls, config: Mapping[str, Json], *, seed: int) -> Self:
        """From the `backbone` config group; null values are the preset's. Raises UsageError."""
        return cls(read_settings(Parameters, with_preset(config), where="backbone"), seed)

    def complete(self, messages: Sequence[Message], *, sampling: Sampling, purpose: str, repeat: int = 0) -> Reply:
        """Act where the prompt lists actions, else write what the prompt asks for."""
        luck = _luck(sampling, repeat)
        if self._agent.is_asked_to_act(messages):
            text = self._act(messages, luck)
        else:
            prompt = "\n\n".join(message.content for message in messages)
            text = Writer(self._knowledge, self.parameters, lambda goal: Draws(self._seed, goal, luck)).reply(prompt)
        finish: FinishReason = "stop"
        limit = (sampling.max_tokens or len(text)) * _CHARS_PER_TOKEN
        if len(text) > limit:
            text, finish = text[:limit], "length"
        tokens = sum(count_tokens(message.content) for message in messages)
        usage = Usage(calls=1, input_tokens=tokens, output_tokens=count_tokens(text))
        request = [[[message.role, message.content] for message in messages], asdict(sampling), purpose, repeat]
        return Reply(text, usage, finish, model=self.name, request_key=digest(dumps(request)))

    def _act(self, messages: Sequence[Message], luck: str) -> str:
        choice = self._agent.act(messages, luck)
        return f"Thought: {choice.thought}\nAction: {choice.action}" if choice else _UNREADABLE


def count_tokens(text: str) -> int:
    """One token per 4 characters, rounded up."""
    return -(-len(text) // _CHARS_PER_TOKEN)


def _luck(sampling: Sampling, repeat: int) -> str:
    """What tells apart two samples of one request; empty for the first sample without a sampling seed."""
    parts = [f"repeat {repeat}"] if repeat else []
    parts += [f"seed {sampling.seed}"] if sampling.seed is not None else []
    return ", ".join(parts)
