"""Plays ALFWorld games on the planner's library, as the stock engine does but without its detours.

The stock `PddlEnv` derives each admissible command anew through the grammar after each action, and translates the
problem four times per load and reset. Here a command is worded once per operator, a translation comes from the
cache, and a state is what the library says it is. `verify_alfworld` proves that the same comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from envs.alfworld.dataset import read_game
from envs.alfworld.facts import Binding, Facts, Types
from envs.alfworld.names import shown_names
from envs.alfworld.texts import CommandText, GrammarLibrary, Scene, Texts
from envs.alfworld.translation import Translation, TranslationCache, read_atom
from strata.errors import DataError, EnvironmentFailure


class Moment(NamedTuple):
    """What an engine shows after a reset or an action. `reward` is 0 or 1."""

    feedback: str
    admissible: tuple[str, ...]
    reward: int
    done: bool
    won: bool


class _Operator(NamedTuple):
    """An action that can be taken: its texts, the objects it is about, and its command where that never changes."""

    texts: CommandText
    binding: Binding
    variables: dict[str, str]
    command: str | None


@dataclass(frozen=True, slots=True)
class _Game:
    """A loaded game. `operators` fills as they are met; it holds for every play of the game."""

    translation: Translation
    texts: Texts
    types: Types
    names: dict[str, str]
    operators: dict[str, _Operator]


class FastEngine:
    """One game at a time: `load`, `reset`, `step` as often as wanted, `close`."""

    def __init__(self, cache: TranslationCache) -> None:
        self._cache = cache
        self._grammars = GrammarLibrary()
        self._library: Any = None
        self._game: _Game | None = None
        self._play: _Play | None = None

    def load(self, file: Path) -> None:
        """Read a game. Raises DataError naming the file when it is damaged."""
        import fast_downward

        data = read_game(file)
        if self._library is None:
            self._library = fast_downward.load_lib()
        self._game = self._play = None
        # A broken problem text ends in any exception at all inside the translator and the parsers.
        try:
            texts = self._grammars.get(data["grammar"])
            translation = self._cache.get(data["pddl_domain"], data["pddl_problem"], self._library)
            things = {name: translation.objects[name] for _, arguments in translation.facts for name in arguments}
            self._game = _Game(translation, texts, Types(translation.types), shown_names(things), {})
        except (Exception, SystemExit) as error:
            raise DataError(
                f"ALFWorld data: {file} is damaged: its PDDL or grammar cannot be read "
                f"({type(error).__name__}: {error}). Restore the file from the download (`alfworld-download`)."
            ) from error

    def templates(self) -> dict[str, str]:
        """Command templates of the loaded game by lower-case action name."""
        return self._loaded().texts.grammar.templates

    def reset(self) -> Moment:
        """Start the loaded game from its beginning."""
        self._play = _Play(self._loaded(), self._library)
        return self._play.now

    def step(self, command: str) -> Moment:
        """Carry out a command. One that is not admissible changes nothing and is answered so."""
        if self._play is None:
            raise EnvironmentFailure("ALFWorld: step() before reset().")
        return self._play.step(command)

    def close(self) -> None:
        """Free the task. The library itself stays mapped (1.4 MB): unloading it crashes the process at its end."""
        if self._library is not None:
            self._library.cleanup()
        self._game = self._play = None

    def _loaded(self) -> _Game:
        if self._game is None:
            raise EnvironmentFailure("ALFWorld: no game is loaded.")
        return self._game


class _Play:
    """One play of a game, from its beginning. The library holds the state; the facts follow it."""

    def __init__(self, game: _Game, library: Any) -> None:
        self._game = game
        self._library = library
        library.load_sas(game.translation.sas.encode())
        self._facts = Facts(game.types, game.translation.objects, game.translation.facts)
        self._commands: dict[str, tuple[int, int, _Operator]] = {}
        self.now = self._look(game.texts.symbol("intro", Scene(self._facts, game.names, {}, {})))

    def step(self, command: str) -> Moment:
        """See FastEngine.step."""
        chosen = self._commands.get(command.strip())
        if chosen is None:
            self.now = self.now._replace(feedback="Nothing happens.")
            return self.now
        number, effects, operator = chosen
        for name in self._apply(number, effects):
            true, (predicate, arguments) = read_atom(name)
            self._facts.change(true, predicate, arguments)
        scene = Scene(self._facts, self._game.names, operator.binding, operator.variables)
        self.now = self._look(self._game.texts.render(operator.texts.feedback, scene))
        return self.now

    def _look(self, feedback: str) -> Moment:
        """The moment after a change: what can be done now and whether the goal is reached."""
        self._commands = {}
        for number, effects, name in self._applicable():
            operator = self._operator(name)
            command = operator.command
            if command is None:
                command = self._word(operator.texts, operator.binding, operator.variables)
            self._commands.setdefault(command, (number, effects, operator))
        won = bool(self._library.check_goal())
        return Moment(feedback, tuple(sorted(self._commands)), int(won), won, won)

    def _operator(self, name: str) -> _Operator:
        game = self._game
        known = game.operators.get(name)
        if known is None:
            action, *arguments = name.split()
            # An action split by the translator has parameters beyond those in its operators' names.
            binding: Binding = dict(zip(game.translation.parameters[action], arguments, strict=False))
            variables = {placeholder: thing for (placeholder, _), thing in binding.items()}
            texts = game.texts.grammar.commands[action]
            constant = texts.queries.isdisjoint(game.translation.fluents)
            command = self._word(texts, binding, variables) if constant else None
            known = game.operators[name] = _Operator(texts, binding, variables, command)
        return known

    def _word(self, texts: CommandText, binding: Binding, variables: dict[str, str]) -> str:
        return self._game.texts.render(texts.command, Scene(self._facts, self._game.names, binding, variables))

    def _applicable(self) -> list[tuple[int, int, str]]:
        """Number, number of effects and name of every applicable operator, in the library's order."""
        import fast_downward

        operators = (fast_downward.Operator * self._library.get_applicable_operators_count())()
        self._library.get_applicable_operators(operators)
        return [(operator.id, operator.nb_effect_atoms, operator.name) for operator in operators]

    def _apply(self, number: int, effects: int) -> list[str]:
        """Names of the atoms that became true or false."""
        import fast_downward

        atoms = (fast_downward.Atom * effects)()
        self._library.apply_operator(number, atoms)
        return [atom.name for atom in atoms]
