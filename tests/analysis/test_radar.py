"""Radar charts: the numbers drawn, the floor, what is below it, and what is missing."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from strata.analysis.figures.command import make_figures
from strata.analysis.figures.radar import draw_radar, save_radar
from strata.analysis.figures.radar_data import Radar, choose_floor, radar_of
from strata.analysis.figures.style import DARK, LIGHT, SPARE, STYLES, styles_for
from strata.analysis.load import load_runs
from strata.analysis.select import arrange
from strata.errors import DataError, UsageError

Make = Callable[..., Any]


@pytest.fixture
def radar(results: Path) -> Callable[..., Radar]:
    return lambda **options: radar_of(arrange(load_runs(results))[0], **options)


def read(results: Path, *arguments: str, out: str = "figures") -> list[dict[str, str]]:
    """Run the command and read the data it wrote beside the picture."""
    make_figures([f"results_dir={results}", f"out={results / out}", *arguments], results)
    path = next((results / out).glob("*.csv"))
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def texts(figure: Figure) -> str:
    """Everything written on a figure."""
    from matplotlib.text import Text

    return "\n".join(found.get_text() for found in figure.findobj(Text))


def drawn(figure: Figure, series: str) -> list[float]:
    """The radii of a series as matplotlib was given them, without the closing point."""
    lines = [line for axes in figure.axes for line in axes.lines if str(line.get_gid()).endswith(f"/{series}")]
    assert len(lines) == 1
    return [float(radius) for radius in lines[0].get_ydata()][:-1]


def spread_scores(seed: int = 0) -> dict[str, float]:
    """ScienceWorld-like scores in five categories, one of them far below zero."""
    values = {"boil": (80, 60), "find": (-100, -60), "freeze": (70, 90), "grow": (55, 100), "melt": (100, 100)}
    return {
        f"{kind}-{n}": float(pair[n]) - (seed if pair[n] > 0 else 0) for kind, pair in values.items() for n in (0, 1)
    }


def test_points_are_means_over_seeds_of_the_category_means(make_run: Make, results: Path) -> None:
    for seed in range(3):
        make_run(spread_scores(seed), seed=seed, env="scienceworld", split="test")
    rows = {row["category"]: row for row in read(results)}
    assert float(rows["boil"]["value"]) == pytest.approx((70 + 69 + 68) / 3)
    assert float(rows["boil"]["sd_over_seeds"]) == pytest.approx(1.0)
    assert float(rows["find"]["value"]) == -80
    assert (rows["boil"]["n_scored"], rows["boil"]["n_planned"], rows["boil"]["tasks"]) == ("6", "6", "2")
    assert rows["boil"]["seeds"] == "0 1 2"


def test_values_below_the_floor_are_drawn_on_it_and_named_beneath(make_run: Make, results: Path, radar: Any) -> None:
    make_run(spread_scores(), memory="flat", env="scienceworld", split="test")
    rows = {row["category"]: row for row in read(results, "floor=30")}
    assert (rows["find"]["value"], rows["find"]["drawn"], rows["find"]["below_floor"]) == ("-80.0", "30.0", "true")
    assert [row["below_floor"] for name, row in rows.items() if name != "find"] == ["false"] * 4
    figure = draw_radar(radar(floor=30.0))
    assert drawn(figure, "Flat-Memory") == [70.0, 30.0, 80.0, 77.5, 100.0]
    assert figure.axes[0].get_ylim() == (30.0, 100.0)
    written = " ".join(texts(figure).split())
    assert "Below the floor and drawn on it: Flat-Memory: find −80.0." in written
    assert "axes begin at 30, not at 0" in written
    assert "floor 30" in written


def test_what_is_drawn_is_what_the_data_file_says(three_memories: Make, results: Path, radar: Any) -> None:
    three_memories()
    rows = read(results)
    figure = draw_radar(radar())
    for memory, label in (("no_memory", "No-Memory"), ("flat", "Flat-Memory"), ("strata", "STRATA")):
        expected = [float(row["drawn"]) for row in rows if row["memory"] == memory]
        assert drawn(figure, label) == expected
    floor = {float(row["floor"]) for row in rows}
    assert floor == {figure.axes[0].get_ylim()[0]}


def test_categories_carry_their_number_of_tasks(make_run: Make, radar: Any) -> None:
    make_run({"heat-1": 100, "heat-2": 0, "heat-3": 0, "cool-1": 100, "clean_it-1": 0})
    written = texts(draw_radar(radar()))
    for label in ("heat\n(n = 3)", "cool\n(n = 1)", "clean it\n(n = 1)"):
        assert label in written


def test_a_category_without_a_score_is_a_gap_said_in_words_and_not_zero(
    make_run: Make, results: Path, radar: Any
) -> None:
    scores = {f"{kind}-{n}": 100.0 for kind in ("a", "b", "c", "d", "e") for n in range(2)}
    make_run(scores, memory="no_memory")
    make_run(scores | {"c-0": "env_error", "c-1": "env_error"}, memory="strata")
    rows = {(row["memory"], row["category"]): row for row in read(results, "allow_partial=true")}
    assert (rows["strata", "c"]["value"], rows["strata", "c"]["drawn"], rows["strata", "c"]["n_scored"]) == (
        "",
        "",
        "0",
    )
    figure = draw_radar(radar())
    line = next(line for line in figure.axes[0].lines if str(line.get_gid()).endswith("/STRATA"))
    step = 2 * math.pi / 5
    assert list(line.get_xdata()) == pytest.approx([3 * step, 4 * step, 0, step])
    written = " ".join(texts(figure).split())
    assert "No scored episode: STRATA: c." in written
    assert "Partial, tasks are missing: STRATA." in written


def test_an_unfinished_run_is_refused_unless_allowed(make_run: Make, results: Path) -> None:
    make_run({"heat-1": 100, "heat-2": None, "heat-3": None})
    with pytest.raises(DataError, match="Figure 3 cannot be shown"):
        read(results)


def test_the_banner_is_on_a_simulated_figure_only(make_run: Make, results: Path, radar: Any) -> None:
    path = make_run({"heat-1": 100, "cool-1": 0, "clean-1": 0}, simulated=False).path
    assert "SIMULATED" not in texts(draw_radar(radar()))
    (path / "manifest.json").write_text(
        (path / "manifest.json").read_text().replace('"simulated": false', '"simulated": true')
    )
    assert "SIMULATED" in texts(draw_radar(radar()))
    make_figures([f"results_dir={results}"], results)
    assert (results / "figures" / "figure3-sim_pro.csv").read_text().startswith("# SIMULATED")


def test_files_do_not_depend_on_when_they_are_made(
    three_memories: Make, radar: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_memories(seeds=(0,))
    for kind in ("png", "pdf", "svg"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
        first = save_radar(radar(), kind)
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        assert save_radar(radar(), kind) == first
        assert b"nan" not in first.lower() or kind != "svg"


def test_scienceworld_is_drawn_raw_and_appworld_by_task(make_run: Make, radar: Any) -> None:
    make_run({"boil-1": 50, "melt-1": 50}, env="scienceworld", split="test")
    make_run({"aaa_1": 100, "aaa_2": 0}, env="appworld", split="test_normal", categories={"aaa_1": "x", "aaa_2": "y"})
    assert [panel.column.key for panel in radar().panels] == ["appworld_test_normal.tgc", "scienceworld.raw"]


@pytest.mark.parametrize("categories", [1, 2, 3, 30])
def test_any_number_of_categories_can_be_drawn(make_run: Make, radar: Any, categories: int) -> None:
    make_run({f"category number {at}-1": 100.0 * (at % 2) for at in range(categories)})
    figure = draw_radar(radar())
    assert ("Fewer than three categories" in texts(figure)) is (categories < 3)
    assert len(drawn(figure, "STRATA")) == categories


def test_a_label_with_dollar_signs_is_drawn_as_it_is(make_run: Make, radar: Any) -> None:
    make_run({"a$x^{-1": 100, "b-1": 100, "c-1": 0}, label="$\\frac{$")
    save_radar(radar(), "png")
    assert "$\\frac{$" in texts(draw_radar(radar()))


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100), max_size=40), st.booleans())
def test_the_automatic_floor_is_never_zero_and_hides_few_values(values: list[float], negative: bool) -> None:
    floor = choose_floor(values, negative=negative)
    lowest = -100 if negative else 10
    assert floor in range(lowest, 81, 10)
    assert floor != 0
    if floor > lowest:
        assert sum(value <= floor for value in values) <= len(values) / 20


@pytest.mark.parametrize(
    ("values", "negative", "floor"),
    [
        ([50.0, 60.0, 100.0], False, 40),
        ([55.0, 60.0, 100.0], False, 50),
        ([100.0, 100.0], False, 80),
        ([0.0, 90.0], False, 10),
        ([0.0, 90.0], True, -10),
        ([5.0, 90.0], True, -10),
        ([-37.0, 90.0], True, -40),
        ([-100.0, -80.0, 90.0], True, -100),
        ([-100.0] + [75.0] * 19, True, 70),
        ([], False, 10),
        ([], True, 10),
    ],
)
def test_the_floor_lies_under_all_but_the_rarest_values(values: list[float], negative: bool, floor: float) -> None:
    assert choose_floor(values, negative=negative) == floor


def luminance(colour: str) -> float:
    """WCAG relative luminance."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_lines_differ_in_dashes_and_marker_and_stand_out_from_the_ground() -> None:
    styles = [*STYLES.values(), *SPARE]
    assert len({style.marker for style in styles}) == len(styles)
    assert len({style.dashes for style in styles}) == len(styles)
    assert all(contrast(style.light, LIGHT.ground) >= 3 for style in styles)
    assert all(contrast(style.dark, DARK.ground) >= 3 for style in styles)


def test_a_memory_keeps_its_style_and_variants_get_their_own() -> None:
    chosen = styles_for([("strata", ""), ("strata", "k=1"), ("mine", ""), ("flat", "")])
    assert chosen["strata", ""] is STYLES["strata"]
    assert chosen["flat", ""] is STYLES["flat"]
    assert len({style.marker for style in chosen.values()}) == 4


@pytest.mark.parametrize(
    "word", ["figure=9", "floor=0", "floor=100", "floor=-101", "floor=low", "out=a out=b", "nonsense", "x=1"]
)
def test_wrong_options_are_usage_errors(results: Path, word: str) -> None:
    with pytest.raises(UsageError):
        make_figures([f"results_dir={results}", *word.split()], results)
