"""Disks that are full or cannot be written: a clear message, nothing committed lost, and the run goes on afterwards."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_doubles import Said, lines_of, promised_bytes, run_settings

from strata.errors import StorageError
from strata.ledger import read_ledger
from strata.runner import PassResult, run_pass


def run(results: Path, limit: int = 6) -> PassResult:
    return run_pass(run_settings(results, limit=limit, snapshot_every=2), show=Said(), sleep=lambda _: None)


def only_run(results: Path) -> Path:
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 48 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48k", "strata-test", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("a file system can be mounted by root alone; the tests without one cover the same faults")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


def test_a_full_disk_stops_the_run_cleanly_and_space_lets_it_go_on(small_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"No space left on device.*start the same command again"):
        run(small_disk)
    committed = read_ledger(only_run(small_disk)).lines
    assert 0 < len(committed) < 6
    with pytest.raises(StorageError):
        run(small_disk)
    assert read_ledger(only_run(small_disk)).lines == committed
    remount(small_disk, "size=4m")
    resumed, whole = run(small_disk), run(tmp_path / "whole")
    assert promised_bytes(resumed.folder) == promised_bytes(whole.folder)


def test_a_read_only_folder_is_named_and_left_alone(small_disk: Path) -> None:
    remount(small_disk, "size=4m")
    folder = run(small_disk, 3).folder
    before = promised_bytes(folder)
    remount(small_disk, "ro")
    with pytest.raises(StorageError, match=r"Read-only file system.*results_dir=FOLDER"):
        run(small_disk, 6)
    with pytest.raises(StorageError, match="Read-only file system"):
        run(small_disk / "new", 3)
    assert promised_bytes(folder) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; the mounted read-only folder covers it")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StorageError, match="Permission denied"):
            run(tmp_path)
    finally:
        tmp_path.chmod(0o755)


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("x")
    with pytest.raises(StorageError, match=r"results/lessons.*Not a directory"):
        run(tmp_path / "results")


def test_a_file_size_limit_of_the_system_is_a_full_disk(tmp_path: Path) -> None:
    """A fault by the kernel that needs no root: the log may not grow beyond 4 KiB."""
    whole = run(tmp_path / "whole")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"episodes\.jsonl: cannot be written \(File too large\)"):
            run(tmp_path / "other")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    folder = only_run(tmp_path / "other")
    assert 0 < len(lines_of(folder)) < 6
    assert (folder / "episodes.jsonl").read_bytes().endswith(b"\n")
    assert promised_bytes(run(tmp_path / "other").folder) == promised_bytes(whole.folder)


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace", "unlink", "mkdir"])
def test_no_space_at_any_write_point_loses_nothing_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    whole = promised_bytes(run(tmp_path / "whole", 3).folder)
    original, at = getattr(os, call), 0
    while True:
        at += 1
        results, calls = tmp_path / f"fault-{at}", 0

        def failing(*arguments: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:  # noqa: B023
                if call == "write":
                    original(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))
            return original(*arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            try:
                run(results, 3)
            except StorageError as error:
                assert "No space left" in str(error)  # noqa: PT017
        if calls < at:
            break
        committed = read_ledger(only_run(results)).lines if results.exists() and any(results.iterdir()) else ()
        resumed = run(results, 3).folder
        assert read_ledger(resumed).lines[: len(committed)] == committed
        assert promised_bytes(resumed) == whole, f"{call} number {at}"
    assert at > 2


def test_a_commit_is_durable_before_its_line_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every renamed file was synced under its temporary name, its folder after the rename, and the line comes last."""
    said: list[tuple[str, str]] = []
    names: dict[int, str] = {}
    opened, synced, renamed, written = os.open, os.fsync, os.replace, os.write

    def note_open(path: Any, *rest: Any, **more: Any) -> int:
        descriptor = opened(path, *rest, **more)
        names[descriptor] = Path(path).name
        return descriptor

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "fsync", lambda fd: (said.append(("sync", names[fd])), synced(fd))[1])
    monkeypatch.setattr(os, "write", lambda fd, data: (said.append(("write", names[fd])), written(fd, data))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (said.append(("rename", Path(b).name)), renamed(a, b))[1])
    folder = run(tmp_path, 2).folder
    for name in ("events.jsonl", "episodes.jsonl"):  # a new file's entry in its folder
        assert said[said.index(("sync", name)) + 1] == ("sync", folder.name)
    start = said.index(("write", "00001.json.tmp"))
    end = next(at for at in range(start, len(said)) if said[at] == ("sync", "episodes.jsonl"))
    assert said[start : end + 1] == [
        *[("write", "00001.json.tmp"), ("sync", "00001.json.tmp"), ("rename", "00001.json")],
        *[("write", "delta-00001.bin.tmp"), ("sync", "delta-00001.bin.tmp"), ("rename", "delta-00001.bin")],
        *[("write", "snapshot-00001.bin.tmp"), ("sync", "snapshot-00001.bin.tmp"), ("rename", "snapshot-00001.bin")],
        *[("sync", "steps"), ("sync", "memory")],
        *[("write", "events.jsonl"), ("sync", "events.jsonl")],
        *[("write", "episodes.jsonl"), ("sync", "episodes.jsonl")],
    ]
    assert said.index(("rename", "complete.json")) > end
