"""The engine's 30 task types, their splits, and which variations a run plays.

The table repeats what engine 1.2.3 says of itself (a test compares), so that listing tasks starts no Java. The paper
shows scores per "family" and names one, find-living; the other families are read off the task names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from envs.scienceworld.settings import ScienceWorldSettings
from strata.types import Task


@dataclass(frozen=True, slots=True)
class TaskType:
    """A task type. `number` and `name` are the engine's; `count` is its number of variations, over all splits."""

    number: str
    name: str
    topic: str
    family: str
    count: int

    @property
    def electrical(self) -> bool:
        """Whether it needs the commands that noElectricalAction takes away."""
        return self.topic == "electricity"


TASK_TYPES = tuple(
    TaskType(*row)
    for row in (
        ("1-1", "boil", "matter", "boil", 30),
        ("1-2", "melt", "matter", "melt", 30),
        ("1-3", "freeze", "matter", "freeze", 30),
        ("1-4", "change-the-state-of-matter-of", "matter", "change-state", 30),
        ("2-1", "use-thermometer", "measurement", "thermometer", 540),
        ("2-2", "measure-melting-point-known-substance", "measurement", "melting-point", 436),
        ("2-3", "measure-melting-point-unknown-substance", "measurement", "melting-point", 300),
        ("3-1", "power-component", "electricity", "power", 20),
        ("3-2", "power-component-renewable-vs-nonrenewable-energy", "electricity", "power", 20),
        ("3-3", "test-conductivity", "electricity", "conductivity", 900),
        ("3-4", "test-conductivity-of-unknown-substances", "electricity", "conductivity", 600),
        ("4-1", "find-living-thing", "classification", "find-living", 300),
        ("4-2", "find-non-living-thing", "classification", "find-living", 300),
        ("4-3", "find-plant", "classification", "find-plant", 300),
        ("4-4", "find-animal", "classification", "find-animal", 300),
        ("5-1", "grow-plant", "growth", "grow", 126),
        ("5-2", "grow-fruit", "growth", "grow", 126),
        ("6-1", "chemistry-mix", "chemistry", "mix", 32),
        ("6-2", "chemistry-mix-paint-secondary-color", "chemistry", "mix-paint", 36),
        ("6-3", "chemistry-mix-paint-tertiary-color", "chemistry", "mix-paint", 36),
        ("7-1", "lifespan-longest-lived", "lifespan", "lifespan", 125),
        ("7-2", "lifespan-shortest-lived", "lifespan", "lifespan", 125),
        ("7-3", "lifespan-longest-lived-then-shortest-lived", "lifespan", "lifespan", 125),
        ("8-1", "identify-life-stages-1", "life-stages", "life-stages", 14),
        ("8-2", "identify-life-stages-2", "life-stages", "life-stages", 10),
        ("9-1", "inclined-plane-determine-angle", "forces", "inclined-plane", 168),
        ("9-2", "inclined-plane-friction-named-surfaces", "forces", "inclined-plane", 1386),
        ("9-3", "inclined-plane-friction-unnamed-surfaces", "forces", "inclined-plane", 162),
        ("10-1", "mendelian-genetics-known-plant", "genetics", "genetics", 120),
        ("10-2", "mendelian-genetics-unknown-plant", "genetics", "genetics", 480),
    )
)
"""In the engine's numbering."""

NOT_IN_PAPER23 = frozenset({"5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2"})
"""The paper counts 23 tasks without naming them; these seven are what harnesses with 23 leave out."""


def split_variations(count: int, split: str) -> range:
    """Variations of one split, by the engine's rule: half train, a quarter dev, the rest test.

    The rule holds for five variations or more, which all task types have.
    """
    quarter = count // 4
    bounds = {"train": (0, 2 * quarter), "dev": (2 * quarter, 3 * quarter), "test": (3 * quarter, count)}
    return range(*bounds[split])


def select_tasks(settings: ScienceWorldSettings) -> list[Task]:
    """The tasks of a run, by task type and variation."""
    chosen = (kind for kind in TASK_TYPES if settings.suite == "all30" or kind.number not in NOT_IN_PAPER23)
    return [
        Task(
            id=f"{kind.number}/{kind.name}/var-{variation:04d}",
            category=kind.family,
            group=kind.name if settings.group == "task" else kind.topic,
            data={"name": kind.name, "variation": variation, "simplifications": _simplifications(kind, settings)},
        )
        for kind in chosen
        for variation in _variations(kind, settings)
    ]


def _variations(kind: TaskType, settings: ScienceWorldSettings) -> list[int]:
    listed = split_variations(kind.count, settings.split)
    wanted = len(listed) if settings.variations is None else min(settings.variations, len(listed))
    start = settings.variation_seed * wanted
    return sorted({listed[(start + at) % len(listed)] for at in range(wanted)})


def _simplifications(kind: TaskType, settings: ScienceWorldSettings) -> str:
    """Comma-separated, as the engine wants them; an electrical task keeps its commands, as in the engine's `easy`."""
    names: Iterable[str] = settings.simplifications
    if "easy" in names:
        names = [*names, "teleportAction", "openDoors", "selfWateringFlowerPots", "noElectricalAction"]
    left_out = {"easy", "noElectricalAction"} if kind.electrical else {"easy"}
    return ",".join(sorted(set(names) - left_out))
