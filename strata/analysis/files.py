"""The places that scripts read and write."""

from __future__ import annotations

from pathlib import Path

from strata.errors import StorageError


def published_file(root: Path) -> Path:
    """The paper's numbers in the repository."""
    return root / "results" / "published" / "numbers.yaml"


def write(path: Path, content: str | bytes) -> str:
    """Write a file and say so. Raises StorageError."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(f"Cannot write {path} ({error.strerror or error}). Name another place: out=...") from error
    return f"Wrote {path}"
