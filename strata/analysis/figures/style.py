"""How the memories look in every figure: colour, line and marker differ each for itself, so grey print works too.

Colours are from the Okabe-Ito set and its neighbours, told apart with the common kinds of colour blindness; the dark
variants are the same hues, lighter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Dashes = tuple[float, ...]
"""Lengths on, off, on, ... in points; empty for a solid line."""


@dataclass(frozen=True, slots=True)
class Style:
    """One line. `light` and `dark` are its colours on a light and a dark ground."""

    light: str
    dark: str
    dashes: Dashes
    marker: str
    width: float = 1.6


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a figure's ground, text, grid and banner."""

    name: Literal["light", "dark"]
    ground: str
    text: str
    grid: str
    alarm: str


LIGHT = Theme("light", "#ffffff", "#1b1f24", "#c4c9d0", "#a11212")
DARK = Theme("dark", "#14181d", "#e6e9ed", "#48505a", "#ff9c94")

STYLES = {
    "no_memory": Style("#6b6b6b", "#a8adb3", (1.2, 1.6), "o"),
    "flat": Style("#c24e00", "#ff8a3d", (5, 1.8), "s"),
    "a_mem": Style("#2f93cf", "#7cc7f2", (6, 1.5, 1.2, 1.5), "^"),
    "awm": Style("#7d6230", "#c9a863", (2.5, 1.2), "v"),
    "hermes": Style("#b37a00", "#f2b632", (8, 2), "D"),
    "memgen": Style("#007e5c", "#35c79e", (4, 1.2, 1.2, 1.2, 1.2, 1.2), "P"),
    "memevolve": Style("#b5578d", "#ec9cc6", (3, 1, 1, 1), "X"),
    "reasoning_bank": Style("#6a4a9c", "#b597e6", (1.2, 1, 4, 1), "*"),
    "strata": Style("#005a8f", "#4fb0ee", (), "h", 2.4),
}
SPARE = (
    Style("#a3243b", "#f2788c", (2, 2), "<"),
    Style("#3f6f1f", "#93cf6a", (7, 1, 2, 1), ">"),
    Style("#1d1d1d", "#ffffff", (3, 3), "p"),
    Style("#7a7a00", "#cfcf4a", (1.2, 3), "d"),
    Style("#005f6b", "#4cc9d6", (9, 3), "H"),
)
"""For memories of third parties and for variants, in order of appearance."""


def styles_for(rows: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Style]:
    """A style for each (memory, variant): the memory's own for its first row, spare ones after that."""
    chosen: dict[tuple[str, str], Style] = {}
    used: set[str] = set()
    spare = 0
    for memory, variant in dict.fromkeys(rows):
        if memory in STYLES and memory not in used:
            chosen[memory, variant] = STYLES[memory]
            used.add(memory)
        else:
            chosen[memory, variant] = SPARE[spare % len(SPARE)]
            spare += 1
    return chosen
