"""Episodes to try a memory on: a small household, nothing of any benchmark."""

from __future__ import annotations

from strata.canonical import digest
from strata.types import Episode, MemoryContext, Observation, TaskView, Turn

_INSTRUCTIONS = (
    "put a hot apple in the fridge",
    "put a clean plate on the table",
    "put a cool tomato in the microwave",
    "find two pens and put them in the drawer",
    "examine the book with the desk lamp",
    "heat some egg and put it in the bin",
)
_OUTCOMES = (True, False, True, None)


def sample_view(number: int, instruction: str | None = None) -> TaskView:
    """Task `number` as a memory sees it."""
    words = _INSTRUCTIONS[number % len(_INSTRUCTIONS)] if instruction is None else instruction
    key = digest(f"household:task {number}")[:16]
    return TaskView("household", words, group=f"group {number % 3}", key=key)


def sample_episode(
    index: int, *, task: int | None = None, instruction: str | None = None, success: bool | None = True, steps: int = 3
) -> Episode:
    """Episode `index` of a pass, at task `task` (by default of the same number)."""
    view = sample_view(index if task is None else task, instruction)
    turns = tuple(
        Turn(f"Step {step} comes next.", f"take apple {step} from shelf {index}", f"You pick up apple {step}.", 0.0)
        for step in range(1, steps + 1)
    )
    start = Observation("You are in the middle of a room.", instruction=view.instruction)
    return Episode(index, view, start, turns, success=success, context=MemoryContext())


def sample_stream(length: int = 8) -> list[Episode]:
    """The first episodes of a pass: successes, failures and some without a verdict."""
    return [sample_episode(index, success=_OUTCOMES[index % len(_OUTCOMES)]) for index in range(length)]
