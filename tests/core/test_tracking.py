"""Weights & Biases is optional: never needed, never asked for a login in vain, and it changes no result."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_doubles import Said, promised_bytes, run_settings

from strata.errors import UsageError
from strata.progress import Tally
from strata.runner import run_pass
from strata.tracking import Tracked
from strata.types import Usage


class Recorder:
    """Stands where the package would: keeps what is sent."""

    def __init__(self, fails: bool = False) -> None:
        self.sent: list[tuple[int, dict[str, Any]]] = []
        self.begun: list[dict[str, Any]] = []
        self.ended: list[dict[str, Any]] = []
        self.fails = fails
        self.Error = type("Error", (Exception,), {})
        self.Settings = SimpleNamespace

    def init(self, **arguments: Any) -> Any:
        if self.fails:
            raise self.Error("No API key configured.")
        self.begun.append(arguments)
        return SimpleNamespace(
            log=lambda values, step: self.sent.append((step, values)), finish=lambda **how: self.ended.append(how)
        )


def test_login_demanded_offline_becomes_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", Recorder(fails=True))
    with pytest.raises(UsageError, match=r"No API key configured.*WANDB_MODE=offline"):
        Tracked(Said(), run_settings(tmp_path)).start("run", Tally(1))


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UsageError, match=r"pip install -e '\.\[wandb\]'"):
        Tracked(Said(), run_settings(tmp_path))


def test_running_totals_are_sent_and_unknown_numbers_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, "wandb", recorder)
    show = Tracked(Said(), run_settings(tmp_path, memory={"init_from": "/a/place"}))
    show.start("run-1", Tally(3))
    show.update(Tally(3, done=1, usage=Usage(1, 10, 5, cost=None)))
    show.update(Tally(3, done=2, scored=1, points=50.0, usage=Usage(2, 20, 10, cost=0.5)))
    show.finish(Tally(3, done=2), tmp_path)
    show.close()
    assert recorder.sent == [
        (1, {"scored": 0, "tokens": 15}),
        (2, {"scored": 1, "score": 50.0, "tokens": 30, "cost": 0.5}),
    ]
    assert recorder.begun[0]["id"] == recorder.begun[0]["name"] == "run-1"
    assert "/a/place" not in str(recorder.begun[0]["config"])
    assert recorder.ended == [{}]


def test_a_broken_off_run_is_closed_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, "wandb", recorder)
    show = Tracked(Said(), run_settings(tmp_path))
    show.start("run-1", Tally(3))
    show.close()
    assert recorder.ended == [{"exit_code": 1}]


def test_the_real_package_offline_changes_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the optional package wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    settings = run_settings(tmp_path / "tracked", limit=3)
    tracked = run_pass(settings, show=Tracked(Said(), settings))
    plain = run_pass(run_settings(tmp_path / "plain", limit=3), show=Said())
    assert promised_bytes(tracked.folder) == promised_bytes(plain.folder)
    assert list((tmp_path / "tracked" / "wandb").glob("offline-run-*"))
