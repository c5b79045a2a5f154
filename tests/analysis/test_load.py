"""Reading run directories: strict about content, tolerant only of what a crash leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.analysis.load import load_events, load_run, load_runs, load_trajectory
from strata.errors import DataError
from strata.types import Outcome

Make = Callable[..., Any]


def edit_line(path: Path, number: int, **changes: object) -> None:
    """Change keys of one line of episodes.jsonl; a key set to `...` is removed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[number - 1]) | changes
    lines[number - 1] = json.dumps({key: value for key, value in record.items() if value is not ...})
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def test_a_finished_run_is_read_in_full(make_run: Make) -> None:
    run = load_run(make_run({"heat-1": 100, "heat-2": 0, "cool-1": 100}, seed=4).path)
    assert run.complete
    assert not run.torn
    assert (run.manifest.memory, run.manifest.memory_label, run.manifest.env) == ("strata", "STRATA", "alfworld")
    assert (run.manifest.seed, run.manifest.split, run.manifest.planned) == (4, "valid_unseen", 3)
    assert [task.category for task in run.manifest.tasks] == ["heat", "heat", "cool"]
    assert run.manifest.config["embedder.name"] == "minilm"
    assert run.manifest.versions["env.textworld"] == "1.7.0"
    assert [episode.raw_score for episode in run.results] == [100, 0, 100]
    assert run.results[0].memory.lines == 3
    assert run.results[0].usage["act"].input_tokens == 900
    assert run.open == 0


def test_a_torn_last_line_is_not_committed(make_run: Make) -> None:
    path = make_run({"heat-1": 100, "heat-2": 100, "heat-3": 0}, complete=False).path / "episodes.jsonl"
    data = path.read_bytes()
    for cut in range(len(data.rstrip(b"\n").rpartition(b"\n")[0]) + 2, len(data)):
        path.write_bytes(data[:cut])
        run = load_run(path.parent)
        assert run.torn
        assert [episode.task_id for episode in run.episodes] == ["heat-1", "heat-2"]
        assert run.open == 1


def test_a_run_without_its_marker_or_without_episodes_is_incomplete(make_run: Make) -> None:
    run = load_run(make_run({"heat-1": 100, "heat-2": None}).path)
    assert not run.complete
    assert run.open == 1
    fresh = make_run({"heat-1": None}, seed=1)
    (fresh.path / "episodes.jsonl").unlink()
    assert load_run(fresh.path).episodes == ()


def test_a_marker_left_from_before_the_run_was_extended_does_not_count(make_run: Make) -> None:
    writer = make_run({"heat-1": 100, "heat-2": 100})
    path = writer.path / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.partition(b"\n")[0] + b"\n")
    writer.mark_complete()
    path.write_bytes(whole)
    assert not load_run(writer.path).complete


def test_a_line_changed_after_completion_is_refused(make_run: Make) -> None:
    path = make_run({"heat-1": 0, "heat-2": 100}).path
    edit_line(path / "episodes.jsonl", 1, score=100.0, raw_score=100.0)
    with pytest.raises(DataError, match="changed after the run was completed"):
        load_run(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": ...}, "score is missing"),
        ({"score": "100"}, "score is '100' and must be a number or null"),
        ({"score": True}, "must be a number or null"),
        ({"score": 100.5}, "outside 0 to 100"),
        ({"raw_score": -100.5}, "outside -100 to 100"),
        ({"score": None}, "exactly when the episode is scored"),
        ({"outcome": "won"}, "outcome is 'won', which is none of success"),
        ({"outcome": "env_error"}, "scored does not fit the outcome env_error"),
        ({"scored": 1}, "scored is '1' and must be true or false"),
        ({"success": "yes"}, "success is 'yes' and must be true or false"),
        ({"success": ...}, "success is missing"),
        ({"success": None}, "success is 'None' and must be true or false"),
        ({"index": -1}, "index is '-1' and must be a whole number"),
        ({"steps": 2.5}, "must be a whole number"),
        ({"task_id": "heat-9"}, r"task heat-9 \(heat\) is not in the manifest"),
        ({"category": "cool"}, r"task heat-2 \(cool\) is not in the manifest"),
        ({"task_id": "heat-1"}, "has a score already"),
        ({"memory": []}, "memory is .* must be an object"),
        ({"memory": {}}, "memory: stored is missing"),
        ({"usage": {"act": {}}}, "usage: act: calls is missing"),
        ({"files": {}}, "files: steps is missing"),
    ],
)
def test_unknown_result_shape_is_an_error_with_file_and_line_and_never_zero(
    make_run: Make, changes: dict[str, object], message: str
) -> None:
    path = make_run({"heat-1": 100, "heat-2": 100, "heat-3": 0}, complete=False).path
    edit_line(path / "episodes.jsonl", 2, **changes)
    with pytest.raises(DataError, match=rf"episodes\.jsonl:2: .*{message}"):
        load_run(path)


