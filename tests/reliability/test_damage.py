"""Damaged, missing and torn files: the file is named, nothing committed is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from harness_doubles import Said, lines_of, promised_bytes, run_settings

from strata.errors import CorruptStateError
from strata.ledger import read_ledger
from strata.runner import PassResult, run_pass


def run(results: Path, limit: int | None = None) -> PassResult:
    return run_pass(run_settings(results, limit=limit, snapshot_every=2), show=Said(), sleep=lambda _: None)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A complete run of 5 of 8 tasks."""
    return run(tmp_path, 5).folder


def flip(path: Path, at: int, by: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= by
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    "name",
    [
        "steps/00001.json",
        "memory/delta-00000.bin",
        "memory/delta-00004.bin",
        "memory/snapshot-00003.bin",
        "memory/final.bin",
        "episodes.jsonl",
        "events.jsonl",
        "complete.json",
        "manifest.json",
    ],
)
def test_a_flipped_byte_is_noticed_names_its_file_and_changes_nothing(finished: Path, name: str) -> None:
    path, chance = finished / name, random.Random(name)
    intact = path.read_bytes()
    for at in {0, len(intact) - 1, *(chance.randrange(len(intact)) for _ in range(6))}:
        flip(path, at, 1 << chance.randrange(8))
        before = promised_bytes(finished)
        with pytest.raises(CorruptStateError) as caught:
            run(finished.parent, 5)
        assert str(path) in str(caught.value)
        assert promised_bytes(finished) == before
        path.write_bytes(intact)
    assert run(finished.parent, 5).tally.done == 5


def test_every_byte_of_the_committed_lines_counts(finished: Path) -> None:
    path = finished / "episodes.jsonl"
    intact = path.read_bytes()
    for at in range(0, len(intact), 7):
        flip(path, at)
        with pytest.raises(CorruptStateError, match=r"episodes\.jsonl"):
            read_ledger(finished)
        path.write_bytes(intact)


def test_a_damaged_newline_at_the_end_is_not_taken_for_a_torn_line(finished: Path) -> None:
    (finished / "complete.json").unlink()
    flip(finished / "episodes.jsonl", -1)
    with pytest.raises(CorruptStateError, match=r"episodes\.jsonl:5"):
        run(finished.parent, 5)


@pytest.mark.parametrize("name", ["steps/00002.json", "memory/delta-00004.bin", "memory/snapshot-00001.bin"])
def test_a_missing_file_is_named(finished: Path, name: str) -> None:
    (finished / name).unlink()
    with pytest.raises(CorruptStateError, match=f"{name}: missing"):
        run(finished.parent, 8)


def test_a_cut_memory_file_is_named(finished: Path) -> None:
    path = finished / "memory" / "delta-00004.bin"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(CorruptStateError, match=r"delta-00004\.bin"):
        run(finished.parent, 8)


def test_lines_taken_out_or_swapped_are_noticed(finished: Path) -> None:
    path = finished / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in (lines[1:], [lines[1], lines[0], *lines[2:]], [*lines[:2], *lines[3:]], lines[:-1]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(CorruptStateError):
            run(finished.parent, 5)


def test_a_lost_or_edited_manifest_is_noticed(finished: Path) -> None:
    path = finished / "manifest.json"
    intact = path.read_text()
    for damaged in (intact.replace("test-02", "test-99"), intact[:-20], "[1, 2]\n", ""):
        path.write_text(damaged)
        with pytest.raises(CorruptStateError, match=r"manifest\.json"):
            run(finished.parent, 8)
        assert path.read_text() == damaged
    path.unlink()
    with pytest.raises(CorruptStateError, match=r"manifest\.json: missing"):
        run(finished.parent, 8)


def test_a_torn_last_line_is_dropped_and_played_again(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole").folder
    torn = run(tmp_path / "torn", 6).folder
    (torn / "complete.json").unlink()
    path = torn / "episodes.jsonl"
    *kept, last = path.read_bytes().splitlines(keepends=True)
    for cut in (1, len(last) // 2, len(last) - 1):
        path.write_bytes(b"".join(kept) + last[:cut])
        run(tmp_path / "torn")
        assert promised_bytes(torn) == promised_bytes(whole)
        (torn / "complete.json").unlink()


def test_what_a_cut_off_episode_left_behind_is_removed(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole").folder
    folder = run(tmp_path / "other", 3).folder
    untouched = promised_bytes(folder)
    (folder / "complete.json").unlink()
    for name in ("steps/00003.json", "steps/00003.json.tmp", "memory/delta-00003.bin", "complete.json.tmp"):
        (folder / name).write_bytes(b"half")
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"episode":3}\n{"epi')
    run(tmp_path / "other", 3)
    assert promised_bytes(folder) == untouched
    run(tmp_path / "other")
    assert promised_bytes(folder) == promised_bytes(whole)


@pytest.mark.parametrize(("first", "then"), [(5, 8), (1, 2), (2, 7), (4, 8)])
def test_a_run_extended_later_equals_one_started_longer(tmp_path: Path, first: int, then: int) -> None:
    run(tmp_path / "extended", first)
    extended, whole = run(tmp_path / "extended", then), run(tmp_path / "whole", then)
    assert promised_bytes(extended.folder) == promised_bytes(whole.folder)


def test_a_smaller_limit_leaves_a_longer_run_as_it_is(tmp_path: Path) -> None:
    whole = run(tmp_path, 6)
    before = promised_bytes(whole.folder)
    assert run(tmp_path, 2).tally.done == 6
    assert promised_bytes(whole.folder) == before


def test_a_resume_never_deletes_the_good_log(tmp_path: Path) -> None:
    folder = run(tmp_path, 4).folder
    log = (folder / "episodes.jsonl").read_bytes()
    timings = (folder / "timings.jsonl").read_bytes()
    run(tmp_path, 8)
    assert (folder / "episodes.jsonl").read_bytes().startswith(log)
    assert (folder / "timings.jsonl").read_bytes().startswith(timings)
    assert len(lines_of(folder)) == 8
