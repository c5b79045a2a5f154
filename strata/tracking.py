"""Weights & Biases beside the local files, for those who want it: `tracking=wandb`.

The run directory stays the truth; nothing is read back. `WANDB_MODE=offline` keeps everything on this machine. Keys and
paths are left out of what is sent, as they are of the run directory.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from strata.budget import total_tokens
from strata.config import RunSettings, as_mapping, recorded_config, results_folder
from strata.errors import UsageError
from strata.progress import Display, Tally

PROJECT = "strata-bench"


class Tracked:
    """A display that also sends each committed episode's running totals."""

    def __init__(self, inner: Display, settings: RunSettings) -> None:
        self._inner = inner
        self._settings = settings
        self._wandb = _import_wandb()
        self._run: Any = None

    def start(self, title: str, tally: Tally) -> None:
        """Begin, or go on with, the tracked run of the same name."""
        self._inner.start(title, tally)
        try:
            self._run = self._wandb.init(
                project=PROJECT,
                id=title,
                name=title,
                resume="allow",
                dir=str(results_folder(self._settings)),
                config=recorded_config(as_mapping(self._settings)),
                settings=self._wandb.Settings(disable_git=True, console="off", silent=True),
            )
        except self._wandb.Error as error:
            raise UsageError(
                f"tracking=wandb: {error} Set WANDB_API_KEY, or WANDB_MODE=offline, or leave tracking=none."
            ) from error

    def update(self, tally: Tally) -> None:
        """Send the totals. A number that is not known is not sent."""
        self._inner.update(tally)
        totals = {
            "scored": tally.scored,
            "score": tally.score,
            "tokens": total_tokens(tally.usage),
            "cost": tally.usage.cost,
        }
        self._run.log({name: value for name, value in totals.items() if value is not None}, step=tally.done)

    def warn(self, text: str) -> None:
        """Only shown."""
        self._inner.warn(text)

    def finish(self, tally: Tally, folder: Path) -> None:
        """End the tracked run."""
        self._inner.finish(tally, folder)
        self._run.finish()
        self._run = None

    def close(self) -> None:
        """End the tracked run after an error; it can be resumed."""
        self._inner.close()
        if self._run is not None:
            self._run.finish(exit_code=1)


def _import_wandb() -> ModuleType:
    try:
        import wandb
    except ImportError as error:
        raise UsageError(
            f"tracking=wandb needs the package wandb ({error}). Install it: pip install -e '.[wandb]', or leave "
            "tracking=none; everything is in the run directory either way."
        ) from error
    module: ModuleType = wandb
    return module
