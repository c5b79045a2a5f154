"""What runs with a paid model may cost, before any of them starts.

The tokens are those that the same cells used with the simulated backbone. It reads the same prompts, but its replies
are terse, so a real model's replies and the histories that repeat them are longer: the upper end allows for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.backbone.prices import Prices
from strata.ledger import read_ledger
from strata.types import Usage

LONGER = 3.0
"""How many times the simulated tokens the upper end allows for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of simulated runs and, with known prices, the dollars they and `LONGER` times as many would cost."""

    episodes: int
    usage: Usage
    low: float | None
    high: float | None

    def describe(self, model: str) -> str:
        """Two lines for a person."""
        usage = self.usage
        tokens = f"{usage.input_tokens:,} input and {usage.output_tokens:,} output tokens in {usage.calls:,} calls"
        head = f"{self.episodes} simulated episodes took {tokens}.\n"
        if self.low is None or self.high is None:
            return f"{head}The price of {model} is unknown: give backbone.price.kind=known, .input= and .output=."
        return f"{head}With {model} that costs ${self.low:.2f}, and up to ${self.high:.2f} with longer replies."


def estimate(folders: Sequence[Path], prices: Prices | None) -> Estimate:
    """From finished simulated runs. Raises CorruptStateError."""
    ledgers = [read_ledger(folder) for folder in folders]
    usage = sum((ledger.usage for ledger in ledgers), start=Usage())
    low = None if prices is None else prices.cost(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return Estimate(sum(len(ledger.lines) for ledger in ledgers), usage, low, None if low is None else LONGER * low)
