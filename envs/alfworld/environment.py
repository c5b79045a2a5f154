"""ALFWorld as an `Environment`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Self

from envs.alfworld.dataset import CATEGORIES, GameSet, select_games, split_folder
from envs.alfworld.engine import FastEngine, Moment
from envs.alfworld.generator import generate_games
from envs.alfworld.guide import GUIDE, check_grammar
from envs.alfworld.settings import AlfworldSettings
from envs.alfworld.translation import TranslationCache
from strata.errors import EnvironmentFailure
from strata.settings import read_settings
from strata.types import Action, EnvironmentGuide, Json, Observation, Step, Task

TRANSLATIONS = "translations"
_log = logging.getLogger(__name__)
_GOAL = "\n\nYour task is to: "


class AlfworldEnvironment:
    """Games of one split, one at a time.

    An episode succeeds when the engine says the goal is reached, which ends it with a score of 100; before that the
    score is 0. Commands are matched without regard to letter case, repeated spaces and a final full stop.
    """

    name = "alfworld"

    def __init__(self, settings: AlfworldSettings, games: GameSet) -> None:
        self.max_steps = settings.max_steps
        self._settings = settings
        self._set = games
        self._files = {game.id: game.file for game in games.games}
        self._engine = FastEngine(TranslationCache(Path(settings.cache_dir).expanduser() / TRANSLATIONS))

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Self:
        """From the `env` config group. Raises UsageError, or DataError when the games cannot be had."""
        settings = read_settings(AlfworldSettings, config, where="env")
        return cls(settings, _games(settings))

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """Games of the split that are not played, each with the reason."""
        return self._set.skipped

    def guide(self) -> EnvironmentGuide:
        """What the agent is told."""
        return GUIDE

    def versions(self) -> Mapping[str, str]:
        """Engine packages and the data: where from, how many games, how many left out, and a hash over the games."""
        packages = {name: version(name) for name in ("alfworld", "textworld", "fast-downward-textworld")}
        return {
            **packages,
            "data": "as given by env.data" if self._settings.data else f"generated, seed {self._settings.game_seed}",
            "data_hash": self._set.digest,
            "games": str(len(self._set.games)),
            "skipped_games": _summary(self._set.skipped),
        }

    def tasks(self) -> Sequence[Task]:
        """One task per game; the group is the task type."""
        return [Task(id=game.id, category=CATEGORIES[game.task_type], group=game.task_type) for game in self._set.games]

    def reset(self, task: Task, *, seed: int) -> Observation:
        """Start a game. A game has no chance in it, so `seed` changes nothing."""
        del seed
        file = self._files.get(task.id)
        if file is None:
            raise EnvironmentFailure(f"ALFWorld: {task.id} is not a game of split {self._settings.split}.")
        self._engine.load(file)
        check_grammar(self._engine.templates(), source=str(file))
        moment = self._engine.reset()
        text, found, goal = moment.feedback.partition(_GOAL)
        if not found:
            raise EnvironmentFailure(f"ALFWorld: {file}: the game's opening text names no task.")
        _, _, room = text.partition("\n\n")
        return Observation(text=room, instruction=goal.strip(), admissible=self._shown(moment))

    def step(self, action: Action) -> Step:
        """Carry out a command; one that is not possible is answered with "Nothing happens."."""
        moment = self._engine.step(_normal(action.text))
        observation = Observation(text=moment.feedback.strip(), admissible=self._shown(moment))
        return Step(observation, score=100.0 if moment.won else 0.0, done=moment.done, success=moment.won)

    def close(self) -> None:
        """Unload the engine's library."""
        self._engine.close()

    def _shown(self, moment: Moment) -> tuple[str, ...]:
        return moment.admissible if self._settings.admissible == "list" else ()


def _games(settings: AlfworldSettings) -> GameSet:
    if not settings.data:
        cache = Path(settings.cache_dir).expanduser()
        made = generate_games(
            cache / "games",
            cache / TRANSLATIONS,
            split=settings.split,
            seed=settings.game_seed,
            per_category=settings.per_category,
        )
        return select_games(made.folder, None, made.ids)
    folder = split_folder(Path(settings.data).expanduser(), settings.split)
    games = select_games(folder, settings.per_category)
    if games.skipped:
        _log.warning("ALFWorld: games in %s that are not played: %s", folder, _summary(games.skipped))
    return games


def _summary(skipped: Sequence[tuple[str, str]]) -> str:
    """How many games are left out, for which reasons, with an example of each."""
    if not skipped:
        return "0"
    reasons = Counter(reason for _, reason in skipped)
    examples = {reason: name for name, reason in reversed(skipped)}
    parts = [f"{number} {reason}, such as {examples[reason]}" for reason, number in sorted(reasons.items())]
    return f"{len(skipped)} ({'; '.join(parts)})"


def _normal(command: str) -> str:
    return " ".join(command.split()).rstrip(".").lower()
