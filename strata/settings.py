"""Typed settings: a config group becomes a frozen dataclass, or an error that names the key.

A settings class is a frozen dataclass whose fields are made by `setting(default, help)`. Values may be bool, int,
float, str, None-able versions of these, Literal, tuples of them, mappings, and nested settings classes.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from strata.errors import UsageError
from strata.types import Json

T = TypeVar("T")
_RESERVED = {"_target_", "name", "label"}


def setting(default: Any, help: str) -> Any:
    """A settings field: its default and one sentence that configs and docs reuse."""
    if isinstance(default, dict | list):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata={"help": help})
    return dataclasses.field(default=default, metadata={"help": help})


def read_settings(cls: type[T], values: Mapping[str, Json], *, where: str) -> T:
    """Make a settings object from plain values.

    `_target_`, `name` and `label` are ignored unless the class has such a field. Raises UsageError naming
    `where.key` for an unknown key, a wrong type, or a value that the class's `__post_init__` rejects by ValueError.
    """
    hints = typing.get_type_hints(cls)
    fields = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - fields - _RESERVED)
    if unknown:
        raise UsageError(f"{where}.{unknown[0]}: unknown key. {where} has: {', '.join(sorted(fields))}.")
    arguments = {key: _convert(hints[key], value, f"{where}.{key}") for key, value in values.items() if key in fields}
    try:
        return cls(**arguments)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{where}: {error}") from error


def describe(cls: type[Any]) -> dict[str, str]:
    """Field name -> its help sentence, nested settings dotted."""
    hints = typing.get_type_hints(cls)
    lines: dict[str, str] = {}
    for field in dataclasses.fields(cls):
        lines[field.name] = field.metadata.get("help", "")
        if dataclasses.is_dataclass(hints[field.name]):
            nested = describe(typing.cast("type[Any]", hints[field.name]))
            lines.update({f"{field.name}.{key}": text for key, text in nested.items()})
    return lines


def _convert(hint: Any, value: Json, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(arguments, value, where)
    if origin is Literal:
        if value not in arguments or isinstance(value, bool) != isinstance(arguments[0], bool):
            raise UsageError(f"{where}={value}: must be one of {', '.join(map(str, arguments))}.")
        return value
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise UsageError(f"{where}={value}: must be a group of keys, not a single value.")
        return read_settings(typing.cast("type[Any]", hint), value, where=where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UsageError(f"{where}={value}: must be a list.")
        return tuple(_convert(arguments[0], item, f"{where}[{at}]") for at, item in enumerate(value))
    return _convert_plain(hint if origin is None else origin, value, where)


def _convert_union(choices: tuple[Any, ...], value: Json, where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    others = [choice for choice in choices if choice is not type(None)]
    for choice in others[:-1]:
        try:
            return _convert(choice, value, where)
        except UsageError:
            continue
    return _convert(others[-1], value, where)


def _convert_plain(hint: Any, value: Json, where: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (dict, Mapping) or (isinstance(hint, type) and issubclass(hint, Mapping)):
        if isinstance(value, Mapping):
            return dict(value)
    elif isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    expected = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}.get(hint, str(hint))
    raise UsageError(f"{where}={value}: must be {expected}.")
