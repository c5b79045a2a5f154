"""Table 1: what is counted, what is refused, what is marked, and what stands beside it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.analysis.checks import too_many_open
from strata.analysis.load import load_runs
from strata.analysis.published import load_published
from strata.analysis.tables.model import Request, Table
from strata.analysis.tables.table1 import build_table1, paper_backbone
from strata.errors import DataError

Make = Callable[..., Any]


@pytest.fixture
def table(results: Path, repository: Path) -> Callable[..., Table]:
    published = load_published(repository / "results" / "published" / "numbers.yaml")

    def build(**options: Any) -> Table:
        return build_table1(Request(load_runs(results), published, **options))

    return build


def cell(table: Table, row: str, column: str, grid: int = 0) -> str:
    """The text where a row and a column (by the start of their headings) meet."""
    found = table.grids[grid]
    at = next(at for at, head in enumerate(found.head) if head.startswith(column))
    return next(line for line in found.rows if line[0].startswith(row))[at]


def paper_cell(table: Table, row: str, column: str) -> str:
    """The paper's cell next to a column."""
    found = table.grids[0]
    at = next(at for at, head in enumerate(found.head) if head.startswith(column)) + 1
    assert found.head[at].startswith("paper")
    return next(line for line in found.rows if line[0].startswith(row))[at]


def scores(seed: int, wins: int, tasks: int = 10) -> dict[str, float]:
    return {f"heat-{task}": 100.0 * ((task + seed) % tasks < wins) for task in range(tasks)}


def test_a_cell_is_mean_and_sample_sd_over_seeds_with_its_denominator(make_run: Make, table: Any) -> None:
    wins = {0: 3, 1: 7, 4: 8}
    for seed, count in wins.items():
        make_run(scores(seed, count), seed=seed)
    means = [10.0 * count for count in wins.values()]
    expected = f"{statistics.mean(means):.1f} ± {statistics.stdev(means):.1f}"
    built = table()
    assert cell(built, "STRATA", "ALFWorld") == f"{expected}\n30/30, seeds 0,1,4"
    record = built.records[0]
    assert record["mean"] == pytest.approx(statistics.mean(means))
    assert record["sd_over_seeds"] == pytest.approx(statistics.stdev(means))
    assert (record["n_scored"], record["n_planned"], record["seeds"]) == (30, 30, "0 1 4")


def test_with_one_seed_the_spread_is_not_available(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3))
    built = table()
    assert cell(built, "STRATA", "ALFWorld") == "30.0 (sd n/a)\n10/10, seed 0"
    assert built.records[0]["sd_over_seeds"] is None


def test_errors_are_not_dropped_from_the_denominator(make_run: Make, table: Any) -> None:
    tasks: dict[str, Any] = scores(0, 10, tasks=60) | {"heat-59": "env_error"}
    make_run(tasks, complete=True)
    built = table()
    assert cell(built, "STRATA", "ALFWorld").split("\n")[1] == "59/60, seed 0"
    assert built.records[0]["n_scored"] == 59
    assert built.records[0]["mean"] == pytest.approx(100 * 10 / 59)


@pytest.mark.parametrize(
    ("open_tasks", "planned", "refused"),
    [(0, 36, False), (1, 1, False), (1, 36, False), (2, 36, True), (2, 100, False), (2, 99, True), (3, 134, True)],
)
def test_the_rule_for_refusing_is_two_percent_and_one_task(open_tasks: int, planned: int, refused: bool) -> None:
    assert too_many_open(open_tasks, planned) is refused


