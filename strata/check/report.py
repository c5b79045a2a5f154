"""Running checks one by one and saying what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from strata.errors import StrataError

T = TypeVar("T")


class CheckFailed(Exception):
    """The object under test breaks its contract. The message names the fault and its usual cause."""


class Note(Exception):
    """Allowed, but worth a look."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check gave. `check` is what was checked, in words."""

    check: str
    result: Literal["ok", "note", "fault"]
    message: str = ""

    def __str__(self) -> str:
        return f"{self.result:5}  {self.check}" + (f"\n       {self.message}" if self.message else "")


def demand(condition: bool, message: str) -> None:
    """Raises CheckFailed with the message unless the condition holds."""
    if not condition:
        raise CheckFailed(message)


def run_checks(checks: Iterable[Callable[[T], None]], subject: T) -> list[Finding]:
    """One finding a check. An exception of the object under test is a fault like any other."""
    findings = []
    for check in checks:
        words = (check.__doc__ or check.__name__).strip().splitlines()[0]
        try:
            check(subject)
        except Note as note:
            findings.append(Finding(words, "note", str(note)))
        except CheckFailed as failure:
            findings.append(Finding(words, "fault", str(failure)))
        except StrataError as error:
            findings.append(Finding(words, "fault", f"It raised {type(error).__name__}: {error}"))
        except Exception as error:  # noqa: BLE001  foreign code under test may raise anything; it is reported
            findings.append(Finding(words, "fault", f"It raised {type(error).__name__}: {error}{_place(error)}"))
        else:
            findings.append(Finding(words, "ok"))
    return findings


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})" if trace else ""
