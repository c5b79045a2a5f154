"""Prove that our ALFWorld engine shows what the stock engine shows: python scripts/verify_alfworld.py data=FOLDER

Compares observation, admissible commands, reward, done and won at every state of the walkthrough and of random walks
on every game, and replays every walkthrough through the adapter. `--help` lists the options.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from _command import run_command


def _verify(arguments: Sequence[str], _: Path) -> str:
    from envs.alfworld.verify import VerifyOptions, verify
    from strata.analysis.options import asks_for_help, read_options, usage

    if asks_for_help(arguments):
        return usage(VerifyOptions)
    return verify(read_options(VerifyOptions, arguments), os.environ.get("ALFWORLD_DATA", ""))


if __name__ == "__main__":
    sys.exit(run_command(_verify))
