"""The packages' own engine behind the interface of `engine`, as the reference it is proven and measured against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from envs.alfworld.engine import Moment
from envs.alfworld.package import load_alfworld


class StockEngine:
    """`PddlEnv` with the wrappers that alfworld's own `AlfredTWEnv` puts around it."""

    def __init__(self) -> None:
        load_alfworld()
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
        from textworld.envs.pddl import PddlEnv

        infos = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        self._env: Any = AlfredInfos(AlfredDemangler(PddlEnv(infos), shuffle=False))

    def load(self, file: Path) -> None:
        """Read and translate a game. Given a path, the stock engine leaves the file open; so it gets the content."""
        self._env.load(json.loads(file.read_bytes()))

    def reset(self) -> Moment:
        """Start the loaded game."""
        state = self._env.reset()
        won = bool(state["won"])
        return Moment(state.feedback, tuple(state["admissible_commands"]), int(won), won, won)

    def step(self, command: str) -> Moment:
        """Carry out a command."""
        state, reward, done = self._env.step(command)
        return Moment(state.feedback, tuple(state["admissible_commands"]), reward, done, bool(state["won"]))

    def templates(self) -> dict[str, str]:
        """Command templates of the loaded game by lower-case action name."""
        return {name: action.template for name, action in self._env.unwrapped._logic.actions.items()}
