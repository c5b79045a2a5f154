"""Checks of an environment against the contract of `strata.protocols.Environment`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from strata.check.report import Note, demand
from strata.protocols import Environment
from strata.types import Action, EnvironmentGuide, Json, Observation, Step, Task

_METHODS = ("build", "guide", "versions", "tasks", "reset", "step", "close")
_STEPS = 6


class Maker:
    """Builds the environment at first use, and again on demand; closes what it built."""

    def __init__(self, target: type[Environment], config: Mapping[str, Json]) -> None:
        self.target, self.config = target, dict(config)
        self._built: list[Environment] = []

    def __call__(self, *, another: bool = False) -> Environment:
        if another or not self._built:
            self._built.append(self.target.build(dict(self.config)))  # type: ignore[attr-defined]
        return self._built[-1 if another else 0]

    def close(self) -> None:
        """Close every instance."""
        for environment in self._built:
            environment.close()


def has_the_methods(make: Maker) -> None:
    """The class has the methods and attributes."""
    missing = [name for name in _METHODS if not callable(getattr(make.target, name, None))]
    demand(not missing, f"{make.target.__name__} lacks: {', '.join(missing)}. See strata.protocols.Environment.")
    environment = make()
    demand(isinstance(getattr(environment, "name", None), str), "The attribute `name` must be text.")
    limit = getattr(environment, "max_steps", None)
    demand(
        isinstance(limit, int) and limit > 0,
        f"The attribute `max_steps` must be a whole number above 0, not {limit!r}.",
    )


def describes_itself(make: Maker) -> None:
    """The guide tells the agent the world and its actions; versions are text."""
    guide = make().guide()
    demand(isinstance(guide, EnvironmentGuide), f"guide() returned {type(guide).__name__}, not an EnvironmentGuide.")
    demand(bool(guide.description.strip()), "guide().description is empty: the agent is not told where it is.")
    demand(bool(guide.grammar.templates), "guide().grammar.templates is empty: the agent is not told what it can do.")
    strangers = sorted(set(guide.grammar.irreversible) - set(guide.grammar.templates))
    demand(not strangers, f"Irreversible templates {strangers} are not among the templates; they are compared as text.")
    odd = [key for key, value in make().versions().items() if not isinstance(value, str)]
    demand(not odd, f"versions() has values that are not text: {odd}. They go to the manifest as they are.")


def lists_tasks(make: Maker) -> None:
    """There are tasks, with unique ids, in an order that repeats."""
    tasks = make().tasks()
    demand(len(tasks) > 0, "tasks() is empty. Raise DataError that says where tasks were looked for.")
    ids = [task.id for task in tasks]
    double = sorted({name for name in ids if ids.count(name) > 1})[:3] if len(set(ids)) < len(ids) else []
    demand(not double, f"Task ids occur more than once: {double}.")
    demand(all(task.category and task.group for task in tasks), "A task has no category or no group.")
    again = [task.id for task in make(another=True).tasks()]
    demand(again == ids, "tasks() gives another order or selection the second time. Sort folder listings and sets.")


def starts_a_task(make: Maker) -> None:
    """`reset` gives the task in words, and nothing that gives it away."""
    for task in _sample(make):
        seen = make().reset(task, seed=0)
        demand(isinstance(seen, Observation), f"reset() returned {type(seen).__name__}, not an Observation.")
        demand(bool(seen.instruction.strip()), f"The first observation of {task.id} has no instruction.")
        demand(bool(seen.text.strip()), f"The first observation of {task.id} has no text.")
        demand(
            task.id not in seen.instruction + seen.text,
            f"The agent is shown the task id {task.id}; memories could use it as a key to the answer.",
        )


def answers_any_action(make: Maker) -> None:
    """An action that the world does not know is answered, not raised."""
    environment = make()
    for command in ("florble the garnix", "", "look" * 500, "take {object}", "\u202e\x00 %s $x"):
        environment.reset(_sample(make)[0], seed=0)
        step = environment.step(Action(command))
        demand(isinstance(step, Step), f"step({command[:20]!r}) returned {type(step).__name__}, not a Step.")
        demand(not step.success, f"step({command[:20]!r}) succeeded at once.")


def scores_in_range(make: Maker) -> None:
    """Scores are percent, and success ends an episode."""
    for task in _sample(make):
        for step in _walk(make(), task, random.Random(1)):
            demand(
                isinstance(step.done, bool) and isinstance(step.success, bool),
                "done and success must be true or false.",
            )
            demand(-100 <= step.score <= 100, f"Score {step.score} of {task.id} is not between -100 and 100.")
            demand(step.done or not step.success, f"{task.id} is a success but not done.")


def repeats_an_episode(make: Maker) -> None:
    """The same actions give the same answers, after other tasks and in another instance."""
    tasks = _sample(make)
    first = [_walk(make(), task, random.Random(2)) for task in tasks]
    for environment in (make(), make(another=True)):
        for task, before in zip(reversed(tasks), reversed(first), strict=True):
            demand(
                _walk(environment, task, random.Random(2)) == before,
                f"{task.id} with the same seed and actions went differently the second time. Usual causes: state that "
                "reset() does not clear; the global random generator; iteration over a set.",
            )


def offers_actions_of_its_grammar(make: Maker) -> None:
    """Admissible commands match a template."""
    patterns = [_pattern(template) for template in make().guide().grammar.templates]
    for task in _sample(make):
        for command in make().reset(task, seed=0).admissible:
            if not any(pattern.fullmatch(command) for pattern in patterns):
                raise Note(
                    f"{command!r} matches no template of the guide; a memory of abstract steps cannot express it."
                )


def closes_twice(make: Maker) -> None:
    """`close` may be called more than once."""
    environment = make(another=True)
    environment.close()
    environment.close()


ENVIRONMENT_CHECKS: tuple[Callable[[Maker], None], ...] = (
    has_the_methods,
    describes_itself,
    lists_tasks,
    starts_a_task,
    answers_any_action,
    scores_in_range,
    repeats_an_episode,
    offers_actions_of_its_grammar,
    closes_twice,
)


def _sample(make: Maker) -> list[Task]:
    tasks = make().tasks()
    return [tasks[at] for at in sorted({0, len(tasks) // 2, len(tasks) - 1})]


def _walk(environment: Environment, task: Task, random_: random.Random) -> list[Step]:
    """A short episode of arbitrary actions."""
    templates = environment.guide().grammar.templates
    seen = environment.reset(task, seed=0)
    steps = [Step(seen, 0.0, False, False)]
    while len(steps) <= _STEPS and not steps[-1].done:
        choices = seen.admissible or tuple(_fill(template, seen.objects, random_) for template in templates)
        steps.append(environment.step(Action(random_.choice(choices))))
        seen = steps[-1].observation
    return steps


def _fill(template: str, objects: tuple[str, ...], random_: random.Random) -> str:
    return re.sub(r"\{[^{}]*\}", lambda _: random_.choice(objects or ("thing",)), template)


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{[^{}]*\}", template)
    return re.compile(".+".join(re.escape(part) for part in parts))
