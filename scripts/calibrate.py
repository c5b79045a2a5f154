"""Measure the simulated agent alone, with a good and with a misleading hand-written memory, on ALFWorld.

    python scripts/calibrate.py [preset=sim_pro] [data=FOLDER] [per_category=N] [seeds=0,1,2] [KEY=NUMBER ...]

Without data, on generated games; KEY is a parameter of the agent. These are the numbers of docs/simulated-backbone.md;
no memory of a comparison is run.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
runpy.run_path(str(ROOT / "strata" / "guard.py"))["check_packages"](ROOT)

from envs.alfworld import AlfworldEnvironment  # noqa: E402
from strata import parse  # noqa: E402
from strata.backbone.simulated import SimulatedBackbone  # noqa: E402
from strata.backbone.simulated.calibration import MEMORIES  # noqa: E402
from strata.prompts import PromptLibrary, build_messages  # noqa: E402
from strata.types import Action, Sampling, Task, Turn  # noqa: E402

ACT = PromptLibrary().get("agent/act")


def play(env: AlfworldEnvironment, task: Task, backbone: SimulatedBackbone, write: Callable[[str], str]) -> bool:
    """One episode; whether it was solved."""
    start = now = env.reset(task, seed=0)
    memory, turns = write(start.instruction), list[Turn]()
    for _ in range(env.max_steps):
        talk = build_messages(ACT, env.guide(), start.instruction, start, turns, now, memory=memory)
        action = parse.action(backbone.complete(talk, sampling=Sampling(), purpose="act").text)
        assert isinstance(action, Action)
        step = env.step(action)
        turns.append(Turn(action.thought, action.text, step.observation.text, step.score))
        now = step.observation
        if step.done:
            return step.success
    return False


if __name__ == "__main__":
    options = {"preset": "sim_pro", "data": "", "per_category": "", "seeds": "0,1,2"}
    options |= dict(word.partition("=")[::2] for word in sys.argv[1:])
    preset, data, count, seeds = (options.pop(name) for name in ("preset", "data", "per_category", "seeds"))
    config = {"preset": preset, "p_malformed": 0.0, **{name: float(value) for name, value in options.items()}}
    env = AlfworldEnvironment.build({"data": data or None, "per_category": int(count) if count else None})
    tasks, agents = env.tasks(), [SimulatedBackbone.build(config, seed=int(seed)) for seed in seeds.split(",")]
    for name, write in MEMORIES.items():
        won = {task.id: [play(env, task, agent, write) for agent in agents] for task in tasks}
        groups = {
            kind: [w for t in tasks if t.category == kind for w in won[t.id]] for kind in {t.category for t in tasks}
        }
        shares = {"all": [w for each in won.values() for w in each], **dict(sorted(groups.items()))}
        print(name, *(f"{kind} {100 * sum(each) / len(each):.1f} (n={len(each)})" for kind, each in shares.items()))
