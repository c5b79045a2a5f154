"""Canonical bytes: equal values give equal bytes, and damage is noticed.

`dumps` writes JSON with sorted keys and shortest round-trip floats. `pack` adds arrays and a checksum, for memory
snapshots and deltas.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from strata.errors import CorruptStateError
from strata.types import Json

_MAGIC = b"strata-pack 1\n"


def dumps(value: Json) -> str:
    """Canonical JSON. NaN and infinities are refused: they are missing values in disguise."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(data: bytes | str) -> str:
    """SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def pack(document: Json, arrays: Mapping[str, np.ndarray[Any, Any]] | None = None) -> bytes:
    """One blob from a JSON document and named numeric arrays (stored little-endian, C order)."""
    blocks, layout = [], []
    for name, array in sorted((arrays or {}).items()):
        block = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        layout.append([name, block.dtype.str, list(block.shape)])
        blocks.append(block.tobytes())
    body = dumps({"document": document, "arrays": layout}).encode() + b"\n" + b"".join(blocks)
    return _MAGIC + digest(body).encode() + b"\n" + body


def unpack(blob: bytes, *, source: str) -> tuple[Any, dict[str, np.ndarray[Any, Any]]]:
    """The document and arrays of `pack`. Raises CorruptStateError naming `source` on any damage."""
    if not blob.startswith(_MAGIC):
        raise CorruptStateError(f"{source}: not a memory state of a format this version reads ({blob[:32]!r}).")
    checksum, _, body = blob[len(_MAGIC) :].partition(b"\n")
    if digest(body).encode() != checksum:
        raise CorruptStateError(f"{source}: its checksum does not match; the file was damaged or edited.")
    head, _, data = body.partition(b"\n")
    parsed = json.loads(head)
    arrays, at = {}, 0
    for name, dtype, shape in parsed["arrays"]:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(data[at : at + size], dtype=dtype).reshape(shape).copy()
        at += size
    return parsed["document"], arrays
