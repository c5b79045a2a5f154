"""Settings: what is refused and how, and what identifies a run."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from harness_doubles import run_settings
from omegaconf import OmegaConf

from strata.compose import open_parts
from strata.config import RunSettings, as_mapping, prompt_files, read_run_settings, recorded_config
from strata.errors import UsageError
from strata.plan import make_plan


def identity(**changes: Any) -> str:
    settings = run_settings("results", **changes)
    with open_parts(settings) as parts:
        return make_plan(settings, parts, None).run_id


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**31}, "seed="),
        ({"seed": "x"}, "config.seed=x"),
        ({"seed": True}, "config.seed=True"),
        ({"limit": 0}, "limit=0"),
        ({"limit": 1.5}, "config.limit=1.5"),
        ({"order": "random"}, "by_id, shuffled"),
        ({"snapshot_every": 0}, "snapshot_every=0"),
        ({"agent": {"temperature": float("nan")}}, "temperature=nan"),
        ({"agent": {"temperature": 2.5}}, "temperature=2.5"),
        ({"agent": {"max_tokens": 0}}, "max_tokens=0"),
        ({"agent": {"max_reasks": -1}}, "max_reasks=-1"),
        ({"agent": {"max_tool_calls": -1}}, "max_tool_calls=-1"),
        ({"agent": {"episode_seconds": 0.0}}, "episode_seconds=0"),
        ({"agent": {"reasks": 1}}, "config.agent.reasks: unknown key"),
        ({"budget": {"run_cost": -1.0}}, "run_cost=-1"),
        ({"budget": {"run_tokens": 0}}, "run_tokens=0"),
        ({"budget": {"episode_tokens": 0}}, "episode_tokens=0"),
        ({"retry": {"attempts": 0}}, "attempts=0"),
        ({"retry": {"wait_seconds": -1.0}}, "wait_seconds=-1"),
        ({"train": {"limit": 0}}, "limit=0"),
        ({"memory": {"name": ""}}, "memory.name"),
        ({"memory": {"_target_": None}}, "memory names no class"),
        ({"protocol": "frozen"}, "memory.init_from=RUN"),
        ({"protocol": "offline", "memory": {"init_from": "x"}}, "builds its own memory"),
        ({"sed": 1}, "config.sed: unknown key"),
    ],
)
def test_an_impossible_value_is_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_settings("results", **changes)
    assert named in str(caught.value)
    assert caught.value.exit_code == 2


NEW_RUN = {
    "seed": 1,
    "order": "shuffled",
    "budget": {"episode_tokens": 10},
    "agent.max_reasks": 1,
    "agent.max_tool_calls": 1,
    "agent.temperature": 0.5,
    "agent.max_tokens": 5,
    "agent.episode_seconds": 60.0,
    "memory": {"keep": 2},
    "env": {"max_steps": 3},
    "backbone": {"price": 0.5},
    "embedder": {"name": "other"},
}
SAME_RUN = {
    "limit": 3,
    "on_error": "skip",
    "snapshot_every": 9,
    "accept_changes": True,
    "progress": "plain",
    "tracking": "wandb",
    "results_dir": "elsewhere",
    "budget": {"run_cost": 1.0, "run_tokens": 9},
    "retry": {"attempts": 1},
    "train": {"limit": 2},
    "memory": {"label": "Lessons (ours)"},
}


def nested(key: str, value: Any) -> dict[str, Any]:
    head, _, rest = key.partition(".")
    return {head: {rest: value} if rest else value}


@pytest.mark.parametrize("key", NEW_RUN)
def test_a_value_that_can_change_a_number_makes_another_run(key: str) -> None:
    assert identity(**nested(key, NEW_RUN[key])) != identity()


@pytest.mark.parametrize("key", SAME_RUN)
def test_a_value_that_cannot_change_a_number_keeps_the_run(key: str) -> None:
    assert identity(**{key: SAME_RUN[key]}) == identity()


def test_every_top_level_key_is_known_to_change_the_run_or_not() -> None:
    checked = {key.partition(".")[0] for key in (*NEW_RUN, *SAME_RUN)} | {"protocol", "signal", "prompts"}
    assert checked == {field.name for field in fields(RunSettings)}


def test_what_the_agent_is_told_identifies_the_run(tmp_path: Path) -> None:
    act = tmp_path / "act.txt"
    act.write_text("version: 2\n$description $actions $irreversible $hints")
    first = identity(prompts={"agent": {"act": str(act)}})
    assert first != identity()
    moved = tmp_path / "moved.txt"
    moved.write_text(act.read_text())
    assert identity(prompts={"agent": {"act": str(moved)}}) == first
    act.write_text("version: 2\n$description $actions $irreversible $hints!")
    assert identity(prompts={"agent": {"act": str(act)}}) != first
    assert identity(env={"description": "Another world."}) != identity()


def test_a_path_counts_by_being_given_not_by_its_name() -> None:
    here, there = identity(env={"data": "/here"}), identity(env={"data": "/there"})
    assert here == there != identity(env={"data": None})


def test_a_file_counts_by_its_content_not_by_its_name(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("heat: cool")
    two.write_text("heat: cool")

    def recorded(path: Path) -> Any:
        return recorded_config({"memory": {"contrast": {"file": str(path)}}})

    assert recorded(one) == recorded(two)
    assert str(tmp_path) not in str(recorded(one))
    two.write_text("melt: freeze")
    assert recorded(one) != recorded(two)
    two.unlink()
    with pytest.raises(UsageError, match=r"memory\.contrast\.file=.*two: cannot be read"):
        recorded(two)


def test_the_name_of_a_run_can_be_read() -> None:
    name = identity(backbone={"name": "openai/gpt 5"})
    assert name.startswith("lessons-counting-openai_gpt_5-s0-")
    assert len(name.rpartition("-")[2]) == 12


def compose(**env: Any) -> RunSettings:
    values = as_mapping(run_settings("results"))
    values["env"] = {**values["env"], **env}
    return read_run_settings(OmegaConf.create(values))


def test_a_path_may_come_from_an_environment_variable_and_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTING_DATA", "/secret/place")
    settings = compose(data="${oc.env:COUNTING_DATA}")
    assert settings.env["data"] == "/secret/place"
    assert "/secret/place" not in str(recorded_config(as_mapping(settings)))


@pytest.mark.parametrize("text", ["${oc.env:TOKEN}", "x ${oc.env:TOKEN,none} y", "${env.data}"])
def test_another_value_from_an_environment_variable_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "sk-1234")
    with pytest.raises(UsageError, match=r"env\.description") as caught:
        compose(description=text, data="${oc.env:TOKEN}")
    assert "sk-1234" not in str(caught.value)


def test_a_reference_to_another_key_is_resolved() -> None:
    assert compose(description="seed ${seed}").env["description"] == "seed 0"


def test_prompt_files_may_be_nested_or_flat() -> None:
    assert prompt_files({"agent": {"act": "a.txt"}, "x/y": "b.txt"}) == {"agent/act": "a.txt", "x/y": "b.txt"}
    with pytest.raises(UsageError, match=r"prompts\.act=3"):
        prompt_files({"act": 3})
