"""Every memory of the project in every mode, for the tests that all of them must pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from strata.check.subject import Maker


@dataclass(frozen=True)
class Candidate:
    """A memory under test. `per_task`: it keeps one record a task, so a task must never be shown its own."""

    label: str
    target: str
    config: Mapping[str, Any] = field(default_factory=dict)
    per_task: bool = False

    def make(self) -> Maker:
        module, _, name = self.target.partition(":")
        return Maker(getattr(import_module(module), name), self.config, self.target)


FLAT = "baselines.flat_memory:FlatMemory"
CANDIDATES = [
    Candidate("no_memory", "baselines.no_memory:NoMemory"),
    Candidate("flat", FLAT, per_task=True),
    Candidate("flat_trajectory", FLAT, {"mode": "trajectory", "k": 2}, per_task=True),
    Candidate("flat_capped", FLAT, {"capacity": 3}, per_task=True),
    Candidate("flat_success", FLAT, {"keep": "success"}, per_task=True),
    Candidate("strata", "strata.graph.memory:StrataMemory"),
]


def _present(candidate: Candidate) -> bool:
    module = candidate.target.partition(":")[0]
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(params=[pytest.param(c, id=c.label) for c in CANDIDATES if _present(c)])
def candidate(request):
    return request.param


@pytest.fixture
def make(candidate):
    """Makes empty memories of the candidate's kind."""
    return candidate.make()
