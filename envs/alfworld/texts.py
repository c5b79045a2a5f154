"""A game's texts: the context-sensitive grammar, parsed once and rendered without copying the world.

The stock engine parses the grammar for each game and copies the whole context for each symbol it expands. Here the
stock parsers read the text once; its symbols become small nodes that are rendered against `Facts`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from envs.alfworld.facts import Binding, Condition, Facts
from strata.errors import DataError

_KEPT = 8
_GOAL_RULE = re.compile(r'("task"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*)("(?:[^"\\\n]|\\.)*")(\s*\}\s*\])')


class Scene(NamedTuple):
    """What a text is rendered against: the state, the shown names, and the objects that placeholders stand for."""

    facts: Facts
    names: Mapping[str, str]
    binding: Binding
    variables: Mapping[str, str]

    def extended(self, binding: Binding) -> Scene:
        """The same with another binding, whose placeholders become variables."""
        return self._replace(
            binding=binding, variables={**self.variables, **{name: thing for (name, _), thing in binding.items()}}
        )


Value = Callable[[Scene], str]


class _Text(NamedTuple):
    text: str


class _Symbol(NamedTuple):
    name: str


class _Value(NamedTuple):
    value: Value


class _Each(NamedTuple):
    """An expression rendered once per match of a query; `None`: once."""

    expression: _Symbol | _Value
    query: tuple[Condition, ...] | None


class _Listing(NamedTuple):
    each: _Each


Node = _Text | _Symbol | _Value | _Each | _Listing
Nodes = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Rule:
    condition: tuple[Condition, ...] | None
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class CommandText:
    """How an action is commanded and answered; `queries` are the predicates that the command's wording asks about."""

    template: str
    command: Nodes
    feedback: Nodes
    queries: frozenset[str]


class Grammar:
    """The texts of a game but for its goal, by symbol, and the commands by lower-case action name."""

    def __init__(self, text: str) -> None:
        from textworld.envs.pddl.logic import GameLogic

        logic: Any = GameLogic(domain="", grammar=text)
        self.rules = {name: tuple(map(_compile_rule, rules)) for name, rules in logic.grammar._rules.items()}
        self.commands: dict[str, CommandText] = {}
        for name, action in logic.actions.items():
            command = parse(action.template)
            queries = {condition.predicate for node in command for condition in _query(node)}
            self.commands[name] = CommandText(action.template, command, parse(action.feedback_rule), frozenset(queries))

    @property
    def templates(self) -> dict[str, str]:
        """Command templates as the grammar words them."""
        return {name: command.template for name, command in self.commands.items()}


class GrammarLibrary:
    """Grammars seen so far. Those of different games differ in their goal sentence only, so one is parsed."""

    def __init__(self) -> None:
        self._known: dict[str, Grammar] = {}

    def get(self, text: str) -> Texts:
        """The texts of a game. Raises whatever the stock parsers raise on text that is no grammar."""
        skeleton, goal = _GOAL_RULE.subn(r'\1"GOAL"\3', text), _GOAL_RULE.search(text)
        if skeleton[1] != 1 or goal is None:
            return Texts(self._grammar(text), {})
        return Texts(self._grammar(skeleton[0]), {"task": (_Rule(None, parse(json.loads(goal[2]))),)})

    def _grammar(self, text: str) -> Grammar:
        if text not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[text] = Grammar(text)
        return self._known[text]


