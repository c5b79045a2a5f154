"""A pass: order, protocols, resume, retries, caps."""

# ruff: noqa: ARG005  signatures of the protocols

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import harness_doubles
import pytest
from harness_doubles import Counting, Hashed, ListMemory, Said, lines_of, promised_bytes, run_settings

from strata import runner
from strata.errors import (
    BackboneRefused,
    BudgetReached,
    CorruptStateError,
    DataError,
    EnvironmentFailure,
    MemoryFailure,
    Paused,
    RunConflictError,
    TransientBackboneError,
    UsageError,
)
from strata.runner import PassResult, run_pass


def run(results: Path, said: Said | None = None, **changes: Any) -> PassResult:
    return run_pass(run_settings(results, **changes), show=said or Said(), sleep=lambda seconds: None)


def test_a_pass_plays_every_task_in_order_and_learns(tmp_path: Path) -> None:
    said = Said()
    result = run(tmp_path, said)
    lines = lines_of(result.folder)
    assert [line["task_id"] for line in lines] == [f"test-{n:02d}" for n in range(8)]
    assert [line["index"] for line in lines] == list(range(8))
    assert [line["memory"]["stored"] for line in lines] == [1, 2, 3, 4, 5, 6, 6, 6]
    assert lines[2]["memory"]["injected_ids"] == ["m0"]
    assert lines[2]["memory"]["lines"] == 2
    assert set(lines[3]["usage"]) == {"act", "note"}
    assert result.tally.done == result.tally.scored == len(said.updates) == 8
    assert result.tally.score == sum(line["score"] for line in lines) / 8
    events = [json.loads(text) for text in (result.folder / "events.jsonl").read_text().splitlines()]
    assert [event["episode"] for event in events] == [n for n in range(8) for _ in range(2)]
    assert json.loads((result.folder / "complete.json").read_text())["episodes"] == 8


def test_what_the_memory_is_told_of_success_is_not_what_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = [line["success"] for line in lines_of(run(tmp_path / "plain").folder)]
    monkeypatch.setattr(runner._Pass, "_success_signal", lambda self, record: not record.episode.success)
    lines = lines_of(run(tmp_path / "wrong").folder)
    assert [line["told"] for line in lines] == [not line["success"] for line in lines]
    assert all(line["success"] == (line["outcome"] == "success") for line in lines)
    assert len(lines) == len(measured)


def test_the_same_run_again_returns_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path)
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    monkeypatch.setattr(Counting, "reset", None)
    again = run(tmp_path)
    assert again == first
    assert {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()} == before


def test_equal_settings_give_equal_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    one, two = run(tmp_path / "one"), run(tmp_path / "two")
    assert promised_bytes(one.folder) == promised_bytes(two.folder)
    other = run(tmp_path / "two", seed=1)
    assert (other.folder / "episodes.jsonl").read_bytes() != (one.folder / "episodes.jsonl").read_bytes()


def test_a_shuffled_run_cut_short_is_the_beginning_of_the_whole(tmp_path: Path) -> None:
    short = lines_of(run(tmp_path / "short", order="shuffled", limit=4).folder)
    whole = lines_of(run(tmp_path / "whole", order="shuffled").folder)
    assert whole[:4] == short
    assert [line["task_id"] for line in whole] != sorted(line["task_id"] for line in whole)


