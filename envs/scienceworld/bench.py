"""Time of a step and memory of the Java machine: our adapter against the package's own wrapper, in one run.

Both play the engine's own solutions, taking turns task by task, on the same Java. CPU time is what this process and
the Java machine used together; it varies less than wall time on a busy computer. `work` is that without the threads
that compile Java code, whose work is done once and shrinks as the machine warms up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.scienceworld.catalogue import TASK_TYPES, split_variations
from envs.scienceworld.environment import ScienceWorldEnvironment
from envs.scienceworld.java import FLAGS, find_java
from envs.scienceworld.stock import gold_actions, stock_wrapper
from strata.types import Action, Json, Task

WALKS = ("1-2", "2-1", "3-1", "3-3", "4-1", "4-4", "6-1", "8-2")
"""Task types that are timed: one of each kind of activity."""

KINDS = ("wall", "cpu", "work")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Cost:
    """Time of steps."""

    steps: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))

    def add(self, steps: int, seconds: Mapping[str, float]) -> None:
        """Count `steps` steps that took `seconds` of each kind of time together."""
        self.steps += steps
        for kind in KINDS:
            self.seconds[kind] += seconds[kind]

    def report(self) -> dict[str, float]:
        """Mean milliseconds of a step."""
        return {kind: round(1000 * seconds / self.steps, 2) for kind, seconds in self.seconds.items()}


def solutions(*, steps: int, numbers: Sequence[str] = WALKS) -> dict[str, Sequence[str]]:
    """By task name, the first actions of the engine's own solution of its first test variation."""
    kinds = [kind for kind in TASK_TYPES if kind.number in numbers]
    with stock_wrapper(find_java()) as teacher:
        return {
            kind.name: gold_actions(teacher, kind.name, split_variations(kind.count, "test")[0])[:steps]
            for kind in kinds
        }


def measure(walks: Mapping[str, Sequence[str]], *, rounds: int) -> Json:
    """Play the actions given for each task, `rounds` times after one that warms up."""
    environment = ScienceWorldEnvironment.build({"suite": "all30"})
    tasks = {task.data["name"]: task for task in environment.tasks()}
    java = find_java()
    ours, stock, start = Cost(), Cost(), time.monotonic()

    def act(command: str) -> None:
        environment.step(Action(command))

    environment.reset(tasks[next(iter(walks))], seed=0)
    started = time.monotonic() - start
    try:
        with stock_wrapper(java) as wrapper:
            for at in range(rounds + 1):
                for name, actions in walks.items():
                    mine = _walk(act, _begin(environment, tasks[name]), actions)
                    theirs = _walk(wrapper.step, _begin_stock(wrapper, tasks[name]), actions)
                    if at:
                        ours.add(len(actions), mine)
                        stock.add(len(actions), theirs)
        memory = _peak_megabytes(environment.machine_pid)
    finally:
        environment.close()
    return {
        "java": f"{java.version} ({java.source})",
        "flags": list(FLAGS),
        "steps": ours.steps,
        "unit": "mean milliseconds of a step",
        "ours": ours.report(),
        "stock": stock.report(),
        "ratio": {kind: round(stock.seconds[kind] / ours.seconds[kind], 1) for kind in KINDS},
        "seconds_to_first_observation": round(started, 2),
        "peak_megabytes_of_the_machine": memory,
    }


def memory_over(environment: ScienceWorldEnvironment, *, episodes: int, steps: int) -> list[int]:
    """Peak resident megabytes of the Java machine after each episode of looking and waiting, over all tasks in turn."""
    tasks, peaks = environment.tasks(), []
    for at in range(episodes):
        environment.reset(tasks[at % len(tasks)], seed=0)
        for step in range(steps):
            environment.step(Action("look around" if step % 2 else "wait"))
        peaks.append(_peak_megabytes(environment.machine_pid))
    return peaks


def _begin(environment: ScienceWorldEnvironment, task: Task) -> int:
    environment.reset(task, seed=0)
    assert environment.machine_pid is not None
    return environment.machine_pid


def _begin_stock(wrapper: Any, task: Task) -> int:
    wrapper.load(task.data["name"], task.data["variation"])
    wrapper.reset()
    return int(wrapper._gateway.java_process.pid)


def _walk(step: Callable[[str], object], pid: int, commands: Sequence[str]) -> dict[str, float]:
    """Seconds of the commands together, by kind."""
    before = _clocks(pid)
    for command in commands:
        step(command)
    after = _clocks(pid)
    return {kind: after[kind] - before[kind] for kind in KINDS}


def _clocks(pid: int) -> dict[str, float]:
    """Seconds so far. CPU time is that of this process and of the Java machine `pid`."""
    own, threads = time.process_time(), Path(f"/proc/{pid}/task").iterdir()
    compilers = sum(_cpu(thread) for thread in threads if "Compiler" in (thread / "comm").read_text(encoding="utf-8"))
    cpu = own + _cpu(Path(f"/proc/{pid}"))
    return {"wall": time.monotonic(), "cpu": cpu, "work": cpu - compilers}


def _cpu(folder: Path) -> float:
    fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _peak_megabytes(pid: int | None) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(peak.split()[1]) / 1024)
