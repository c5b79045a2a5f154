"""Caps on what a run may spend. A cap pauses the run; it never changes a number."""

from __future__ import annotations

from strata.config import BudgetSettings
from strata.errors import BudgetReached, UsageError
from strata.types import Usage


class Budget:
    """What a run has spent so far, abandoned attempts included, against its caps.

    A call is refused once a cap is reached, so a run overshoots by one call at most.
    """

    def __init__(self, caps: BudgetSettings, spent: Usage = Usage()) -> None:  # noqa: B008  frozen
        self.spent = spent
        self._caps = caps

    def check(self) -> None:
        """Before a call. Raises BudgetReached, and UsageError when money is capped and what was spent is unknown."""
        cost, tokens = self._caps.run_cost, self._caps.run_tokens
        if cost is not None and self.spent.cost is None:
            raise _unpriced("of earlier calls of this run")
        if cost is not None and self.spent.cost is not None and self.spent.cost >= cost:
            raise BudgetReached(_message("run_cost", f"${self.spent.cost:.4f}", f"${cost:.4f}"))
        used = total_tokens(self.spent)
        if tokens is not None and used >= tokens:
            raise BudgetReached(_message("run_tokens", f"{used} tokens", f"{tokens} tokens"))

    def charge(self, usage: Usage, model: str) -> None:
        """After a call. Raises UsageError when money is capped and the call's price is unknown."""
        self.spent += usage
        if usage.cost is None and self._caps.run_cost is not None:
            raise _unpriced(f"of {model or 'the model'}")


def total_tokens(usage: Usage) -> int:
    """Input plus output tokens."""
    return usage.input_tokens + usage.output_tokens


def _unpriced(whose: str) -> UsageError:
    return UsageError(
        f"budget.run_cost is set, but the price {whose} is unknown, so the cap cannot be held. Give the backbone its "
        "prices, or cap tokens instead: budget.run_cost=null budget.run_tokens=N."
    )


def _message(key: str, spent: str, cap: str) -> str:
    return f"budget.{key}: {spent} of {cap} are spent. Raise it and start the same command again to go on."
