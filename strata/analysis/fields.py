"""Strict reading of JSON objects: a value of the wrong type is an error that names the file, the line and the key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from strata.errors import DataError
from strata.types import Json

_HINT = "The file was damaged or edited, or another version of this project wrote it."


def parse_object(text: str | bytes, where: str) -> Fields:
    """The JSON object in `text`. NaN and infinities are refused. Raises DataError naming `where`."""

    def refuse(token: str) -> NoReturn:
        raise DataError(f"{where}: {token} is not a number that a result may hold. {_HINT}")

    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not valid JSON ({error}). {_HINT}") from error
    if not isinstance(value, dict):
        raise DataError(f"{where}: must be a JSON object. {_HINT}")
    return Fields(value, where)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and where it stands. Every reader raises DataError for a missing key or a wrong type.

    Keys that no reader asks for are left alone, so that a file may say more than this version knows.
    """

    values: Mapping[str, Json]
    where: str

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise DataError about one key."""
        raise DataError(f"{self.where}: {key} {problem}. {_HINT}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string; `default` stands for an absent key."""
        value = self.values.get(key, default)
        return value if isinstance(value, str) else self._wrong(key, "text")

    def flag(self, key: str, default: bool | None = None) -> bool:
        """A boolean."""
        value = self.values.get(key, default)
        return value if isinstance(value, bool) else self._wrong(key, "true or false")

    def count(self, key: str, default: int | None = None) -> int:
        """A whole number, at least 0."""
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self._wrong(key, "a whole number, at least 0")
        return value

    def number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A number between `low` and `high`."""
        value = self.optional_number(key, low, high)
        return self._wrong(key, "a number") if value is None else value

    def optional_number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A number between `low` and `high`, or None when the key holds null."""
        value = self.values.get(key, self)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            self._wrong(key, "a number or null")
        if not low <= value <= high:
            self.fail(key, f"is {value}, outside {low:g} to {high:g}")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; an absent key is an empty list."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._wrong(key, "a list of text")
        return tuple(value)

    def object(self, key: str, *, optional: bool = False) -> Fields:
        """A nested object; with `optional` an absent key or null is an empty one."""
        value = self.values.get(key)
        if value is None and optional:
            value = {}
        if not isinstance(value, dict):
            self._wrong(key, "an object")
        return Fields(value, f"{self.where}: {key}")

    def objects(self, key: str) -> Iterator[Fields]:
        """A list of nested objects."""
        value = self.values.get(key)
        if not isinstance(value, list):
            self._wrong(key, "a list of objects")
        for at, item in enumerate(value):
            if not isinstance(item, dict):
                self.fail(f"{key}[{at}]", "must be an object")
            yield Fields(item, f"{self.where}: {key}[{at}]")

    def _wrong(self, key: str, expected: str) -> NoReturn:
        if key not in self.values:
            self.fail(key, "is missing")
        self.fail(key, f"is {str(self.values[key])[:60]!r} and must be {expected}")
