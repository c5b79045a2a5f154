"""Ties and limits hold as on paper: what floats do to the last bits must not decide.

Equal values that were added up in another order differ by some 1e-16. Ranks, ties by age of creation and limits such as
"exactly 0.6 is rejected" would then hang on that order. Thresholds are computed as fractions and rounded once; other
sums, roots and quotients are settled to 12 decimals before they are compared. Similarities are compared as they are.
"""

from __future__ import annotations

from fractions import Fraction

DECIMALS = 12


def exactly(number: float) -> Fraction:
    """A number of the configuration as it is written: 0.92 is 23/25."""
    return Fraction(repr(number))


def settled(number: float) -> float:
    """A computed number without its last bits."""
    return round(number, DECIMALS)
