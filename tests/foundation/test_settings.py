"""A config group becomes a typed object, or an error that names the key."""

from dataclasses import dataclass
from typing import Literal

import pytest

from strata.errors import UsageError
from strata.settings import describe, read_settings, setting


@dataclass(frozen=True)
class Inner:
    rate: float = setting(0.5, "A share.")

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate={self.rate} must lie between 0 and 1.")


@dataclass(frozen=True)
class Outer:
    count: int = setting(3, "How many.")
    mode: Literal["a", "b"] = setting("a", "Which.")
    cap: int | None = setting(None, "At most.")
    names: tuple[str, ...] = setting((), "Names.")
    on: bool = setting(True, "Switch.")
    inner: Inner = setting(Inner(), "Nested.")
    extra: dict[str, str] = setting({}, "Free.")


def test_defaults_and_values() -> None:
    values = {"_target_": "x.Y", "name": "n", "count": 4, "names": ["p"], "inner": {"rate": 1}, "extra": {"k": "v"}}
    read = read_settings(Outer, values, where="memory")
    assert read == Outer(count=4, names=("p",), inner=Inner(rate=1.0), extra={"k": "v"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cuont": 1}, r"memory\.cuont: unknown key.*count"),
        ({"count": "many"}, r"memory\.count=many: must be a whole number"),
        ({"count": 1.5}, r"memory\.count=1\.5: must be a whole number"),
        ({"count": True}, r"memory\.count=True: must be a whole number"),
        ({"count": None}, r"memory\.count=None"),
        ({"mode": "c"}, r"memory\.mode=c: must be one of a, b"),
        ({"cap": "x"}, r"memory\.cap=x: must be a whole number"),
        ({"names": "p"}, r"memory\.names=p: must be a list"),
        ({"names": [1]}, r"memory\.names\[0\]=1: must be text"),
        ({"on": "yes"}, r"memory\.on=yes: must be true or false"),
        ({"inner": 3}, r"memory\.inner=3: must be a group"),
        ({"inner": {"rate": 2}}, r"memory\.inner: rate=2\.0 must lie between 0 and 1"),
        ({"inner": {"x": 2}}, r"memory\.inner\.x: unknown key"),
        ({"extra": 3}, r"memory\.extra=3"),
    ],
)
def test_a_wrong_value_is_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_settings(Outer, values, where="memory")


def test_every_setting_has_its_sentence() -> None:
    assert describe(Outer)["inner.rate"] == "A share."
    assert all(describe(Outer).values())