class Flaky:
    """Makes a method fail its first `times` calls after `after` good ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cls: type, name: str, error: Exception, times: int, after: int):
        self.calls, original = 0, getattr(cls, name)

        def method(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if after < self.calls <= after + times:
                raise error
            return original(*args, **kwargs)

        monkeypatch.setattr(cls, name, method)


@pytest.mark.parametrize(
    ("cls", "name", "error", "after"),
    [
        (Counting, "reset", EnvironmentFailure("down"), 3),
        (Counting, "step", EnvironmentFailure("down"), 7),
        (Hashed, "complete", TransientBackboneError("503"), 9),
        (ListMemory, "retrieve", MemoryFailure("index"), 3),
        (ListMemory, "reflect", MemoryFailure("index"), 3),
    ],
)
def test_passing_trouble_leaves_no_trace_in_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cls: type, name: str, error: Exception, after: int
) -> None:
    calm = run(tmp_path / "calm")
    flaky = Flaky(monkeypatch, cls, name, error, times=2, after=after)
    said = Said()
    troubled = run(tmp_path / "troubled", said)
    assert flaky.calls > after + 2
    assert len(said.warnings) == 2
    assert promised_bytes(troubled.folder) == promised_bytes(calm.folder)
    abandoned = [json.loads(text) for text in (troubled.folder / "timings.jsonl").read_text().splitlines()]
    assert sum("abandoned" in entry for entry in abandoned) == 2


def test_infrastructure_failures_are_not_counted_as_done_the_run_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = run(tmp_path / "calm")
    with monkeypatch.context() as patch:
        Flaky(patch, Counting, "reset", EnvironmentFailure("no display"), times=3, after=5)
        with pytest.raises(Paused, match=r"test-05 met env_error in 3 of 3 tries: no display(.|\n)*start the same"):
            run(tmp_path / "paused")
    folder = tmp_path / "paused" / calm.run_id
    assert len(lines_of(folder)) == 5
    assert not (folder / "complete.json").exists()
    run(tmp_path / "paused")
    assert promised_bytes(folder) == promised_bytes(calm.folder)


def test_waits_between_tries_double(tmp_path: Path) -> None:
    waits: list[float] = []
    settings = run_settings(tmp_path, env={"broken": ["test-00"]}, retry={"attempts": 4, "wait_seconds": 25.0})
    with pytest.raises(Paused):
        run_pass(settings, show=Said(), sleep=waits.append)
    assert waits == [25.0, 50.0, 60.0]


def test_a_wrong_key_is_not_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flaky = Flaky(monkeypatch, Hashed, "complete", BackboneRefused("no such key"), times=99, after=0)
    with pytest.raises(BackboneRefused):
        run(tmp_path)
    assert flaky.calls == 1


def test_a_bug_in_a_memory_is_raised_and_its_traceback_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Flaky(monkeypatch, ListMemory, "reflect", ZeroDivisionError("oops"), times=1, after=2)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert len(lines_of(folder)) == 2
    last = json.loads((folder / "timings.jsonl").read_text().splitlines()[-1])
    assert "Traceback" in last["reason"]
    assert "oops" in last["reason"]


def skipping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int, said: Said | None = None) -> PassResult:
    with monkeypatch.context() as patch:
        Flaky(patch, Counting, "reset", EnvironmentFailure("stuck"), times=fails, after=2)
        return run(tmp_path, said, on_error="skip", retry={"attempts": 2})


def test_a_skipped_task_is_a_hole_retried_at_the_end_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = skipping(tmp_path, monkeypatch, fails=2)
    lines = lines_of(result.folder)
    assert [line["task_id"][-1] for line in lines] == list("012345672")
    hole, again = lines[2], lines[8]
    assert (hole["outcome"], hole["scored"], hole["score"], hole["detail"]) == ("env_error", False, None, "stuck")
    assert hole["memory"]["added"] == []
    assert "delta" not in hole["files"]
    assert hole["usage"] == {}
    assert (again["scored"], again["out_of_order"]) == (True, True)
    assert "out_of_order" not in lines[7]
    assert (result.tally.done, result.tally.scored, result.unscored) == (8, 8, ())


def test_errors_dropped_from_the_denominator_stay_visible(tmp_path: Path) -> None:
    said = Said()
    settings = {"on_error": "skip", "retry": {"attempts": 1}, "env": {"broken": ["test-01", "test-04"]}}
    result = run(tmp_path, said, **settings)
    assert result.unscored == ("test-01", "test-04")
    assert (result.tally.planned, result.tally.done, result.tally.scored) == (8, 8, 6)
    marker = json.loads((result.folder / "complete.json").read_text())
    assert marker["unscored"] == ["test-01", "test-04"]
    assert "unscored tasks: test-01, test-04" in marker["notes"]
    assert "unscored tasks: test-01, test-04" in said.warnings


def test_a_complete_run_with_holes_tries_them_again_when_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = skipping(tmp_path, monkeypatch, fails=6 * 2 + 2 * 2)
    assert first.unscored == ("test-02", "test-03")
    assert (first.folder / "complete.json").exists()
    second = run(tmp_path)
    assert second.unscored == ()
    assert len({line["task_id"] for line in lines_of(first.folder) if line["scored"]}) == 8
    assert run(tmp_path) == second


def test_a_run_cap_pauses_between_two_calls_and_counts_what_was_abandoned(tmp_path: Path) -> None:
    with pytest.raises(BudgetReached, match="start the same command again"):
        run(tmp_path, budget={"run_cost": 0.0115})
    (folder,) = tmp_path.iterdir()
    committed = sum(part["cost"] for line in lines_of(folder) for part in line["usage"].values())
    assert committed < 0.0115
    entries = [json.loads(text) for text in (folder / "timings.jsonl").read_text().splitlines()]
    spent = committed + sum(part["cost"] for entry in entries for part in entry.get("abandoned", {}).values())
    assert spent == pytest.approx(0.012)
    with pytest.raises(BudgetReached):
        run(tmp_path, budget={"run_cost": 0.0115})
    assert len((folder / "timings.jsonl").read_text().splitlines()) <= len(entries) + 1
    capped = run(tmp_path, budget={"run_cost": 1.0})
    free = run(tmp_path / "free")
    assert promised_bytes(capped.folder) == promised_bytes(free.folder)


def test_totals_after_a_resume_count_everything(tmp_path: Path) -> None:
    run(tmp_path / "resumed", limit=3)
    resumed, whole = run(tmp_path / "resumed"), run(tmp_path / "whole")
    assert resumed.tally == whole.tally
    assert resumed.tally.usage.calls > 0


def test_an_episode_token_cap_is_scored_and_does_not_pause(tmp_path: Path) -> None:
    result = run(tmp_path, budget={"episode_tokens": 250})
    assert {line["outcome"] for line in lines_of(result.folder)} >= {"token_limit"}
    assert result.tally.scored == 8


def test_a_memory_that_stayed_empty_warns_loudly(tmp_path: Path) -> None:
    said = Said()
    result = run(tmp_path, said, memory={"mute": True}, env={"tasks": 12})
    assert any("stored nothing in the first 10" in text for text in said.warnings)
    assert any("stayed empty" in text for text in said.warnings)
    assert "stayed empty" in json.loads((result.folder / "complete.json").read_text())["notes"][0]
    silent = Said()
    run(tmp_path, silent, memory={"mute": True, "name": "no_memory"}, env={"tasks": 12})
    assert silent.warnings == []


def test_a_frozen_run_uses_another_runs_memory_and_leaves_it_alone(tmp_path: Path) -> None:
    source = run(tmp_path, limit=6)
    before = promised_bytes(source.folder)
    frozen = run(tmp_path, protocol="frozen", memory={"init_from": source.run_id}, env={"split": "other"})
    lines = lines_of(frozen.folder)
    assert {line["memory"]["stored"] for line in lines} == {6}
    assert all(line["memory"]["injected_ids"] for line in lines)
    assert all("note" not in line["usage"] for line in lines)
    assert not list((frozen.folder / "memory").iterdir())
    assert promised_bytes(source.folder) == before
    manifest = json.loads((frozen.folder / "manifest.json").read_text())
    assert manifest["source"]["run_id"] == source.run_id
    assert manifest["identity"]["source"]["episodes"] == 6
    by_path = run(tmp_path, protocol="frozen", memory={"init_from": str(source.folder)}, env={"split": "other"})
    assert by_path == frozen


def test_a_frozen_run_goes_on_after_trouble_and_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = run(tmp_path, limit=6)
    choice: dict[str, Any] = {"protocol": "frozen", "memory": {"init_from": source.run_id}, "env": {"split": "other"}}
    calm = promised_bytes(run(tmp_path, **choice).folder)
    for path in tmp_path.iterdir():
        if path != source.folder:
            path.rename(tmp_path.parent / f"{tmp_path.name}-{path.name}")
    with monkeypatch.context() as patch:
        Flaky(patch, Hashed, "complete", TransientBackboneError("503"), times=1 + 3, after=7)
        with pytest.raises(Paused):
            run(tmp_path, **choice)
    assert promised_bytes(run(tmp_path, **choice).folder) == calm


def test_an_online_run_may_start_from_another_runs_memory_and_resumes(tmp_path: Path) -> None:
    source = run(tmp_path, limit=5)
    warm: dict[str, Any] = {"memory": {"init_from": source.run_id}, "env": {"split": "other"}}
    whole = run(tmp_path, **warm)
    assert lines_of(whole.folder)[0]["memory"]["stored"] == 6
    wanted = promised_bytes(whole.folder)
    whole.folder.rename(tmp_path / "whole")
    run(tmp_path, limit=2, **warm)
    assert promised_bytes(run(tmp_path, **warm).folder) == wanted


def test_offline_builds_on_the_train_split_and_tests_frozen(tmp_path: Path) -> None:
    said = Said()
    result = run(tmp_path, said, protocol="offline", train={"split": "train", "limit": 4})
    assert len(said.started) == 2
    train = next(path for path in tmp_path.iterdir() if path != result.folder)
    assert [line["task_id"] for line in lines_of(train)] == [f"train-{n:02d}" for n in range(4)]
    lines = lines_of(result.folder)
    assert lines[0]["task_id"] == "test-00"
    assert {line["memory"]["stored"] for line in lines} == {4}
    more = run(tmp_path, protocol="offline", train={"split": "train", "limit": 6})
    assert more.run_id != result.run_id
    assert run(tmp_path, protocol="offline", train={"split": "train", "limit": 4}) == result


@pytest.mark.parametrize(
    ("other", "named"),
    [({"memory": {"name": "other"}}, "memory"), ({"embedder": {"name": "other"}}, "embedder")],
)
def test_a_memory_of_another_method_or_embedder_is_refused(tmp_path: Path, other: dict[str, Any], named: str) -> None:
    source = run(tmp_path, limit=2)
    changes = {"protocol": "frozen", **other}
    changes["memory"] = {**other.get("memory", {}), "init_from": source.run_id}
    with pytest.raises(UsageError, match=f"was made with {named}"):
        run(tmp_path, **changes)


def test_a_missing_unfinished_or_empty_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"init_from=zip: no such run; looked at .*zip"):
        run(tmp_path, protocol="frozen", memory={"init_from": "zip"})
    source = run(tmp_path, limit=2)
    frozen = run(tmp_path, protocol="frozen", memory={"init_from": source.run_id}, env={"split": "other"})
    with pytest.raises(DataError, match="stored no memory"):
        run(tmp_path, protocol="frozen", memory={"init_from": frozen.run_id})
    (source.folder / "complete.json").unlink()
    with pytest.raises(UsageError, match="not complete"):
        run(tmp_path, protocol="frozen", memory={"init_from": source.run_id})


def test_other_data_under_the_same_run_is_refused_with_a_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path, limit=3)
    before = promised_bytes(first.folder)
    monkeypatch.setattr(Counting, "versions", lambda self: {"engine": "2", "data_hash": "d1"})
    with pytest.raises(RunConflictError) as caught:
        run(tmp_path, accept_changes=True)
    assert "versions.env.data_hash: d0 -> d1" in str(caught.value)
    assert "versions.env.engine: 1 -> 2" in str(caught.value)
    assert "accept_changes" not in str(caught.value)
    assert promised_bytes(first.folder) == before


def test_another_task_order_under_the_same_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, limit=3)
    original = Counting.tasks
    monkeypatch.setattr(Counting, "tasks", lambda self: original(self)[::-1])
    with pytest.raises(RunConflictError, match=r"tasks\[0\]: test-00 -> test-07"):
        run(tmp_path)


def test_a_committed_task_that_is_no_longer_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, limit=3)
    original = Counting.tasks
    monkeypatch.setattr(Counting, "tasks", lambda self: original(self)[:2])
    with pytest.raises(RunConflictError, match=r"task test-02: \(committed\) -> \(absent\)"):
        run(tmp_path)


def test_changed_code_is_refused_unless_accepted_and_then_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(tmp_path, limit=3)
    monkeypatch.setattr("strata.plan.package_versions", lambda: {"numpy": "99.0"})
    with pytest.raises(RunConflictError, match=r"versions.packages.numpy: .* -> 99.0(.|\n)*accept_changes=true"):
        run(tmp_path)
    run(tmp_path, accept_changes=True)
    manifest = json.loads((first.folder / "manifest.json").read_text())
    assert manifest["versions"]["packages"] == {"numpy": "99.0"}
    assert any(note.startswith("changed before episode 3: versions.packages.numpy") for note in manifest["notes"])
    run(tmp_path)


def test_a_wall_clock_limit_is_noted_as_unrepeatable(tmp_path: Path) -> None:
    result = run(tmp_path, limit=1, agent={"episode_seconds": 1000.0})
    assert "wall clock" in json.loads((result.folder / "manifest.json").read_text())["notes"][0]


def test_the_environment_is_closed_however_a_pass_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Counting] = []
    original = Counting.build.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        harness_doubles.Counting,
        "build",
        classmethod(lambda cls, config: made.append(original(cls, config)) or made[-1]),
    )
    run(tmp_path)
    with pytest.raises(Paused):
        run(tmp_path, env={"broken": ["test-03"]})
    assert [world.closed for world in made] == [1, 1]


def test_a_wrong_memory_key_leaves_no_run_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"memory\.kep"):
        run(tmp_path, memory={"kep": 3})
    assert not list(tmp_path.iterdir())


def test_a_memory_that_rejects_its_own_state_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, limit=2)
    monkeypatch.setattr(harness_doubles, "unpack", lambda blob, source: ({"kind": "else", "items": [], "made": 0}, {}))
    with pytest.raises(CorruptStateError, match="not a delta"):
        run(tmp_path)
