"""A client of py4j's server: text commands over one local connection.

py4j's own client is not used because of what it does when a machine hangs or dies: it hides a time-out behind a general
error, sends the command again (a step would be taken twice), and reconnects from finalizers. Here a call is sent once,
and a late or missing answer is an OSError.
"""

from __future__ import annotations

import contextlib
import re
import socket
from dataclasses import dataclass

Value = str | int | float | bool | None


class JavaError(Exception):
    """The machine answered with a Java exception; the text is what it says of itself."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that lives in the machine."""

    id: str


class Wire:
    """One connection. Each command waits for its answer, at most `timeout` seconds.

    Raises TimeoutError, ConnectionError or another OSError when there is none, and JavaError for an exception in Java.
    """

    def __init__(self, port: int, token: str, timeout: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._answers = self._socket.makefile("rb")
        self._ask("A\n" + token + "\n", end="")

    def new(self, name: str, *arguments: str | int | bool | Reference) -> Reference:
        """Make an object of the Java class `name`."""
        made = self._ask("i\n" + name + "\n" + _encode(arguments))
        assert isinstance(made, Reference)
        return made

    def call(self, target: Reference | str, method: str, *arguments: str | int | bool | Reference) -> Value | Reference:
        """Call a method of an object, or a static method of the class that `target` names."""
        place = target.id if isinstance(target, Reference) else "z:" + target
        return self._ask("c\n" + place + "\n" + method + "\n" + _encode(arguments))

    def close(self) -> None:
        """Close the connection. May be called more than once."""
        with contextlib.suppress(OSError):
            self._answers.close()
            self._socket.close()

    def _ask(self, command: str, end: str = "e\n") -> Value | Reference:
        self._socket.sendall((command + end).encode(errors="replace"))
        answer = self._answers.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionResetError("the connection was closed")
        text = answer.decode().removeprefix("!").removesuffix("\n")
        failed, value = text[:1] != "y", _decode(text[1:])
        if failed and isinstance(value, Reference):
            value = self.call(value, "toString")
        if failed:
            raise JavaError(str(value))
        return value


def _encode(arguments: tuple[str | int | bool | Reference, ...]) -> str:
    return "".join(_encode_one(argument) + "\n" for argument in arguments)


def _encode_one(argument: str | int | bool | Reference) -> str:
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
