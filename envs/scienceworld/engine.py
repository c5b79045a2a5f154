"""The engine, call by call, without the extras that the package's own `step()` fetches each time."""

from __future__ import annotations

import json
from dataclasses import dataclass

from envs.scienceworld.java import Java
from envs.scienceworld.machine import Machine
from envs.scienceworld.wire import Reference
from strata.errors import EnvironmentFailure


@dataclass(frozen=True, slots=True)
class Answer:
    """What an action led to. `score` is in percent, rounded as by the package's own wrapper; -100 is a failed task."""

    text: str
    score: int
    completed: bool


class Engine:
    """One engine in a machine of its own, which `close` ends.

    Every method raises EnvironmentFailure when the machine died or the engine failed in it, and EnvironmentTimeout when
    it did not answer; either way the machine is gone.
    """

    def __init__(self, java: Java, *, timeout: float) -> None:
        self._machine = Machine(java, timeout=timeout)

    @property
    def pid(self) -> int:
        """Process id of the virtual machine."""
        return self._machine.pid

    def load(self, name: str, variation: int, simplifications: str) -> None:
        """Make a task's world, with the comma-separated simplifications.

        The second of the two calls is what the package calls `reset`: it makes the world anew in a machine that has
        loaded the task before.
        """
        for method, arguments in (("load", (name, variation, simplifications, False)), ("reset", ())):
            trouble = self._machine.call(method, *arguments)
            if trouble:
                self.close()
                raise EnvironmentFailure(f"ScienceWorld: task {name}, variation {variation}: {trouble}")

    def description(self) -> str:
        """The task in words."""
        return str(self._machine.call("getTaskDescription"))

    def step(self, command: str) -> Answer:
        """Carry out a command."""
        text = str(self._machine.call("step", command))
        score = round(100 * float(str(self._machine.call("getScore"))))
        completed = bool(self._machine.call("getCompleted"))
        if score < 0:
            self._check()
        return Answer(text, score, completed)

    def templates(self) -> frozenset[str]:
        """The commands that the engine knows, with OBJ for each object."""
        listed = json.loads(str(self._machine.call("getPossibleActionsWithIDs")))
        return frozenset(item["action_example"] for item in listed)

    def combinations(self) -> list[str]:
        """The commands that are possible now, sorted.

        Asking draws from the engine's random numbers, so what happens later by chance differs from an episode without.
        """
        listed = json.loads(str(self._machine.call("getValidActionObjectCombinationsJSON")))
        return sorted({item["action"] for item in listed["validActions"]})

    def close(self) -> None:
        """End the machine. May be called more than once."""
        self._machine.close()

    def _check(self) -> None:
        """An engine that failed inside answers with the score of a failed task: tell the two apart."""
        holder = self._machine.call("agentInterface")
        agent = self._machine.call_of(holder, "get") if isinstance(holder, Reference) else None
        if isinstance(agent, Reference) and self._machine.call_of(agent, "isInErrorState"):
            message = self._machine.call_of(agent, "getErrorStateMessage")
            self.close()
            raise EnvironmentFailure(
                f"ScienceWorld: the engine failed: {message}. The next episode starts a new machine."
            )
