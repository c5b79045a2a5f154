"""What the scripts that only read results share: check the packages, run, print, and turn errors into exit codes."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run_command(command: Callable[[Sequence[str], Path], str]) -> int:
    """Print what `command(arguments, repository)` returns. One message and no traceback for an expected error."""
    runpy.run_path(str(ROOT / "strata" / "guard.py"))["check_packages"](ROOT)
    from strata.errors import StrataError

    try:
        print(command(sys.argv[1:], ROOT), flush=True)
    except StrataError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader (such as `head`) left; keep the interpreter's own flush at exit from failing too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0