@dataclass(frozen=True, slots=True)
class Texts:
    """A grammar with the rules that are a game's own."""

    grammar: Grammar
    own: Mapping[str, tuple[_Rule, ...]]

    def symbol(self, name: str, scene: Scene) -> str:
        """Expand a symbol by its first rule whose condition holds."""
        for rule in self.own.get(name) or self.grammar.rules.get(name, ()):
            if rule.condition is None or next(scene.facts.matches(rule.condition, scene.binding), None) is not None:
                return self.render(rule.nodes, scene)
        raise DataError(f"ALFWorld: the game's grammar has no applicable rule for the text {name!r}.")

    def render(self, nodes: Nodes, scene: Scene) -> str:
        """The text of nodes, left to right."""
        return "".join([self._node(node, scene) for node in nodes])

    def _node(self, node: Node, scene: Scene) -> str:
        match node:
            case _Text(text):
                return text
            case _Symbol(name):
                return self.symbol(name, scene)
            case _Value(value):
                return value(scene)
            case _Each():
                return "".join(self._each(node, scene))
            case _Listing(each):
                return self._list(self._each(each, scene), scene)

    def _each(self, each: _Each, scene: Scene) -> list[str]:
        if each.query is None:
            return [self._node(each.expression, scene)]
        found = scene.facts.matches(each.query, scene.binding)
        return [self._node(each.expression, scene.extended(binding)) for binding in found]

    def _list(self, items: list[str], scene: Scene) -> str:
        if not items:
            return self.symbol("list_empty", scene)
        if len(items) == 1:
            return items[0]
        separator, last = self.symbol("list_separator", scene), self.symbol("list_last_separator", scene)
        return separator.join(items[:-1]) + last + items[-1]


def parse(text: str) -> Nodes:
    """Nodes of a text with `#symbols#`, `{expressions}` and `[{lists|queries}]`."""
    from textworld.envs.pddl.textgen import ContextSensitiveGrammar

    grammar: Any = ContextSensitiveGrammar.parse(json.dumps({"text": [{"rhs": text}]}))
    return tuple(map(_compile, grammar._rules["text"][0].rhs))


def _compile_rule(rule: Any) -> _Rule:
    return _Rule(_parse_query(rule.condition) if rule.condition else None, tuple(map(_compile, rule.rhs)))


def _compile(symbol: Any) -> Node:
    from textworld.envs.pddl import textgen

    match symbol:
        case textgen.TerminalSymbol():
            return _Text(str(symbol))
        case textgen.ConditionalSymbol():
            return _compile_each(symbol)
        case textgen.ListSymbol():
            return _Listing(_compile_each(symbol.symbol))
        case _:
            return _compile_expression(symbol)


def _compile_each(symbol: Any) -> _Each:
    query = _parse_query(symbol.given) if symbol.given else None
    return _Each(_compile_expression(symbol.expression), query)


def _compile_expression(symbol: Any) -> _Symbol | _Value:
    from textworld.envs.pddl import textgen

    if isinstance(symbol, textgen.NonterminalSymbol):
        return _Symbol(str(symbol))
    if isinstance(symbol, textgen.EvalSymbol):
        return _Value(_compile_value(ast.parse(symbol.expression.strip(), mode="eval").body, symbol.expression))
    raise DataError(f"ALFWorld: the game's grammar holds {symbol!r}, which this version cannot read.")


def _compile_value(node: ast.expr, source: str) -> Value:
    """A function for an expression over objects' names: attributes, text, `+` and `or`."""
    match node:
        case ast.Constant(value=str(text)):
            return lambda _scene: text
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="name"):
            return lambda scene: scene.names[scene.variables[name]]
        case ast.Attribute(value=ast.Name(id=name), attr="id"):
            return lambda scene: scene.variables[name]
        case ast.Attribute(value=ast.Name(), attr="indefinite" | "definite" as article):
            word = "a" if article == "indefinite" else "the"
            return lambda _scene: word
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _compile_value(left, source), _compile_value(right, source)
            return lambda scene: first(scene) + second(scene)
        case ast.BoolOp(op=ast.Or(), values=[left, right]):
            preferred, other = _compile_value(left, source), _compile_value(right, source)
            return lambda scene: preferred(scene) or other(scene)
    raise DataError(f"ALFWorld: the game's grammar holds the expression {source!r}, which this version cannot read.")


def _parse_query(expression: str) -> tuple[Condition, ...]:
    from textworld.logic import Rule

    query: Any = Rule.parse_conjunctive_query(expression)
    return tuple(
        Condition(predicate.name, tuple((placeholder.name, placeholder.type) for placeholder in predicate.parameters))
        for predicate in query.preconditions
    )


def _query(node: Node) -> tuple[Condition, ...]:
    each = node.each if isinstance(node, _Listing) else node
    return each.query or () if isinstance(each, _Each) else ()
