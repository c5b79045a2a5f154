"""What is shown while a run goes on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from strata.progress import Live, Plain, Quiet, Tally, open_display
from strata.types import Usage


def line(score: float | None, *, cost: float | None = 0.01, **more: Any) -> dict[str, Any]:
    usage = {"calls": 1, "input_tokens": 9000, "output_tokens": 1000, "cost": cost}
    return {"scored": score is not None, "score": score, "usage": {"act": usage}, **more}


def test_the_score_counts_scored_tasks_alone_and_each_task_once() -> None:
    tally = Tally.of([line(100.0), line(None), line(50.0), line(0.0, out_of_order=True)], 5)
    assert (tally.done, tally.scored, tally.score) == (3, 3, 50.0)
    assert tally.describe() == "score 50.0 (3 scored), 40.0k tokens, $0.0400"


def test_no_scored_task_shows_no_score_and_an_unknown_price_no_dollars() -> None:
    assert Tally.of([line(None, cost=None)], 1).describe() == "no score yet, 10.0k tokens, cost unknown"
    assert Tally(1, usage=Usage(1, 5, 5)).describe() == "no score yet, 10 tokens, $0.0000"


def test_plain_lines_are_rate_limited_and_say_how_long_it_takes() -> None:
    now, stream = [0.0], io.StringIO()
    show = Plain(stream, lambda: now[0])
    show.start("run-1", Tally(10, done=2))
    for done in range(3, 9):
        now[0] += 4.0
        show.update(Tally(10, done=done, scored=done, points=100.0))
    show.warn("careful")
    show.finish(Tally(10, done=10, scored=10, points=500.0), Path("results/run-1"))
    said = stream.getvalue().splitlines()
    assert said[0] == "[run-1] 2/10 episodes committed"
    assert [text.split(":")[0] for text in said[1:3]] == ["[run-1] 5/10", "[run-1] 8/10"]
    assert said[1].endswith("0:00:20 left")
    assert said[3:] == [
        "[run-1] WARNING: careful",
        "[run-1] done: 10/10: score 50.0 (10 scored), 0 tokens, $0.0000 -> results/run-1",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_lines_when_piped_or_shared() -> None:
    assert type(open_display("auto", Terminal(), alone=True)) is Live
    assert type(open_display("auto", Terminal(), alone=False)) is Plain
    assert type(open_display("auto", io.StringIO(), alone=True)) is Plain
    assert type(open_display("plain", Terminal(), alone=True)) is Plain
    assert type(open_display("none", Terminal(), alone=True)) is Quiet


def test_the_bar_shows_the_run_and_gives_the_terminal_back() -> None:
    stream = Terminal()
    show = Live(stream)
    show.start("run-[1]", Tally(4, done=1))
    show.update(Tally(4, done=2, scored=2, points=100.0))
    show.warn("[careful]")
    show.finish(Tally(4, done=4, scored=4, points=100.0), Path("results/run-1"))
    show.close()
    said = stream.getvalue()
    assert "4/4" in said
    assert "score 25.0" in said
    assert "[careful]" in said
    assert said.rstrip().endswith("results/run-1")
    assert "\x1b[?25h" in said


def test_quiet_only_warns() -> None:
    stream = io.StringIO()
    show = Quiet(stream)
    show.start("r", Tally(1))
    show.update(Tally(1, done=1))
    show.warn("w")
    show.finish(Tally(1, done=1), Path("x"))
    assert stream.getvalue() == "[r] WARNING: w\n"
