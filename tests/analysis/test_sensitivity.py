"""The share of the simulated agent's grid in which an ordering of memories holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.analysis.load import load_runs
from strata.analysis.sensitivity import GRID, overrides, points, sensitivity
from strata.errors import DataError

WON, LOST = {"heat-1": 100.0, "heat-2": 100.0}, {"heat-1": 0.0, "heat-2": 0.0}


@pytest.fixture
def at_point(make_run: Callable[..., Any]) -> Callable[..., None]:
    """Write one memory's run at one point of the grid."""

    def make(
        point: tuple[float, ...], memory: str, scores: dict[str, float | None], seed: int = 0, **facts: Any
    ) -> None:
        settings = {f"backbone.{name}": value for name, value in zip(GRID, point, strict=True)}
        name = f"{memory}-{'-'.join(map(str, point))}-s{seed}-{len(facts)}"
        make_run(scores, memory=memory, seed=seed, settings={**settings, **facts}, name=name)

    return make


def test_the_grid_is_three_by_three_by_three_and_made_of_agent_parameters() -> None:
    from strata.backbone.simulated.parameters import Parameters

    assert len(points()) == len(set(points())) == 27
    assert set(GRID) <= set(Parameters.__dataclass_fields__)
    assert overrides()[0].startswith("backbone.p_follow=")


def test_an_ordering_is_counted_over_the_points_where_both_ran(results: Path, at_point: Callable[..., None]) -> None:
    for number, point in enumerate(points()):
        at_point(point, "no_memory", LOST if number % 3 else WON)
        at_point(point, "flat", WON)
    text = sensitivity(load_runs(results))
    assert "## ALFWorld (sim_pro)" in text
    assert "| Flat-Memory > No-Memory | 18 of 27 | +0.0 to +100.0 |" in text


def test_missing_points_and_unfinished_runs_are_said(results: Path, at_point: Callable[..., None]) -> None:
    for point in points()[:4]:
        at_point(point, "no_memory", LOST)
        at_point(point, "strata", WON)
    at_point(points()[5], "no_memory", LOST)
    at_point(points()[5], "strata", {"heat-1": 100.0, "heat-2": None})
    assert "| STRATA > No-Memory | 4 of 4 (of 27 planned) | +100.0 to +100.0 |" in sensitivity(load_runs(results))


def test_only_equal_seeds_are_compared(results: Path, at_point: Callable[..., None]) -> None:
    at_point(points()[0], "no_memory", LOST, seed=0)
    at_point(points()[0], "strata", WON, seed=1)
    assert "no point in common" in sensitivity(load_runs(results))


def test_variants_of_one_memory_are_told_apart(results: Path, at_point: Callable[..., None]) -> None:
    """So a gain of contrast edges can be seen to hang on p_heed."""
    for point in points():
        heeds = point[list(GRID).index("p_heed")] > 0
        at_point(point, "strata", WON if heeds else LOST, **{"memory.contrast.mode": "rule"})
        at_point(point, "strata", LOST, **{"memory.contrast.mode": "none", "memory.extra": 1})
    lines = sensitivity(load_runs(results)).splitlines()
    assert any("contrast.mode" in line and "18 of 27" in line for line in lines)


def test_runs_off_the_grid_are_no_evidence(results: Path, make_run: Callable[..., Any]) -> None:
    make_run(WON, memory="flat")
    with pytest.raises(DataError, match=r"sensitivity\.py"):
        sensitivity(load_runs(results))
