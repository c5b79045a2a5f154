"""The package's own wrapper on the same Java, unchanged, as the reference that the adapter is compared with."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from envs.scienceworld.java import Java


@contextlib.contextmanager
def stock_wrapper(java: Java, options: Sequence[str] = ()) -> Iterator[Any]:
    """A `scienceworld.ScienceWorldEnv`, ended at the end. The package gives Java no options; `options` adds some."""
    from scienceworld import ScienceWorldEnv

    with _java_found(java, options):
        wrapper = ScienceWorldEnv("", envStepLimit=10**9)
    process = wrapper._gateway.java_process
    try:
        yield wrapper
    finally:
        wrapper.close()
        # Its own finalizer closes again, which by then means reconnecting to nothing.
        wrapper.close = lambda: None
        wrapper._obj_tree_tempdir.cleanup()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


def gold_actions(wrapper: Any, name: str, variation: int) -> Sequence[str]:
    """The engine's own solution of a task. From now on each of the wrapper's resets computes it anew."""
    wrapper.load(name, variation, generateGoldPath=True)
    return list(wrapper.get_gold_action_sequence())


@contextlib.contextmanager
def _java_found(java: Java, options: Sequence[str]) -> Iterator[None]:
    """The wrapper starts whatever `java` is first on PATH, and Java reads options from a variable."""
    before = dict(os.environ)
    os.environ["PATH"] = f"{java.program.parent}{os.pathsep}{before.get('PATH', '')}"
    os.environ["JDK_JAVA_OPTIONS"] = " ".join(options)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
