"""Any model that litellm reaches, behind the `Backbone` protocol: hosted APIs and OpenAI-compatible servers.

A parameter that the model does not take is an error, never dropped in silence. Usage is what the endpoint reports;
where it reports none, 4 characters are taken for a token and the cost is unknown. docs/backbones.md has examples.

Not covered: streaming, tools, images.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from strata.backbone.prices import Prices, PriceSettings, listed_prices, stated_prices
from strata.canonical import digest, dumps
from strata.endpoint import Caller, ContentRefused, Endpoint, check_address, load_litellm
from strata.errors import TransientBackboneError
from strata.settings import read_settings, setting
from strata.types import FinishReason, Json, Message, Reply, Sampling, Usage

_log = logging.getLogger(__name__)
_RESERVED = frozenset(
    {
        "model",
        "messages",
        "api_base",
        "api_key",
        "timeout",
        "stream",
        "n",
        "num_retries",
        "max_retries",
        "mock_response",
    }
    | {"temperature", "max_tokens", "top_p", "seed", "stop"}
)
_CHARS_PER_TOKEN = 4
_SECRET = re.compile(r"secret|password|credential|access_key|api_key|(^|_)token$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LitellmSettings:
    """Settings of the `litellm` backbone."""

    model: str = setting(
        "", "provider/model, such as openai/gpt-4o-mini, anthropic/..., hosted_vllm/..., ollama_chat/..."
    )
    api_base: str | None = setting(
        None, "address of a server of your own, such as http://localhost:8000/v1; null: the provider's"
    )
    api_key_env: str | None = setting(None, "environment variable that holds the key; null: the provider's usual one")
    timeout: float = setting(120.0, "seconds without a byte after which a call counts as failed")
    max_retries: int = setting(
        5, "further tries after a failure that may pass, with growing pauses or the server's Retry-After"
    )
    send_seed: bool = setting(False, "send the run's seed plus the repeat index; not every provider takes one")
    extra: Mapping[str, Json] = setting({}, "further parameters of the request, such as {reasoning_effort: low}")
    price: PriceSettings = setting(PriceSettings(), "what tokens cost")

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ValueError("model is not set. Name one, such as backbone.model=openai/gpt-4o-mini.")
        check_address(self.api_base, self.api_key_env, self.timeout, self.max_retries)
        taken = sorted(_RESERVED & set(self.extra))
        if {"headers", "extra_headers"} & set(self.extra):
            raise ValueError(
                "extra: headers may hold keys, and a run's manifest keeps its configuration. Use api_key_env."
            )
        secret = next((name for name in self.extra if _SECRET.search(name)), None)
        if secret:
            raise ValueError(
                f"extra.{secret}: looks like a secret, and a run's manifest keeps its configuration. "
                "Leave it in the environment, where litellm finds it, or name its variable with api_key_env."
            )
        if taken:
            raise ValueError(f"extra.{taken[0]}: has a place of its own (a backbone, agent or memory key).")


class LitellmBackbone:
    """Calls one model."""

    def __init__(self, settings: LitellmSettings, *, seed: int) -> None:
        self.name = settings.model
        self._settings = settings
        self._seed = seed
        self._prices: Prices | None = stated_prices(settings.price)
        self._looked_up = settings.price.kind != "auto" or settings.api_base is not None
        self._warned = False
        endpoint = Endpoint(
            settings.model, settings.api_base, settings.api_key_env, settings.timeout, settings.max_retries
        )
        endpoint.key()
        self._caller = Caller(endpoint)

    @classmethod
    def build(cls, config: Mapping[str, Json], *, seed: int) -> Self:
        """From the config group. Raises UsageError on a wrong key or value, or a key variable that is not set."""
        return cls(read_settings(LitellmSettings, config, where="backbone"), seed=seed)

    def complete(self, messages: Sequence[Message], *, sampling: Sampling, purpose: str, repeat: int = 0) -> Reply:
        """Answer a conversation.

        Raises BackboneRefused (key, model, request), ContextOverflow, TransientBackboneError after the retries, and
        QuotaExhausted. A prompt that the provider's filter rejects comes back as an empty reply, finish `refusal`.
        """
        del purpose
        request = self.request(messages, sampling, repeat)
        key = digest(dumps({"model": self.name, "repeat": repeat, **request}))
        start = time.monotonic()
        try:
            response, text, finish = self._caller.call("completion", request, _content)
        except ContentRefused:
            return Reply(
                "", Usage(calls=1, cost=self._cost(0, 0, 0)), "refusal", self.name, key, time.monotonic() - start
            )
        usage = self._usage(response, messages, text)
        model = str(getattr(response, "model", "") or self.name)
        return Reply(text, usage, finish, model, key, time.monotonic() - start)

    def request(self, messages: Sequence[Message], sampling: Sampling, repeat: int) -> dict[str, Json]:
        """What is sent besides model, address and key. Parameters that are None are left out."""
        seed = sampling.seed
        if seed is None and self._settings.send_seed:
            seed = self._seed + repeat
        optional = {
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "top_p": sampling.top_p,
            "seed": seed,
            "stop": list(sampling.stop) or None,
        }
        return {
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            **{name: value for name, value in optional.items() if value is not None},
            **self._settings.extra,
        }

    def prices(self) -> Prices | None:
        """Dollars a token, or None when unknown. May import litellm for its table."""
        if not self._looked_up:
            self._prices = listed_prices(load_litellm().model_cost, self._settings.model)
            self._looked_up = True
        return self._prices

    def _usage(self, response: Any, messages: Sequence[Message], text: str) -> Usage:
        reported = getattr(response, "usage", None)
        given, made = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
        if not given and not made:
            if not self._warned:
                _log.warning("%s reports no token usage. Tokens are estimated, their cost is unknown.", self.name)
            self._warned = True
            given = sum(len(message.content) for message in messages) // _CHARS_PER_TOKEN + 1
            cost = 0.0 if self._settings.price.kind == "free" else None
            return Usage(1, given, len(text) // _CHARS_PER_TOKEN + 1, cost=cost)
        cached = _count(getattr(reported, "prompt_tokens_details", None), "cached_tokens")
        reasoning = _count(getattr(reported, "completion_tokens_details", None), "reasoning_tokens")
        return Usage(1, given, made, cached, reasoning, self._cost(given, made, cached))

    def _cost(self, given: int, made: int, cached: int) -> float | None:
        prices = self.prices()
        return None if prices is None else prices.cost(given, made, cached)


def _content(response: Any) -> tuple[Any, str, FinishReason]:
    """The response, with text and finish of its first choice. Raises TransientBackboneError when there is none."""
    choices = getattr(response, "choices", None)
    if not choices:
        raise TransientBackboneError("The endpoint answered without a choice.")
    message = choices[0].message
    refusal = getattr(message, "refusal", None)
    text = message.content or refusal or ""
    reasons: dict[str, FinishReason] = {"length": "length", "content_filter": "refusal"}
    finish = "refusal" if refusal else reasons.get(str(choices[0].finish_reason), "stop")
    return response, str(text).encode("utf-8", "replace").decode(), finish


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value > 0 else 0