def test_an_unfinished_run_is_refused_and_the_message_says_how_to_go_on(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory")
    make_run(scores(0, 3) | {"heat-7": None, "heat-8": None, "heat-9": "env_error"}, seed=2, name="the-open-one")
    with pytest.raises(DataError) as refusal:
        table()
    message = str(refusal.value)
    assert "the-open-one: 7 of 10 scored, 1 ended by env_error, 2 not run yet" in message
    assert "run.py memory=strata env=alfworld backbone=simulated backbone.preset=sim_pro seed=2" in message
    assert "allow_partial=true" in message
    assert "no_memory" not in message


def test_the_way_to_go_on_with_a_real_model_names_its_config_file_and_model(make_run: Make, table: Any) -> None:
    settings = {"backbone.model": "openai/gpt-4o-mini"}
    make_run(scores(0, 3) | {"heat-8": None, "heat-9": None}, preset=None, backbone="litellm:m", settings=settings)
    with pytest.raises(DataError, match=r"backbone=litellm backbone\.model=openai/gpt-4o-mini seed=0"):
        table()


def test_a_partial_cell_is_marked_when_it_is_allowed(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory")
    make_run(scores(0, 3) | {"heat-8": None, "heat-9": None})
    built = table(allow_partial=True)
    assert cell(built, "STRATA", "ALFWorld") == "37.5 (sd n/a)\n8/10, seed 0\npartial"
    assert "partial" not in cell(built, "No-Memory", "ALFWorld")
    assert [record["partial"] for record in built.records if record["part"] == "score"] == [False, True]


def test_one_hole_in_each_seed_is_seen_in_the_cell_as_a_whole(make_run: Make, table: Any) -> None:
    for seed in range(3):
        make_run(scores(seed, 3) | {"heat-9": None}, seed=seed)
    with pytest.raises(DataError, match="cannot be shown"):
        table()


def test_a_run_with_no_score_at_all_is_words_and_not_zero(make_run: Make, table: Any) -> None:
    make_run({"heat-1": "env_error", "heat-2": None})
    built = table(allow_partial=True)
    assert cell(built, "STRATA", "ALFWorld") == "no score\n0/2\npartial"
    assert built.records[0]["mean"] is None


def test_a_finished_run_without_its_marker_says_so(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), complete=False)
    assert cell(table(), "STRATA", "ALFWorld").endswith("1 of 1 runs not marked complete")


def test_a_memory_that_was_never_loaded_or_stayed_empty_is_marked(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory")
    make_run(scores(0, 3), memory="flat", stored=0, lines=0)
    make_run(scores(0, 3), memory="strata", stored=5, lines=0)
    built = table()
    assert cell(built, "Flat-Memory", "ALFWorld").endswith("\nmemory stayed empty")
    assert cell(built, "STRATA", "ALFWorld").endswith("\nmemory never shown")
    assert "memory" not in cell(built, "No-Memory", "ALFWorld")


def test_a_memory_that_was_empty_with_one_seed_only_is_marked_too(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), seed=0)
    make_run(scores(0, 3), seed=1, stored=0, lines=0)
    make_run(scores(0, 3), seed=2, lines=0)
    remarks = cell(table(), "STRATA", "ALFWorld").split("\n")[2:]
    assert remarks == ["memory never shown in 1 of 3 runs", "memory stayed empty in 1 of 3 runs"]


def test_the_banner_is_there_exactly_when_a_run_is_simulated(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory", simulated=False, backbone="litellm", preset=None)
    assert table().banner == ""
    make_run(scores(0, 3), memory="strata", simulated=True)
    built = table()
    assert built.banner.startswith("SIMULATED.")
    assert "no reproduction" in built.banner


def test_the_papers_number_stands_beside_ours_with_its_kind(make_run: Make, table: Any) -> None:
    for memory in ("no_memory", "strata"):
        make_run(scores(0, 3), memory=memory)
        make_run(scores(0, 3), memory=memory, env="scienceworld", split="test")
    built = table()
    assert paper_cell(built, "STRATA", "ALFWorld") == "98.6 ± 0.9‡"
    assert paper_cell(built, "No-Memory", "ALFWorld") == "n/a in text"
    assert paper_cell(built, "No-Memory", "ScienceWorld\nraw") == "80.6"
    assert "98.6" not in cell(built, "STRATA", "ALFWorld")
    assert any(note.startswith("‡ inferred") and "Figure 3" in note for note in built.notes)
    assert paper_cell(table(paper="flash"), "No-Memory", "ScienceWorld\nraw") == "75.7"


@pytest.mark.parametrize(
    ("ours", "choice", "expected"),
    [
        ("sim_flash", "auto", "flash"),
        ("sim_pro", "auto", "pro"),
        ("any-model", "auto", "pro"),
        ("sim_pro", "flash", "flash"),
    ],
)
def test_which_of_the_papers_backbones_stands_beside_ours(ours: str, choice: str, expected: str) -> None:
    assert paper_backbone(ours, choice) == expected


def test_a_memory_outside_the_papers_table_says_so(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="awm", label="AWM")
    make_run(scores(0, 3), memory="mine", label="My memory")
    built = table()
    assert paper_cell(built, "AWM", "ALFWorld") == "–"
    assert [row[0] for row in built.grids[0].rows] == [
        "AWM\nnot in the paper's table",
        "My memory\nnot in the paper's table",
    ]


def test_scienceworld_is_shown_clipped_and_raw(make_run: Make, table: Any) -> None:
    make_run({"find-1": -100.0, "find-2": 50.0, "boil-1": 100.0, "boil-2": 0.0}, env="scienceworld", split="test")
    built = table()
    assert cell(built, "STRATA", "ScienceWorld\nscore clipped at 0").startswith("37.5 ")
    assert cell(built, "STRATA", "ScienceWorld\nraw score").startswith("12.5 ")
    assert paper_cell(built, "STRATA", "ScienceWorld\nraw") == "96.7‡"


def test_appworld_counts_tasks_and_scenarios(make_run: Make, table: Any) -> None:
    """Three tasks a scenario; one missed task of a scenario gives TGC 66.7 there and SGC 0."""
    tasks: dict[str, Any] = {f"{name}_{n}": 100.0 for name in ("aaa", "bbb", "ccc") for n in (1, 2, 3)}
    make_run(tasks | {"bbb_2": 0.0}, env="appworld", split="test_normal")
    built = table()
    assert cell(built, "STRATA", "AppWorld TN\nTGC").startswith(f"{100 * 8 / 9:.1f} ")
    assert cell(built, "STRATA", "AppWorld TN\nSGC") == f"{200 / 3:.1f} (sd n/a)\n3/3, seed 0"
    assert paper_cell(built, "STRATA", "AppWorld TN\nTGC") == "78.4 ± 2.5"


def test_a_scenario_with_a_hole_has_no_score(make_run: Make, table: Any) -> None:
    tasks = {"aaa_1": 100.0, "aaa_2": "env_error", "bbb_1": 100.0, "bbb_2": 100.0}
    make_run(tasks, env="appworld", split="test_challenge")
    assert cell(table(), "STRATA", "AppWorld TC\nSGC") == "100.0 (sd n/a)\n1/2, seed 0"


def test_another_environment_gets_its_own_column_and_never_webarenas(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), env="miniwob", split="all")
    built = table()
    assert [head.partition("\n")[0] for head in built.grids[0].head] == ["Memory", "miniwob all"]


def test_only_columns_with_runs_are_shown_unless_all_are_wanted(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3))
    assert len(table().grids[0].head) == 3
    built = table(show="all")
    assert [row[0].partition("\n")[0] for row in built.grids[0].rows] == [
        *("No-Memory", "Flat-Memory", "A-Mem", "AWM", "Hermes", "MemGen", "MemEvolve", "ReasoningBank", "STRATA")
    ]
    assert cell(built, "Hermes", "ALFWorld") == "no run"
    assert cell(built, "STRATA", "WebArena") == "no run"
    assert paper_cell(built, "STRATA", "WebArena") == "45.6 ± 1.6‡"
    assert paper_cell(built, "AWM", "WebArena") == "–"
    assert all(record["mean"] is None for record in built.records if record["remarks"] == "no run")


