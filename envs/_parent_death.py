"""Start a program that the kernel kills when its parent dies, however that happens (Linux).

Run as a script, with the interpreter's `-I -S`:  _parent_death.py PARENT_PID PROGRAM [ARGUMENT ...]
The process becomes the program, so it keeps its pid, its standard streams and its exit status.

The kernel watches the *thread* that started the process, so only a parent's main thread may use this. Elsewhere than
on Linux it just becomes the program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PARENT_GONE = 113


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then become the program."""
    parent, program = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # It died before the line above took effect.
            sys.exit(_PARENT_GONE)
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
