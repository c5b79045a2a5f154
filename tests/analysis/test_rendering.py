"""Markdown, LaTeX and CSV of a table: hostile text stays text, numbers survive, the banner is on top."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.analysis.load import load_runs
from strata.analysis.published import load_published
from strata.analysis.tables import BUILDERS, latex, markdown
from strata.analysis.tables.latex import render_latex
from strata.analysis.tables.markdown import render_markdown
from strata.analysis.tables.model import Grid, Request, Table
from strata.analysis.tables.numbers import percent, spread
from strata.analysis.tables.tidy import render_csv

HOSTILE = '<script>alert(1)</script> | \\end{table} $x^2$ 100% & #1 _a_ {b} ~ `c` [d](javascript:e) "q" 中 é \x00\n'


def plain(banner: str = "", label: str = "A", **record: Any) -> Table:
    return Table(
        number=1,
        title=f"Title {label}",
        banner=banner,
        grids=(Grid(f"Caption {label}", ("Memory", f"Column {label}"), ((label, "1.0 ± 0.1\n3/3"),)),),
        warnings=(f"Warning {label}",),
        notes=(f"Note {label} −1 † ‡ –",),
        records=({"memory": label, "mean": 1.0, **record},),
    )


@settings(deadline=None)
@given(st.floats(-100, 100))
def test_a_percent_reads_back_within_its_rounding_and_has_no_negative_zero(value: float) -> None:
    for text in (percent(value), percent(value, sign=True)):
        assert abs(float(text.replace("−", "-")) - value) <= 0.05 + 1e-9
        assert not re.fullmatch(r"[−+-]0\.0", text)


@settings(deadline=None)
@given(st.none() | st.floats(-100, 100), st.none() | st.floats(0, 100))
def test_a_spread_shows_a_number_or_words_and_never_nan(mean: float | None, sd: float | None) -> None:
    text = spread(mean, sd)
    assert "nan" not in text.lower()
    assert (mean is None) == (text == "no score")
    assert ("sd n/a" in text) == (mean is not None and sd is None)


@settings(deadline=None)
@given(st.text())
def test_markdown_escape_leaves_no_markup(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped
    bare = re.sub(r"\\[\\`*_{}\[\]<>#|~$&!]", "", escaped)
    assert not set("\\`*{}[]<>#|~$&!") & set(bare)


@settings(deadline=None)
@given(st.text())
def test_latex_escape_is_ascii_and_balanced(text: str) -> None:
    escaped = latex.escape(text)
    assert escaped.isascii()
    assert all(character.isprintable() for character in escaped)
    bare = re.sub(r"\\(textbackslash|textasciicircum|textasciitilde|pm|dagger|ddagger|cdot)|\\[{}$&#%_]", "", escaped)
    assert "\\" not in bare
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("&#%_~") & set(bare)


def test_hostile_text_stays_text_in_markdown() -> None:
    text = render_markdown(plain(banner=f"SIMULATED {HOSTILE}", label=HOSTILE))
    assert "<script" not in text.replace("\\<script", "")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {3}


@pytest.mark.parametrize("render", [render_markdown, render_latex, render_csv])
def test_the_banner_comes_before_any_number(render: Callable[[Table], str]) -> None:
    text = render(plain(banner="SIMULATED numbers"))
    assert 0 <= text.index("SIMULATED numbers") < text.index("1.0")
    assert "SIMULATED" not in render(plain())


def test_every_latex_grid_carries_the_banner() -> None:
    table = plain(banner="SIMULATED numbers")
    twice = Table(1, table.title, table.banner, table.grids * 2, (), table.notes, table.records)
    assert render_latex(twice).count("SIMULATED numbers") == 2


def test_csv_reads_back_the_very_same_numbers() -> None:
    values = [0.1 + 0.2, 100 / 3, -100.0, 0.0, 1e-9, None]
    table = plain()
    rows = tuple({"memory": str(at), "mean": value, "simulated": True} for at, value in enumerate(values))
    text = render_csv(Table(1, "t", "SIMULATED", (), ("w,\n1",), (), rows))
    assert text.startswith("# SIMULATED\n# warning: w, 1\nmemory,mean,simulated\n")
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
    read = [float(row["mean"]) if row["mean"] else None for row in csv.DictReader(lines)]
    assert read == values
    assert render_csv(table).count("\n") == 3


@settings(deadline=None)
@given(st.text())
def test_csv_keeps_text_on_one_line_and_defuses_formulas(text: str) -> None:
    lines = render_csv(Table(1, "t", "", (), (), (), ({"memory": text, "x": 1},)))
    read = next(iter(csv.DictReader(io.StringIO(lines, newline=""))))["memory"]
    line = "".join(character if character.isprintable() else " " for character in text)
    assert read in (line, f"'{line}")
    assert not read.startswith(("=", "+", "-", "@"))


def test_a_real_table_has_one_csv_row_a_cell(three_memories: Any, results: Path, repository: Path) -> None:
    three_memories()
    published = load_published(repository / "results" / "published" / "numbers.yaml")
    table = BUILDERS[1](Request(load_runs(results), published))
    lines = [line for line in render_csv(table).splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    assert [row["part"] for row in rows] == ["score"] * 3 + ["difference"] * 3
    for row, record in zip(rows, table.records, strict=True):
        assert float(row["mean"]) == record["mean"]
        assert math.isfinite(float(row["mean"]))
        assert row["simulated"] == "true"
    assert [row["paper_value"] for row in rows[:3]] == ["", "", "98.6"]


def test_latex_with_hostile_text_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    table = plain(banner=f"SIMULATED {HOSTILE}", label=HOSTILE + "--``'' ?` !` ß Ω ﬁ ½ − † ‡ · – |x| a^b")
    head, tail = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n", "\\end{document}\n"
    (tmp_path / "table.tex").write_text(head + render_latex(table) + tail, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "table.pdf").stat().st_size > 1000
