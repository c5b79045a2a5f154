"""How numbers are written. A missing one is words, never 0."""

from __future__ import annotations

from collections.abc import Sequence

NO_SCORE = "no score"


def percent(value: float, *, sign: bool = False) -> str:
    """One decimal, no negative zero; `sign` writes a plus too."""
    text = f"{value:+.1f}" if sign else f"{value:.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text.replace("-", "−")


def spread(mean: float | None, sd: float | None) -> str:
    """`mean ± sd`; the sd of a single seed is n/a."""
    if mean is None:
        return NO_SCORE
    return f"{percent(mean)} (sd n/a)" if sd is None else f"{percent(mean)} ± {percent(sd)}"


def seeds(values: Sequence[int]) -> str:
    """`seed 0`, `seeds 0,1,2`."""
    return f"{'seed' if len(values) == 1 else 'seeds'} {','.join(map(str, values))}"
