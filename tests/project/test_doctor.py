"""`make doctor` says of each part whether it works, by using it; what only the user can supply is no fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from strata import doctor
from strata.config import RunSettings, read_run_settings

ROOT = Path(__file__).resolve().parents[2]
CHEAP = ["memory=no_memory", "env=alfworld", "env.per_category=1", "backbone=simulated", "embedder=wordllama"]


@pytest.fixture
def configs() -> Iterator[None]:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        yield


def settings(group: str, name: str, *more: str) -> RunSettings:
    chosen = [word for word in CHEAP if not word.startswith(f"{group}=")]
    return read_run_settings(compose("config", overrides=[*chosen, f"{group}={name}", *more]))


@pytest.mark.usefixtures("configs")
@pytest.mark.parametrize(
    ("group", "name", "shown"),
    [
        ("env", "alfworld", "6 tasks in 6 categories"),
        ("embedder", "wordllama", "256 dimensions"),
        ("backbone", "simulated", "sim_pro"),
        ("memory", "strata", "starts empty"),
    ],
)
def test_a_part_that_works_is_ready_and_says_what_it_is(group: str, name: str, shown: str) -> None:
    finding = doctor.examine(group, name, settings)
    assert finding.ready
    assert not finding.fault
    assert shown in finding.text


@pytest.mark.usefixtures("configs")
def test_a_part_that_does_not_work_is_a_fault_with_what_mends_it(tmp_path: Path) -> None:
    def broken(group: str, name: str) -> RunSettings:
        return settings(group, name, f"env.data={tmp_path}/nothing")

    finding = doctor.examine("env", "alfworld", broken)
    assert not finding.ready
    assert finding.fault
    assert "alfworld-download" in finding.text


@pytest.mark.usefixtures("configs")
def test_a_model_that_nobody_chose_is_not_ready_and_no_fault() -> None:
    finding = doctor.examine("backbone", "litellm", settings)
    assert not finding.ready
    assert not finding.fault
    assert "backbone.model=" in finding.text


def test_a_nearly_full_disk_and_a_folder_that_cannot_be_written_are_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.examine_machine(tmp_path / "not/yet").ready
    monkeypatch.setattr(doctor, "FREE_MB", 10**12)
    assert doctor.examine_machine(tmp_path).fault
    monkeypatch.setattr(doctor, "FREE_MB", 0)
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert "cannot be written" in doctor.examine_machine(tmp_path).text
