"""The facts of a game's state, and the queries that its texts ask of them.

Does what `textworld.logic.State` does, on plain tuples: same matches in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Placeholder = tuple[str, str]
"""Name and type."""
Binding = dict[Placeholder, str]
"""Placeholder -> object. Different placeholders never stand for the same object."""


class Condition(NamedTuple):
    """One predicate of a query with its placeholders."""

    predicate: str
    parameters: tuple[Placeholder, ...]


class Types:
    """A type hierarchy, answering which argument types a condition accepts."""

    def __init__(self, types: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        from textworld.logic import Type, TypeHierarchy

        self._hierarchy: Any = TypeHierarchy()
        known: set[str] = set()
        for name, parents in types:
            if name not in known:
                known.add(name)
                self._hierarchy.add(Type(name, parents))
        self._accepted: dict[tuple[str, ...], list[tuple[str, ...]]] = {}

    def accepted(self, condition: Condition) -> list[tuple[str, ...]]:
        """Argument types that match, in the order in which they are tried."""
        wanted = tuple(kind for _, kind in condition.parameters)
        if wanted not in self._accepted:
            combinations = self._hierarchy.multi_subtypes([self._hierarchy.get(kind) for kind in wanted])
            self._accepted[wanted] = [tuple(kind.name for kind in combination) for combination in combinations]
        return self._accepted[wanted]


class Facts:
    """True propositions. A predicate that an action made false is also kept, under the name `not_<predicate>`."""

    def __init__(self, types: Types, objects: Mapping[str, str], start: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        self._types = types
        self._objects = objects
        self._by_signature: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = {}
        for predicate, arguments in start:
            self._group(predicate, arguments).add(arguments)

    def change(self, true: bool, predicate: str, arguments: tuple[str, ...]) -> None:
        """Make a proposition true or false."""
        denied = f"not_{predicate}"
        gone, come = (denied, predicate) if true else (predicate, denied)
        self._group(gone, arguments).discard(arguments)
        self._group(come, arguments).add(arguments)

    def matches(self, query: tuple[Condition, ...], binding: Binding) -> Iterator[Binding]:
        """Every extension of a binding that makes all conditions true."""
        return self._match(query, 0, dict(binding), set(binding.values()))

    def _group(self, predicate: str, arguments: tuple[str, ...]) -> set[tuple[str, ...]]:
        kinds = tuple([self._objects[argument] for argument in arguments])
        return self._by_signature.setdefault((predicate, kinds), set())

    def _match(self, query: tuple[Condition, ...], depth: int, binding: Binding, used: set[str]) -> Iterator[Binding]:
        if depth == len(query):
            yield dict(binding)
            return
        condition = query[depth]
        for kinds in self._types.accepted(condition):
            for arguments in sorted(self._by_signature.get((condition.predicate, kinds), ())):
                added: list[Placeholder] = []
                if _unify(condition.parameters, arguments, binding, used, added):
                    yield from self._match(query, depth + 1, binding, used)
                for placeholder in added:
                    used.discard(binding.pop(placeholder))


def _unify(
    parameters: tuple[Placeholder, ...],
    arguments: tuple[str, ...],
    binding: Binding,
    used: set[str],
    added: list[Placeholder],
) -> bool:
    """Bind free placeholders to a fact's arguments, listing them in `added`; False when the fact does not fit."""
    for placeholder, argument in zip(parameters, arguments, strict=True):
        bound = binding.get(placeholder)
        if bound is None:
            if argument in used:
                return False
            binding[placeholder] = argument
            used.add(argument)
            added.append(placeholder)
        elif bound != argument:
            return False
    return True