@pytest.mark.parametrize("text", ['{"score": NaN}', '{"score": Infinity}', '{"index": 0,', "[1]", "null", "\x00", ""])
def test_a_committed_line_that_is_no_json_object_is_an_error(make_run: Make, text: str) -> None:
    path = make_run({"heat-1": 100, "heat-2": None}).path
    with (path / "episodes.jsonl").open("a", encoding="utf-8") as file:
        file.write(text + "\n")
    with pytest.raises(DataError, match=r"episodes\.jsonl:2: "):
        load_run(path)


def test_a_missing_number_is_missing_and_not_zero(make_run: Make) -> None:
    run = load_run(make_run({"heat-1": "env_error", "heat-2": 100}).path)
    assert run.results[0].outcome is Outcome.ENV_ERROR
    assert run.results[0].score is None
    assert run.results[0].raw_score is None
    assert [episode.task_id for episode in run.scored] == ["heat-2"]
    assert run.open == 1


def test_a_hole_that_was_filled_later_counts_once(make_run: Make) -> None:
    writer = make_run({"heat-1": "env_error", "heat-2": 100}, complete=False)
    path = writer.path / "episodes.jsonl"
    writer.scores = {"heat-1": 100, "heat-2": 100}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(writer.episode(2, "heat-1") | {"out_of_order": True}) + "\n")
    run = load_run(writer.path)
    assert len(run.episodes) == 3
    assert [(episode.task_id, episode.score) for episode in run.results] == [("heat-1", 100), ("heat-2", 100)]
    assert run.results[0].out_of_order
    assert run.open == 0


def test_another_format_is_refused_by_name(make_run: Make) -> None:
    path = make_run({"heat-1": 100}).path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))
    with pytest.raises(DataError, match="format 2, but this version reads 1"):
        load_run(path.parent)


@pytest.mark.parametrize("key", ["run_id", "simulated", "memory", "tasks", "planned", "seed", "identity", "versions"])
def test_a_manifest_without_a_key_is_an_error(make_run: Make, key: str) -> None:
    path = make_run({"heat-1": 100}).path / "manifest.json"
    values = json.loads(path.read_text())
    del values[key]
    path.write_text(json.dumps(values))
    with pytest.raises(DataError, match=rf"manifest\.json: {key} is missing"):
        load_run(path.parent)


def test_no_runs_says_what_to_do_next(results: Path, make_run: Make) -> None:
    with pytest.raises(DataError, match=r"no run is there. Make a run, for example: python scripts/run\.py"):
        load_runs(results)
    with pytest.raises(DataError, match="No results folder"):
        load_runs(results / "absent")
    make_run({"heat-1": 100})
    with pytest.raises(DataError, match="none of the 1 runs there matches runs=x"):
        load_runs(results, "x*")


def test_folders_that_are_no_runs_are_left_alone(results: Path, make_run: Make) -> None:
    for name in ("published", "report", "figures"):
        (results / name).mkdir()
        (results / name / "file.txt").write_text("x")
    make_run({"heat-1": 100}, seed=1)
    make_run({"heat-1": 100}, seed=0)
    assert [run.manifest.seed for run in load_runs(results)] == [0, 1]


def test_a_run_that_lost_its_manifest_is_named_and_never_left_out(results: Path, make_run: Make) -> None:
    make_run({"heat-1": 100}, seed=1)
    lost = make_run({"heat-1": 100}, seed=0).path / "manifest.json"
    lost.unlink()
    with pytest.raises(DataError, match=rf"Cannot read {lost} .*Restore it from a copy"):
        load_runs(results)


def test_trajectory_and_injected_text_are_read(make_run: Make) -> None:
    run = load_run(make_run({"heat-1": 100}, injected="Use the microwave.").path)
    trajectory = load_trajectory(run, run.episodes[0])
    assert trajectory.injected == "Use the microwave."
    assert [turn.action for turn in trajectory.turns] == ["look", "open fridge 1"]
    assert trajectory.turns[1].malformed == ("no action here",)


def test_a_steps_path_outside_the_run_is_refused(make_run: Make, results: Path) -> None:
    path = make_run({"heat-1": 100}, complete=False).path
    (results / "secret.json").write_text("{}")
    edit_line(path / "episodes.jsonl", 1, files={"steps": {"path": "../secret.json", "sha256": "0"}})
    run = load_run(path)
    with pytest.raises(DataError, match="outside the run"):
        load_trajectory(run, run.episodes[0])


def test_events_of_uncommitted_episodes_and_a_torn_event_are_left_out(make_run: Make) -> None:
    path = make_run({"heat-1": 100, "heat-2": None}).path
    lines = [
        '{"episode": 0, "kind": "create", "s": 0.2}\n', '{"episode": 1, "kind": "noop"}\n', '{"episode": 0, "kin'
    ]  # fmt: skip
    (path / "events.jsonl").write_text("".join(lines))
    run = load_run(path)
    assert [(event.kind, dict(event.values)) for event in load_events(run)] == [("create", {"s": 0.2})]
    (path / "events.jsonl").unlink()
    assert load_events(run) == ()
