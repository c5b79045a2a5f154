"""Reading structured replies: one JSON object with declared fields, however a model wraps it.

Tolerated: code fences, prose around the object, small JSON damage (json-repair), a single string where a list
of text is wanted, numbers as strings. Not tolerated: no object at all, a missing field, a field of another type. They
raise `ReplyError`, which the caller counts, and never become an empty value.
"""

from __future__ import annotations

import re
from typing import Literal

import json_repair

from strata.types import Json

FieldType = Literal["text", "list of text", "list of number", "yes or no"]

_OBJECT = re.compile(r"\{.*", re.DOTALL)


class ReplyError(ValueError):
    """A model's reply does not hold what was asked for."""


def read_fields(reply: str, fields: dict[str, FieldType]) -> dict[str, Json]:
    """The declared fields of a reply. Fields that were not asked for are dropped. Raises ReplyError."""
    found = _OBJECT.search(reply)
    if found is None:
        raise ReplyError("no JSON object in the reply")
    value = json_repair.loads(found[0])
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    if not isinstance(value, dict):
        raise ReplyError("no JSON object in the reply")
    missing = [name for name in fields if name not in value]
    if missing:
        raise ReplyError(f"fields missing: {', '.join(missing)}")
    return {name: _convert(name, kind, value[name]) for name, kind in fields.items()}


def _convert(name: str, kind: FieldType, value: Json) -> Json:
    if kind == "text" and isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    if kind == "yes or no":
        return _truth(name, value)
    if kind == "list of text":
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str | int | float) for item in items):
            return [str(item).strip() for item in items if str(item).strip()]
    if kind == "list of number":
        items = value if isinstance(value, list) else [value]
        if all(isinstance(item, int) or (isinstance(item, str) and item.strip().isdigit()) for item in items):
            return [int(item) for item in items]
    raise ReplyError(f"field {name} is not {kind}: {value!r:.80}")


def _truth(name: str, value: Json) -> bool:
    words = {True: True, False: False, "yes": True, "no": False, "true": True, "false": False}
    key = value.strip().lower() if isinstance(value, str) else value
    if not isinstance(key, str | bool) or key not in words:
        raise ReplyError(f"field {name} is neither yes nor no: {value!r:.80}")
    return words[key]
