"""Progress of long preparations on standard error: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

_LINES = 4


@contextlib.contextmanager
def shown_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, total)."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return

    shown = 0

    def line(done: int, total: int) -> None:
        nonlocal shown
        if done * _LINES // total > shown:
            shown = done * _LINES // total
            console.print(f"{title}: {done} of {total}", highlight=False)

    yield line
