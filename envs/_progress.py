"""Progress of long preparations: a bar on a terminal, plain log lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator

_log = logging.getLogger(__name__)
_LINES = 5


@contextlib.contextmanager
def shown_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, total); the bar goes to standard error and is removed at the end."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: _log_line(title, done, total)
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _log_line(title: str, done: int, total: int) -> None:
    if done == total or done * _LINES // total > (done - 1) * _LINES // total:
        _log.info("%s: %d of %d", title, done, total)
