"""One Java virtual machine that serves the engine's objects, and that never outlives this process.

Three things end it: `close`, the end of its standard input (which the kernel closes when this process ends), and, when
it was started from the main thread on Linux, the kernel's parent-death signal, which also works where a forked child
still holds the other end of that input, or where the machine no longer reacts.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, TypeVar

import envs._parent_death
from envs.scienceworld.java import FLAGS, Java, java_environ
from envs.scienceworld.wire import Argument, JavaError, Reference, Value, Wire
from strata.errors import DataError, EnvironmentFailure, EnvironmentTimeout

T = TypeVar("T")
_INTERFACE = "scienceworld.runtime.pythonapi.PythonInterface"
_START_SECONDS = 120.0
_LAST_WORDS = "stderr.txt"
_TAIL_CHARACTERS = 2000


class Machine:
    """A running virtual machine and the engine's interface in it.

    Whatever goes wrong in a call ends the machine: what is left of its state cannot be trusted.
    """

    def __init__(self, java: Java, *, timeout: float) -> None:
        """Start it. `timeout` bounds each call, in seconds. Raises EnvironmentFailure, EnvironmentTimeout."""
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="scienceworld-")
        self._process = _start(java, Path(self._folder.name))
        self._end = weakref.finalize(self, _end, self._process, self._folder)
        self._wire: Wire | None = None
        try:
            port, token = self._greeting()
            self._interface = self._attempt(lambda: self._connect(port, token), "the start of the engine")
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the virtual machine."""
        return self._process.pid

    def call(self, method: str, *arguments: Argument, of: Reference | None = None) -> Value | Reference:
        """Call a method of the engine's interface, or of another object in the machine.

        Raises EnvironmentFailure, EnvironmentTimeout.
        """
        return self._attempt(lambda: self._connected().call(of or self._interface, method, *arguments), method)

    def fetch(self, method: str, *arguments: Argument, of: Reference | None = None) -> Reference:
        """Call a method that returns an object. The machine keeps it until `release`."""
        found = self.call(method, *arguments, of=of)
        if not isinstance(found, Reference):
            self._fail(f"{method} returned {found!r} in place of an object; the engine is of another version")
        return found

    def release(self, reference: Reference) -> None:
        """Let the machine forget an object."""
        self._attempt(lambda: self._connected().release(reference), "release")

    def close(self) -> None:
        """End the machine. May be called more than once."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._end()

    def _connected(self) -> Wire:
        if self._wire is None:
            raise EnvironmentFailure("ScienceWorld: the Java machine was ended; the next episode starts a new one.")
        return self._wire

    def _connect(self, port: int, token: str) -> Reference:
        """Connect with the token, which only this process has read, and make the engine's interface."""
        self._wire = wire = Wire(port, token, self._timeout)
        # The engine prints a page a step. Must come before its first print: Scala keeps the stream that it finds then.
        nowhere = wire.new("java.io.PrintStream", wire.new("java.io.FileOutputStream", os.devnull))
        wire.call("java.lang.System", "setOut", nowhere)
        return wire.new(_INTERFACE)

    def _greeting(self) -> tuple[int, str]:
        """The port and the token, which the machine prints first."""
        assert self._process.stdout is not None
        deadline, said = time.monotonic() + _START_SECONDS, b""
        while said.count(b"\n") < 2:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self._fail_late("the Java machine did not start", _START_SECONDS)
            part = os.read(self._process.stdout.fileno(), 4096)
            if not part:
                break
            said += part
        port, _, token = said.decode(errors="replace").partition("\n")
        if not port.isdigit():
            self._fail("the Java machine did not start", said=said.decode(errors="replace"))
        return int(port), token.strip()

    def _attempt(self, action: Callable[[], T], what: str) -> T:
        try:
            return action()
        except JavaError as error:
            self._fail(f"the engine failed in {what}: {error}", error)
        except TimeoutError as error:
            self._fail_late(f"{what} was not answered", self._timeout, error)
        except OSError as error:
            self._fail(f"{what} was not answered ({error})", error)

    def _fail(self, what: str, error: Exception | None = None, said: str = "") -> NoReturn:
        """End the machine and raise what happened to it."""
        if not isinstance(error, JavaError):
            # It is dying; its status and last words say why.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
        status, said = self._process.poll(), " ".join(f"{said} {_tail(Path(self._folder.name))}".split())
        self.close()
        gone = f"; the Java machine ended with status {status}" if status is not None else ""
        said = f" It said: {said}" if said else ""
        raise EnvironmentFailure(f"ScienceWorld: {what}{gone}. The next episode starts a new machine.{said}") from error

    def _fail_late(self, what: str, seconds: float, error: Exception | None = None) -> NoReturn:
        self.close()
        raise EnvironmentTimeout(
            f"ScienceWorld: {what} within {seconds:g} seconds; the Java machine was ended and the next episode starts "
            "a new one. On a very slow computer raise env.timeout."
        ) from error


def engine_jar() -> Path:
    """The engine's file in the installed package. Raises DataError."""
    spec = find_spec("scienceworld")
    jar = Path(spec.origin).with_name("scienceworld.jar") if spec and spec.origin else None
    if jar is None or not jar.is_file():
        raise DataError(f"ScienceWorld's engine is missing ({jar or 'no package'}). Install it: `make setup`.")
    return jar


def jar_digest() -> str:
    """SHA-256 of the engine's file, which holds all tasks too."""
    with engine_jar().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _start(java: Java, folder: Path) -> subprocess.Popen[bytes]:
    """Start a machine that works, and writes what it has to say, in `folder`."""
    from py4j.java_gateway import find_jar_path

    server = find_jar_path()
    if not server:
        raise DataError("py4j's Java part is missing from this Python environment. Install it anew: `make setup`.")
    # The engine reads this file, and writes it when it meets a type of thing that is not in it.
    shutil.copy(engine_jar().with_name("object_type_ids.tsv"), folder)
    command = [str(java.program), *FLAGS, "-classpath", os.pathsep.join([server, str(engine_jar())])]
    command += ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    if threading.current_thread() is threading.main_thread():
        command = [sys.executable, "-I", "-S", envs._parent_death.__file__, str(os.getpid()), *command]
    try:
        with (folder / _LAST_WORDS).open("wb") as errors:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=java_environ(os.environ),
                # Ctrl-C is for us: a machine that it ended first would spoil the episode that is being finished.
                start_new_session=True,
            )
    except OSError as error:
        raise EnvironmentFailure(f"ScienceWorld: {java.program} cannot be started: {error}.") from error


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    folder.cleanup()


def _tail(folder: Path) -> str:
    text = (folder / _LAST_WORDS).read_text(encoding="utf-8", errors="replace")
    return text[-_TAIL_CHARACTERS:]
