"""Command lines of `key=value` words, read into a settings class."""

from __future__ import annotations

import re
import typing
from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from strata.errors import UsageError
from strata.settings import describe, read_settings
from strata.types import Json

T = TypeVar("T")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether the command line asks what the options are."""
    return bool({"-h", "--help", "help"} & set(arguments))


def read_options(cls: type[T], arguments: Sequence[str]) -> T:
    """The options in `key=value` words. Raises UsageError for a malformed word, an unknown key or a wrong value."""
    hints = typing.get_type_hints(cls)
    values: dict[str, Json] = {}
    for word in arguments:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{word!r}: options are written key=value. {usage(cls)}")
        if key in values:
            raise UsageError(f"{key} is given twice.")
        values[key] = text if hints.get(key) is str else _value(text)
    return read_settings(cls, values, where="options")


def usage(cls: type[object]) -> str:
    """One line for each option: its name, default and meaning."""
    defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
    lines = [f"  {name}={_shown(defaults[name])}: {text}" for name, text in describe(cls).items()]
    return "Options, with their defaults:\n" + "\n".join(lines)


def _value(text: str) -> Json:
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[+-]?\d+\.\d*", text) else text


def _shown(value: object) -> str:
    return next((word for word, meaning in _WORDS.items() if meaning is value), str(value))