def test_runs_with_other_settings_do_not_share_a_cell(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), seed=0)
    make_run(scores(1, 4), seed=1)
    make_run(scores(0, 8), seed=0, settings={"memory.top_k": 9}, name="variant")
    built = table()
    assert [row[0] for row in built.grids[0].rows] == [
        "STRATA\nmemory.top_k=9",
        "STRATA\nmemory.top_k=null",
    ]
    assert {row[2] for row in built.grids[0].rows} == {"–"}
    assert any("Choose one with runs=PATTERN" in note for note in built.notes)
    assert cell(built, "STRATA\nmemory.top_k=null", "ALFWorld").startswith("35.0 ± 7.1\n20/20")


def test_a_setting_scaled_to_the_environment_makes_no_variant(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), settings={"memory.cap": 24})
    make_run(scores(0, 3), settings={"memory.cap": 40}, env="scienceworld", split="test")
    assert [row[0] for row in table().grids[0].rows] == ["STRATA"]


def test_a_frozen_memory_from_another_run_for_each_seed_makes_no_variant(make_run: Make, table: Any) -> None:
    for seed in range(2):
        make_run(scores(0, 3), seed=seed, settings={"source.run_id": f"run-{seed}"})
    assert [row[0] for row in table().grids[0].rows] == ["STRATA"]


