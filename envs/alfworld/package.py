"""Importing alfworld without what its import does to the process and the disk."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

_VARIABLE = "ALFWORLD_DATA"


def load_alfworld() -> None:
    """Import the package once; to be called before anything of it is imported.

    Left to itself, its import makes a folder for data in the user's home and sets ALFWORLD_DATA to it, so that a second
    run in the same process would look there for official games.
    """
    if "alfworld" in sys.modules:
        return
    given = os.environ.get(_VARIABLE)
    spec = find_spec("alfworld")
    if spec is not None and spec.origin is not None:
        os.environ[_VARIABLE] = str(Path(spec.origin).parent)
    try:
        import_module("alfworld")
    finally:
        os.environ.pop(_VARIABLE, None)
        if given is not None:
            os.environ[_VARIABLE] = given
