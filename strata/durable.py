"""Writing files so that they survive a crash, and reading them back. Every trouble names the file.

Low-level calls of `os` throughout: between two of them a process may be killed or a machine may lose power, and each
such point is tested.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from strata.errors import CorruptStateError, StorageError

TEMPORARY = ".tmp"


def replace_file(path: Path, data: bytes) -> None:
    """Write a whole file: under a temporary name first, then renamed. Raises StorageError.

    The rename is durable only after `sync_folder` on its folder.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    with writing(path):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


def append_file(path: Path, data: bytes, *, size: int) -> None:
    """Add to the end of a file that is `size` bytes long, durably. Raises StorageError.

    After a failure the file is cut back to `size` if the system still allows that.
    """
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        finally:
            os.close(descriptor)


def cut_file(path: Path, size: int) -> None:
    """Shorten a file to `size` bytes. Raises StorageError."""
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_file(path: Path) -> None:
    """Remove a file if it is there. Raises StorageError."""
    with writing(path):
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Create a folder and its parents if they are missing. Raises StorageError."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def sync_folder(path: Path) -> None:
    """Make renames, additions and removals in a folder durable. Raises StorageError."""
    with writing(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_file(path: Path) -> bytes:
    """A file's content. Raises CorruptStateError when it is missing, StorageError when it cannot be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise CorruptStateError(f"{path}: missing. The run directory was changed by hand; restore the file.") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror or error}).") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Map errors of the system to StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written ({error.strerror or error}). Free some space or make the folder writable, or "
            "choose another one with results_dir=FOLDER; then start the same command again. Nothing committed is lost."
        ) from error


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
