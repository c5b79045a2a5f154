"""Accounts: calls by purpose, caps, time that counts once."""

# ruff: noqa: ARG002  signatures of the protocols

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from strata.budget import Budget, total_tokens
from strata.config import BudgetSettings
from strata.errors import BudgetReached, UsageError
from strata.metering import MeteredBackbone, Stopwatch
from strata.types import Reply, Sampling, Usage


class Priced:
    name = "priced"

    def __init__(self, cost: float | None) -> None:
        self.cost, self.calls = cost, 0

    def complete(self, messages: Any, *, sampling: Any, purpose: str, repeat: int = 0) -> Reply:
        self.calls += 1
        return Reply("ok", Usage(1, 60, 40, cost=self.cost), model="priced-1")


def metered(cost: float | None, spent: Usage | None = None, **caps: Any) -> tuple[MeteredBackbone, Priced]:
    inner = Priced(cost)
    budget = Budget(BudgetSettings(**caps), spent or Usage())
    return MeteredBackbone(inner, budget, Stopwatch(lambda: 0.0)), inner


def ask(backbone: MeteredBackbone, purpose: str = "act") -> None:
    backbone.complete([], sampling=Sampling(), purpose=purpose)


def test_calls_are_accounted_by_purpose() -> None:
    backbone, _ = metered(0.25)
    for purpose in ("reflect", "act", "act"):
        ask(backbone, purpose)
    assert list(backbone.take().items()) == [
        ("act", Usage(2, 120, 80, cost=0.5)),
        ("reflect", Usage(1, 60, 40, cost=0.25)),
    ]
    assert backbone.take() == {}


def test_a_run_that_was_unexpectedly_expensive_stops_at_its_cap() -> None:
    backbone, inner = metered(0.25, run_cost=0.5)
    ask(backbone)
    ask(backbone)
    with pytest.raises(BudgetReached, match=r"run_cost: \$0\.5000 of \$0\.5000"):
        ask(backbone)
    assert inner.calls == 2


def test_what_was_spent_before_a_resume_counts() -> None:
    backbone, inner = metered(0.0, Usage(9, 500, 500), run_tokens=1000)
    with pytest.raises(BudgetReached, match="1000 tokens of 1000 tokens"):
        ask(backbone)
    assert inner.calls == 0


def test_an_unknown_price_is_unknown_and_not_free() -> None:
    backbone, _ = metered(None)
    ask(backbone)
    assert backbone.take()["act"].cost is None


def test_a_money_cap_without_a_price_is_refused_not_ignored() -> None:
    backbone, inner = metered(None, run_cost=1.0)
    with pytest.raises(UsageError, match="price of priced-1 is unknown"):
        ask(backbone)
    assert (inner.calls, backbone.take()["act"].calls) == (1, 1)


def test_a_money_cap_over_a_run_that_began_without_a_price_is_refused_before_it_spends_more() -> None:
    backbone, inner = metered(0.1, Usage(3, 100, 10, cost=None), run_cost=1.0)
    with pytest.raises(UsageError, match="price of earlier calls of this run is unknown"):
        ask(backbone)
    assert inner.calls == 0


def test_total_tokens_are_input_plus_output() -> None:
    assert total_tokens(Usage(1, 60, 40, cached_tokens=50, reasoning_tokens=30)) == 100


def test_nested_time_counts_once() -> None:
    now = [0.0]
    watch = Stopwatch(lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    with watch.measure("memory"):
        wait(1)
        with watch.measure("backbone"):
            wait(10)
        wait(2)
    wait(100)
    with suppress(ValueError), watch.measure("env"):
        wait(5)
        raise ValueError
    assert watch.take() == {"memory": 3, "backbone": 10, "env": 5}
    assert watch.take() == {}
