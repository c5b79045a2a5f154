"""The engine, call by call, without the extras that the package's own `step()` fetches each time.

A step goes to the engine's agent, below the interface that the package's wrapper talks to. That interface looks around
and lists names before and after each action, for a history and a log that nobody reads here; it costs a fifth of the
time and has no effect on the world. `tests/environments` compares the two, action by action.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from envs.scienceworld.java import Java
from envs.scienceworld.machine import Machine
from envs.scienceworld.wire import Reference
from strata.errors import EnvironmentFailure

_ANSWERED_BY_THE_INTERFACE = frozenset({"help", "objects", "task"})
_UNKNOWN = "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible object referents. "
"""What the interface says for the agent when that has nothing to say."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an action led to. `score` is in percent, rounded as by the package's own wrapper; -100 is a failed task."""

    text: str
    score: int = 0
    completed: bool = False


class Engine:
    """One engine in a machine of its own, which `close` ends.

    Every method raises EnvironmentFailure when the machine died or the engine failed in it, and EnvironmentTimeout when
    it did not answer; either way the machine is gone.
    """

    def __init__(self, java: Java, *, timeout: float) -> None:
        self._machine = Machine(java, timeout=timeout)
        self._kept: list[Reference] = []
        self._last = Answer("")

    @property
    def pid(self) -> int:
        """Process id of the virtual machine."""
        return self._machine.pid

    def load(self, name: str, variation: int, simplifications: str) -> None:
        """Make a task's world, with the comma-separated simplifications.

        The second of the two calls is what the package calls `reset`: it makes the world anew in a machine that has
        loaded the task before.
        """
        while self._kept:
            self._machine.release(self._kept.pop())
        for call in (("load", name, variation, simplifications, False), ("reset",)):
            if trouble := self._machine.call(*call):
                self.close()
                raise EnvironmentFailure(f"ScienceWorld: task {name}, variation {variation}: {trouble}")
        self._agent = self._keep(self._machine.fetch("get", of=self._keep(self._machine.fetch("agentInterface"))))
        self._last = Answer("")

    def description(self) -> str:
        """The task in words."""
        return str(self._machine.call("getTaskDescription"))

    def step(self, command: str) -> Answer:
        """Carry out a command."""
        if command.strip().lower() in _ANSWERED_BY_THE_INTERFACE:
            return replace(self._last, text=str(self._machine.call("step", command)))
        told = self._keep(self._machine.fetch("step", command, of=self._agent))
        text, score, completed = str(self._machine.call("toString", of=told))[1:-1].rsplit(",", 2)
        self._last = Answer(text or _UNKNOWN, round(100 * float(score)), completed == "true")
        if self._last.score < 0:
            self._check()
        return self._last

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

    def _keep(self, reference: Reference) -> Reference:
        """Remember an object of this episode, to release it at the next."""
        self._kept.append(reference)
        return reference

    def _check(self) -> None:
        """An engine that failed inside answers with the score of a failed task: tell the two apart."""
        if self._machine.call("isInErrorState", of=self._agent):
            message = self._machine.call("getErrorStateMessage", of=self._agent)
            self.close()
            raise EnvironmentFailure(
                f"ScienceWorld: the engine failed: {message}. The next episode starts a new machine."
            )
