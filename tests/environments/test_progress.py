"""Progress lines where no terminal is."""

from __future__ import annotations

from envs._progress import shown_progress


def test_a_pipe_gets_a_line_for_each_quarter_also_when_progress_comes_in_jumps(capsys) -> None:
    with shown_progress("Making") as progress:
        for done in (*range(4, 134, 4), 134):
            progress(done, 134)
    assert capsys.readouterr().err.splitlines() == [f"Making: {done} of 134" for done in (36, 68, 104, 134)]
