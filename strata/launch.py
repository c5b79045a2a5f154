"""From a command line to finished runs: one cell, or a sweep of cells through Hydra's launchers.

Hydra composes, sweeps and launches; it owns no run directory. In a sweep each cell leaves a small file in the sweep's
folder, whatever becomes of it, and the end of the sweep lists those that did not finish.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, OverrideParseException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from strata.config import RunSettings, read_run_settings
from strata.durable import make_folder, replace_file
from strata.errors import StrataError, UsageError
from strata.progress import Display, open_display
from strata.runner import run_pass
from strata.tracking import Tracked

DONE, FAILED, USAGE, PAUSED, INTERRUPTED = 0, 1, 2, 3, 130
_UNKNOWN_KEY = re.compile(r"Could not (?:override|delete from config)[^']*'([^']+)'|Key '([^']+)' is not in struct")
_DISK = {errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST}


def run_cell(config: DictConfig) -> None:
    """Run the cell that a composed configuration describes. In a sweep, errors become the cell's file."""
    job = HydraConfig.get()
    if job.mode is not RunMode.MULTIRUN:
        try:
            _run(read_run_settings(config), alone=True)
        except (StrataError, OmegaConfBaseException) as error:
            raise SystemExit(_report(error)) from error  # past Hydra, which would print more
        return
    code, message = _attempt(lambda: _run(read_run_settings(config), alone=False))
    entry = {"overrides": list(job.overrides.task), "code": code, "message": message}
    folder = Path(job.sweep.dir)
    make_folder(folder)
    replace_file(folder / f"cell-{job.job.num:04d}.json", json.dumps(entry, indent=1).encode() + b"\n")


class SweepReport(Callback):  # type: ignore[misc]
    """Hydra's hook at the end of a sweep: lists the cells that did not finish and ends the process accordingly."""

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Raises SystemExit unless every cell is done."""
        files = sorted(Path(config.hydra.sweep.dir).glob("cell-*.json"))
        cells = [json.loads(path.read_bytes()) for path in files]
        unfinished = [cell for cell in cells if cell["code"] != DONE]
        if not unfinished:
            return
        sys.stderr.write(f"\n{len(unfinished)} of {len(cells)} cells did not finish:\n")
        for cell in unfinished:
            state = "paused" if cell["code"] == PAUSED else "failed"
            message = cell["message"].replace("\n", "\n      ")
            sys.stderr.write(f"  {state}: {' '.join(cell['overrides'])}\n      {message}\n")
        raise SystemExit(PAUSED if all(cell["code"] == PAUSED for cell in unfinished) else FAILED)


def command_line(main: Callable[[], None]) -> int:
    """Run a Hydra application and turn how it ends into an exit status and at most one message.

    What is not foreseen here is a bug and keeps its traceback.
    """
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # else Hydra prints errors itself and ends with 1
    # Hydra's parser takes no flag between overrides.
    sys.argv[1:] = sorted(sys.argv[1:], key=lambda word: word not in ("-m", "--multirun"))
    try:
        _refuse_added_keys(sys.argv[1:])
        main()
    except (StrataError, HydraException, OmegaConfBaseException) as error:
        return _report(error)
    except BrokenProcessPool:
        return _complain(
            "A worker of the sweep was killed, perhaps for lack of memory (hydra.launcher.n_jobs=1 needs less). "
            "What is committed is safe; start the same command again to go on.",
            FAILED,
        )
    except KeyboardInterrupt:
        return _complain("Interrupted. What is committed is safe; start the same command again to go on.", INTERRUPTED)
    except OSError as error:
        if error.errno not in _DISK:
            raise
        return _complain(f"{error.filename}: cannot be written ({error.strerror}). Choose results_dir=FOLDER.", FAILED)
    return DONE


def _run(settings: RunSettings, *, alone: bool) -> None:
    show: Display = open_display(settings.progress, sys.stderr, alone=alone)
    with closing(show if settings.tracking == "none" else Tracked(show, settings)) as show:
        result = run_pass(settings, show=show)
    if result.unscored:
        raise StrataError(
            f"{result.folder}: finished, but trouble left {len(result.unscored)} of {result.tally.planned} tasks "
            f"without a score: {', '.join(result.unscored)}. Start the same command again to try them once more."
        )


def _attempt(work: Callable[[], None]) -> tuple[int, str]:
    try:
        work()
    except StrataError as error:
        return error.exit_code, str(error)
    except OmegaConfBaseException as error:
        return USAGE, _hydra_message(error)
    except Exception:  # noqa: BLE001  one cell's bug must not take the other cells down; it is kept in its file
        return FAILED, traceback.format_exc()
    return DONE, ""


def _refuse_added_keys(arguments: list[str]) -> None:
    """Only keys that a configuration file declares can be given, so that no secret gets into one."""
    for argument in arguments:
        if argument.startswith("+") and not argument.lstrip("+").startswith(("prompts.", "backbone.extra.")):
            key = argument.lstrip("+").partition("=")[0]
            raise UsageError(f"+{key}: keys cannot be added. API keys are read from environment variables alone.")


def _hydra_message(error: Exception) -> str:
    """What Hydra found wrong, without its search path and the advice that does not hold here."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip() and not line.startswith("    ")]
    if isinstance(error, OverrideParseException):
        return f"{error.override}: cannot be read ({lines[0]}). Write KEY=VALUE, and quote special characters."
    unknown = _UNKNOWN_KEY.match(lines[0])
    if unknown:
        key = unknown[1] or unknown[2]
        return f"{key}: unknown key. configs/config.yaml and the files of the chosen groups list the keys."
    if lines[0].startswith("Error merging override") and error.__cause__ is not None:
        return f"{lines[0]} ({str(error.__cause__).splitlines()[0]})"
    return "\n".join(lines[: lines.index("Config search path:")] if "Config search path:" in lines else lines)


def _report(error: Exception) -> int:
    """Print one message and return the exit status."""
    if isinstance(error, StrataError):
        return _complain(str(error), error.exit_code)
    return _complain(_hydra_message(error), USAGE)


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"Error: {message}\n" if code in (FAILED, USAGE) else f"{message}\n")
    return code
