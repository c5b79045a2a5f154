"""Task order and what counts as a change of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import DataError
from strata.plan import differences, order_tasks
from strata.types import Task

IDS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=30, unique=True)


def tasks(ids: list[str]) -> list[Task]:
    return [Task(name, "c", "g") for name in ids]


@given(ids=IDS, seed=st.integers(0, 9), extra=st.text(min_size=9, max_size=12))
def test_a_task_more_leaves_the_order_of_the_others(ids: list[str], seed: int, extra: str) -> None:
    before = order_tasks(tasks(ids), "shuffled", seed)
    after = order_tasks(tasks([*ids, extra]), "shuffled", seed)
    assert [task for task in after if task.id != extra] == before


@given(ids=IDS, seed=st.integers(0, 9), order=st.sampled_from(["by_id", "shuffled"]))
def test_same_seed_other_order_of_listing_gives_the_same_order(ids: list[str], seed: int, order: str) -> None:
    given_order = order_tasks(tasks(sorted(ids)), order, seed)
    assert sorted(task.id for task in given_order) == sorted(ids)
    assert order_tasks(tasks(sorted(ids)), order, seed) == given_order
    if order == "shuffled":
        assert order_tasks(tasks(sorted(ids)[::-1]), order, seed) == given_order


def test_seeds_shuffle_differently() -> None:
    orders = {tuple(task.id for task in order_tasks(tasks(list("abcdefgh")), "shuffled", seed)) for seed in range(5)}
    assert len(orders) == 5


def test_no_task_is_an_error_not_an_empty_run() -> None:
    with pytest.raises(DataError, match="no task"):
        order_tasks([], "by_id", 0)


def test_a_task_listed_twice_is_named() -> None:
    with pytest.raises(DataError, match="lists task b twice"):
        order_tasks(tasks(["a", "b", "c", "b"]), "by_id", 0)


def manifest(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "versions": {
            "python": "3.11",
            "packages": {"numpy": "2.0"},
            "code": {"strata": "aa"},
            "env": {"data_hash": "d"},
        },
        "memory": {"name": "m", "label": "M"},
        "tasks": [{"id": "a"}, {"id": "b"}],
        "planned": 2,
        "notes": [],
    }
    return {**base, **changes}


def test_a_longer_task_list_another_label_or_a_note_is_no_change() -> None:
    grown = manifest(
        tasks=[{"id": "a"}, {"id": "b"}, {"id": "c"}], planned=3, notes=["n"], memory={"name": "m", "label": "N"}
    )
    assert differences(manifest(), grown) == ([], [])


def test_changes_are_printed_with_both_values() -> None:
    hard, soft = differences(
        manifest(),
        manifest(
            versions={"python": "3.12", "packages": {}, "code": {"strata": "bb"}, "env": {"data_hash": "e"}},
            tasks=[{"id": "a"}, {"id": "z"}],
        ),
    )
    assert hard == ["versions.env.data_hash: d -> e", "tasks[1]: b -> z"]
    assert "versions.code.strata: aa -> bb" in soft
    assert "versions.python: 3.11 -> 3.12" in soft
    assert any(line.startswith("versions.packages") and "2.0" in line for line in soft)
