"""A client of py4j's server: text commands over one local connection.

py4j's own client is not used because of what it does when a machine hangs or dies: it hides a time-out behind a general
error, sends the command again (a step would be taken twice), and reconnects from finalizers. Here a call is sent once,
and a late or missing answer is an OSError.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

Value = str | int | float | bool | None


class JavaError(Exception):
    """The machine answered with a Java exception; the text is what it says of itself."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that lives in the machine."""

    id: str


Argument = str | int | bool | Reference
"""What a method can be given."""


class Wire:
    """One connection. Each command waits for its answer, at most `timeout` seconds.

    Raises TimeoutError, ConnectionError or another OSError when there is none, and JavaError for an exception in Java.
    """

    def __init__(self, port: int, token: str, timeout: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._answers = self._socket.makefile("rb")
        self._ask(f"A\n{token}\n")

    def new(self, name: str, *arguments: Argument) -> Reference:
        """Make an object of the Java class `name`."""
        made = self._ask(f"i\n{name}\n{_encode(arguments)}e\n")
        assert isinstance(made, Reference)
        return made

    def call(self, target: Reference | str, method: str, *arguments: Argument) -> Value | Reference:
        """Call a method of an object, or a static method of the class that `target` names."""
        place = target.id if isinstance(target, Reference) else "z:" + target
        return self._ask(f"c\n{place}\n{method}\n{_encode(arguments)}e\n")

    def release(self, reference: Reference) -> None:
        """Let the machine forget an object, which it keeps for us until then."""
        self._ask(f"m\nd\n{reference.id}\ne\n")

    def close(self) -> None:
        """Close the connection. May be called more than once."""
        with contextlib.suppress(OSError):
            self._answers.close()
            self._socket.close()

    def _ask(self, command: str) -> Value | Reference:
        # One command at a time: the machine holds back a second short answer until the first is acknowledged, which
        # takes the kernel 40 ms when nothing is sent.
        self._socket.sendall(command.encode(errors="replace"))
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise ConnectionResetError("the connection was closed")
        answer = line.decode().removeprefix("!").removesuffix("\n")
        failed, value = answer[:1] != "y", _decode(answer[1:])
        if failed and isinstance(value, Reference):
            value = self.call(value, "toString")
        if failed:
            raise JavaError(str(value))
        return value


def _encode(arguments: Iterable[Argument]) -> str:
    return "".join(_encode_one(argument) + "\n" for argument in arguments)


def _encode_one(argument: Argument) -> str:
    if isinstance(argument, Reference):
        return "r" + argument.id
    if isinstance(argument, bool):
        return "b" + str(argument).lower()
    if isinstance(argument, int):
        return f"i{argument}"
    return "s" + argument.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")


def _decode(text: str) -> Value | Reference:
    kind, body = text[:1], text[1:]
    if kind == "s":
        return re.sub(r"\\(.)", lambda escape: {"n": "\n", "r": "\r"}.get(escape[1], escape[1]), body)
    if kind in ("i", "L"):
        return int(body)
    if kind == "d":
        return float(body)
    if kind == "b":
        return body.lower() == "true"
    if kind in ("v", "n", ""):
        return None
    return Reference(body)
