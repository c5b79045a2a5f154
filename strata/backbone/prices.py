"""What a call costs, in US dollars. A price that nobody stated is unknown, never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from strata.settings import setting
from strata.types import Json

_PER = 1_000_000


@dataclass(frozen=True, slots=True)
class PriceSettings:
    """Where prices come from, and the prices themselves when they are given here."""

    kind: Literal["auto", "known", "free", "unknown"] = setting(
        "auto",
        "auto: the table inside litellm, for models at their own provider; known: the numbers below; free: a server of "
        "your own; unknown: cost is shown as unknown",
    )
    input: float | None = setting(None, "dollars for a million input tokens, with kind=known")
    output: float | None = setting(None, "dollars for a million output tokens, reasoning included, with kind=known")
    cached: float | None = setting(None, "dollars for a million input tokens read from a cache; null: as input")

    def __post_init__(self) -> None:
        if (self.kind == "known") != (self.input is not None and self.output is not None):
            raise ValueError(f"kind={self.kind}: input and output are to be given with kind=known, and only then.")
        if any(value is not None and not 0 <= value < 1e6 for value in (self.input, self.output, self.cached)):
            raise ValueError("prices must be at least 0: dollars for a million tokens.")


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars a token."""

    input: float
    output: float
    cached: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        """Of one call. `cached_tokens` are among the input tokens, reasoning tokens among the output tokens."""
        cached = min(cached_tokens, input_tokens)
        return (input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output


def stated_prices(settings: PriceSettings) -> Prices | None:
    """The prices in the settings; None when they are unknown or to be looked up."""
    if settings.kind == "free":
        return Prices(0.0, 0.0, 0.0)
    if settings.input is None or settings.output is None:
        return None
    cached = settings.input if settings.cached is None else settings.cached
    return Prices(settings.input / _PER, settings.output / _PER, cached / _PER)


def listed_prices(table: Mapping[str, Mapping[str, Json]], model: str) -> Prices | None:
    """The prices of `provider/model` or `model` in litellm's table.

    An entry of 0 and 0 means there that nobody looked the price up. Surcharges for very long prompts are not covered.
    """
    entry = table.get(model) or table.get(model.partition("/")[2]) or {}
    given, made = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not given and not made:
        return None
    cached = entry.get("cache_read_input_token_cost")
    return Prices(given or 0.0, made or 0.0, (given or 0.0) if cached is None else cached)