def test_the_same_seed_twice_is_refused(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), name="one")
    make_run(scores(0, 3), name="two")
    with pytest.raises(DataError, match=r"one and .*two are both strata on ALFWorld with seed 0"):
        table()


@pytest.mark.parametrize(
    ("facts", "warning"),
    [
        ({"settings": {"order": "shuffled"}}, "order differs between runs: by_id (n); shuffled (s)."),
        ({"settings": {"protocol": "offline"}}, "protocol differs between runs: offline (s); online (n)."),
        ({"settings": {"budget.episode_tokens": 9}}, "budget.episode_tokens differs between runs: 9 (s); absent (n)."),
        ({"settings": {"agent.max_tool_calls": 9}}, "agent.max_tool_calls differs between runs: 9 (s); absent (n)."),
        ({"settings": {"agent.episode_seconds": 9}}, "agent.episode_seconds differs between runs: 9 (s); absent (n)."),
        (
            {"settings": {"env.max_steps": 9}},
            "alfworld valid_unseen: env.max_steps differs between runs: 9 (s); absent (n).",
        ),
        ({"versions": {"python": "3.12", "env": {}}}, "version of python differs between runs: 3.11 (n); 3.12 (s)."),
        ({"versions": {"env": {"textworld": "1.6.0"}}}, "env.textworld differs between runs: 1.6.0 (s); 1.7.0 (n)."),
        ({"versions": {"code": {"strata": "d2"}}}, "version of code.strata differs between runs: d1 (n); d2 (s)."),
        ({"seed": 5}, "memories were run with different seeds: 0 (no_memory); 5 (strata)."),
    ],
)
def test_a_difference_between_compared_runs_is_a_warning(
    make_run: Make, table: Any, facts: dict[str, Any], warning: str
) -> None:
    make_run(scores(0, 3), memory="no_memory", name="n")
    make_run(scores(0, 3), memory="strata", name="s", **facts)
    assert [text for text in table().warnings if warning in text]


def test_code_that_only_one_memory_has_is_no_difference(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory", versions={"code": {"strata": "d1", "baselines": "e"}})
    make_run(scores(0, 3), memory="strata", versions={"code": {"strata": "d1", "strata.graph": "f"}})
    assert table().warnings == ()


def test_runs_over_other_tasks_are_a_warning(make_run: Make, table: Any) -> None:
    make_run(scores(0, 3), memory="no_memory", name="n")
    make_run(scores(0, 3, tasks=5), memory="strata", name="s")
    assert any("not over the same tasks: 10 tasks" in text for text in table().warnings)


def test_runs_alike_in_all_give_no_warning(three_memories: Make, table: Any) -> None:
    three_memories()
    assert table().warnings == ()


def test_pairs_are_against_no_memory_and_of_strata_against_the_rest(three_memories: Make, table: Any) -> None:
    three_memories()
    built = table()
    assert [row[0] for row in built.grids[1].rows] == [
        "Flat-Memory − No-Memory",
        "STRATA − No-Memory",
        "STRATA − Flat-Memory",
    ]
    means = {str(record["memory"]): record["mean"] for record in built.records if record["part"] == "score"}
    pairs = [record for record in built.records if record["part"] == "difference"]
    for pair in pairs:
        expected = means[str(pair["memory"])] - means[str(pair["minus"])]  # type: ignore[operator]
        assert pair["mean"] == pytest.approx(expected)
        assert pair["low"] <= pair["mean"] <= pair["high"]  # type: ignore[operator]
        assert pair["n_paired"] == 12


def test_the_same_runs_give_the_same_table(three_memories: Make, table: Any) -> None:
    three_memories()
    assert table() == table()


def test_a_torn_line_is_told(make_run: Make, table: Any) -> None:
    path = make_run(scores(0, 3, tasks=60), name="torn").path / "episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    (path.parent / "complete.json").unlink()
    assert any(text.startswith("torn: the last line was cut off") for text in table().warnings)


def test_the_lines_of_a_record_are_plain_json(three_memories: Make, table: Any) -> None:
    three_memories(seeds=(0,))
    json.dumps(table().records, allow_nan=False)
