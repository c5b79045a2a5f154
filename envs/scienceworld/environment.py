"""ScienceWorld as an `Environment`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import Self

from envs.scienceworld.catalogue import select_tasks
from envs.scienceworld.engine import Answer, Engine
from envs.scienceworld.guide import check_grammar, make_guide
from envs.scienceworld.java import Java, find_java
from envs.scienceworld.machine import jar_digest
from envs.scienceworld.seen import choices_in, names_in
from envs.scienceworld.settings import ScienceWorldSettings
from strata.errors import EnvironmentFailure
from strata.settings import read_settings
from strata.types import Action, EnvironmentGuide, Json, Observation, Step, Task


class ScienceWorldEnvironment:
    """Variations of the engine's tasks, one at a time, in one Java machine that starts with the first episode.

    An episode ends when the engine says that the task is complete (a success, score 100) or has failed (score -100, a
    wrong `focus on`); the engine itself would go on after a failure. Steps are counted by the caller, an action being
    one step: the engine's own count leaves some out and counts `wait` as eleven.

    `objects` of an observation are the names of what the agent has been shown in this episode, last shown first.
    `admissible` holds the numbers to choose from when the engine asks which of several actions is meant, and otherwise
    nothing, or with `admissible: combinations` every command that the engine would accept.
    """

    name = "scienceworld"

    def __init__(self, settings: ScienceWorldSettings, java: Java) -> None:
        self.max_steps = settings.max_steps
        self._settings = settings
        self._java = java
        self._tasks = {task.id: task for task in select_tasks(settings)}
        self._engine: Engine | None = None
        self._seen: tuple[str, ...] = ()

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Self:
        """From the `env` config group. Raises UsageError, or DataError when there is no Java that works."""
        return cls(read_settings(ScienceWorldSettings, config, where="env"), find_java())

    @property
    def machine_pid(self) -> int | None:
        """Process id of the Java machine, when one runs."""
        return self._engine.pid if self._engine else None

    def guide(self) -> EnvironmentGuide:
        """What the agent is told."""
        return make_guide(teleport=self._teleport)

    def versions(self) -> Mapping[str, str]:
        """Packages, the Java that is used, and the hash of the engine, which holds all tasks."""
        return {
            "scienceworld": version("scienceworld"),
            "py4j": version("py4j"),
            "java": f"{self._java.version} ({self._java.source})",
            "data_hash": jar_digest(),
        }

    def tasks(self) -> Sequence[Task]:
        """By task type, in the engine's numbering, and variation. The category is the type's family."""
        return list(self._tasks.values())

    def reset(self, task: Task, *, seed: int) -> Observation:
        """Start a task. What happens by chance is fixed by the variation, so `seed` changes nothing."""
        del seed
        known = self._tasks.get(task.id)
        if known is None:
            raise EnvironmentFailure(f"ScienceWorld: {task.id} is not a task of this suite, split and selection.")
        simplifications = str(known.data["simplifications"])
        with self._ended_by_trouble():
            if self._engine is None:
                self._engine = Engine(self._java, timeout=self._settings.timeout)
            self._engine.load(known.data["name"], known.data["variation"], simplifications)
            electrical = "noElectricalAction" not in simplifications
            check_grammar(self._engine.templates(), teleport=self._teleport, electrical=electrical)
            self._seen = ()
            start = self._observe(self._engine, self._engine.step("look around"))
            return replace(start, instruction=" ".join(self._engine.description().split()))

    def step(self, action: Action) -> Step:
        """Carry out a command. Repeated spaces and a final full stop do not matter, nor does letter case."""
        if self._engine is None:
            raise EnvironmentFailure("ScienceWorld: there is no episode to go on with; start one with `reset`.")
        with self._ended_by_trouble():
            answer = self._engine.step(" ".join(action.text.split()).rstrip("."))
            observation = self._observe(self._engine, answer)
        won = answer.completed and answer.score > 0
        return Step(observation, float(answer.score), done=answer.completed or answer.score < 0, success=won)

    def close(self) -> None:
        """End the Java machine. May be called more than once."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    @property
    def _teleport(self) -> bool:
        return bool({"easy", "teleportAction"} & set(self._settings.simplifications))

    @contextmanager
    def _ended_by_trouble(self) -> Iterator[None]:
        """Whatever interrupts a call, Ctrl-C included, leaves an answer unread: never go on with that machine."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _observe(self, engine: Engine, answer: Answer) -> Observation:
        names = names_in(answer.text)
        self._seen = (*names, *(name for name in self._seen if name not in names))
        admissible = choices_in(answer.text)
        if not admissible and self._settings.admissible == "combinations":
            admissible = tuple(command for command in engine.combinations() if command != "reset task")
        return Observation(answer.text.strip(), admissible=admissible, objects=self._seen)
