"""Vectors kept on disk between runs and shared by the processes of one machine.

One SQLite file per encoder, in WAL mode: readers never wait, writers wait for each other, and a killed process leaves
a readable file. The key of a row is the SHA-256 of the encoder's fingerprint and the text; each row carries a checksum
over key and vector, and one that does not match is computed again and replaced. Losing the cache (full disk,
read-only folder, damaged file, a file system without locks) costs time and one log line, never a run or a number.

Not covered: a folder shared by several machines (WAL needs one), and removal of old entries (delete the folder).
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from strata.embedding.vectors import encodable
from strata.protocols import Vectors

_log = logging.getLogger(__name__)
_ROWS_PER_QUERY = 500
_BUSY_SECONDS = 20.0


class FingerprintedEmbedder(Protocol):
    """An encoder that can say what its vectors depend on besides the text: model, checksums, library version."""

    name: str
    dimension: int

    @property
    def fingerprint(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class CachedEmbedder:
    """An encoder in front of which an on-disk cache stands. Gives bit for bit what the encoder gives."""

    def __init__(self, inner: FingerprintedEmbedder, folder: Path) -> None:
        self.name = inner.name
        self.dimension = inner.dimension
        self.hits = 0
        self.misses = 0
        self._inner = inner
        self._store = VectorStore(folder, inner.name, inner.fingerprint, inner.dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order; shape (n, dimension)."""
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        known = self._store.get(wanted)
        missing = [text for text in wanted if text not in known]
        self.hits += len(known)
        self.misses += len(missing)
        if missing:
            computed = dict(zip(missing, self._inner.embed(missing), strict=True))
            self._store.put(computed)
            known |= computed
        rows: Vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            if text.strip():
                rows[at] = known[text]
        return rows


class VectorStore:
    """The SQLite file behind `CachedEmbedder`. Opened at first use; after a failure it stays silent and empty."""

    def __init__(self, folder: Path, name: str, fingerprint: str, dimension: int) -> None:
        stem = f"{re.sub('[^A-Za-z0-9_.-]', '_', name)}-{_sha(fingerprint.encode()).hex()[:12]}"
        self.path = folder.expanduser() / f"{stem}.sqlite"
        self._fingerprint = fingerprint
        self._bytes = 4 * dimension
        self._connection: sqlite3.Connection | None = None
        self._failed = False
        self._lock = threading.Lock()

    def get(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors that are stored whole, by text."""
        keys = {self._key(text): text for text in texts}
        found: dict[str, npt.NDArray[np.float32]] = {}
        for key, blob, check in self._select(list(keys)):
            if isinstance(blob, bytes) and len(blob) == self._bytes and check == _checksum(key, blob):
                found[keys[key]] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
        return found

    def put(self, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Store vectors in one transaction; what another process stored meanwhile is overwritten by the same."""
        rows = []
        for text, vector in vectors.items():
            key, blob = self._key(text), vector.astype("<f4").tobytes()
            rows.append((key, blob, _checksum(key, blob)))
        with self._lock:
            connection = self._open()
            if connection is None:
                return
            try:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            except sqlite3.Error as error:
                self._give_up(error)

    def _select(self, keys: list[bytes]) -> list[tuple[bytes, object, object]]:
        rows: list[tuple[bytes, object, object]] = []
        with self._lock:
            connection = self._open()
            if connection is None:
                return []
            try:
                for start in range(0, len(keys), _ROWS_PER_QUERY):
                    part = keys[start : start + _ROWS_PER_QUERY]
                    marks = ",".join("?" * len(part))
                    rows += connection.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", part).fetchall()
            except sqlite3.Error as error:
                self._give_up(error)
        return rows

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is not None or self._failed:
            return self._connection
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB, sum BLOB)")
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return None
        weakref.finalize(self, connection.close)
        self._connection = connection
        return connection

    def _give_up(self, error: Exception) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._failed = None, True
        _log.warning(
            "Embeddings are not cached from here on, which costs time only: %s: %s. "
            "If the disk is not full and the folder can be written, delete the file.",
            self.path,
            error,
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _key(self, text: str) -> bytes:
        return _sha(f"{self._fingerprint}\0{encodable(text)}".encode())


def _sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _checksum(key: bytes, blob: bytes) -> bytes:
    return _sha(key + blob)[:8]
