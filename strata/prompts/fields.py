"""Reading structured replies: one JSON object with declared fields, however a model wraps it.

Tolerated: code fences, prose around the object, small JSON damage (json-repair), a single string where a list
of text is wanted, numbers as strings. Not tolerated: no object at all, one that was cut off, a missing field, a field
of another type. They raise `ReplyError`, which the caller counts, and never become an empty value.
"""

from __future__ import annotations

import json
import re
from typing import Literal

import json_repair

from strata.types import Json

FieldType = Literal["text", "list of text", "list of number", "yes or no"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class ReplyError(ValueError):
    """A model's reply does not hold what was asked for."""


def read_fields(reply: str, fields: dict[str, FieldType]) -> dict[str, Json]:
    """The declared fields of a reply. Fields that were not asked for are dropped. Raises ReplyError."""
    value = _load_object(reply)
    missing = [name for name in fields if name not in value]
    if missing:
        raise ReplyError(f"fields missing: {', '.join(missing)}")
    return {name: _convert(name, kind, value[name]) for name, kind in fields.items()}


def _load_object(reply: str) -> dict[str, Json]:
    """The first JSON object of a reply, repaired if need be, but not if it was cut off."""
    start = reply.find("{")
    if start < 0:
        raise ReplyError("no JSON object in the reply")
    text = reply[start:]
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        outside = _STRING.sub("", text)
        if outside.count("{") > outside.count("}") or outside.count("[") > outside.count("]"):
            raise ReplyError("the JSON object is cut off") from None
        try:
            value = json_repair.loads(text)
        except RecursionError:
            raise ReplyError("the JSON object is nested too deep") from None
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    if not isinstance(value, dict):
        raise ReplyError("no JSON object in the reply")
    return value


def _convert(name: str, kind: FieldType, value: Json) -> Json:
    if kind == "text" and isinstance(value, str | int | float) and not isinstance(value, bool):
        return _text(value)
    if kind == "yes or no":
        return _truth(name, value)
    if kind == "list of text":
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str | int | float) for item in items):
            return [text for text in map(_text, items) if text]
    if kind == "list of number":
        items = value if isinstance(value, list) else [value]
        if all(_is_number(item) for item in items):
            return [int(item) for item in items]
    raise ReplyError(f"field {name} is not {kind}: {value!r:.80}")


def _text(value: Json) -> str:
    """Stripped text that UTF-8 can hold: JSON escapes may spell lone surrogates, which no file takes."""
    return str(value).encode("utf-8", "replace").decode().strip()


def _is_number(value: Json) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\s*\d{1,9}\s*", value, re.ASCII) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def _truth(name: str, value: Json) -> bool:
    words = {True: True, False: False, "yes": True, "no": False, "true": True, "false": False}
    key = value.strip().lower() if isinstance(value, str) else value
    if not isinstance(key, str | bool) or key not in words:
        raise ReplyError(f"field {name} is neither yes nor no: {value!r:.80}")
    return words[key]
