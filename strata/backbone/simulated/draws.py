"""Random draws that depend on named keys alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


class Draws:
    """Numbers in [0, 1) that are a pure function of the seed, the goal and the keys of the call.

    Neither the prompt's wording nor what the memory wrote enters, so that two memories share their luck and an edit
    that changes no meaning changes no draw.
    """

    def __init__(self, seed: int, goal: str, extra: str = "") -> None:
        words = " ".join(goal.lower().split())
        self._base = hashlib.blake2b(f"{seed}\x1f{words}\x1f{extra}".encode(), digest_size=16)

    def uniform(self, *key: str | int) -> float:
        """One number for a key, such as a step index and the name of the decision."""
        state = self._base.copy()
        state.update("\x1f".join(map(str, key)).encode())
        return int.from_bytes(state.digest()[:8], "big") / 2**64

    def happens(self, probability: float, *key: str | int) -> bool:
        """Whether an event of this probability happens."""
        return self.uniform(*key) < probability

    def shuffled(self, items: Iterable[str], *key: str | int) -> list[str]:
        """Items in an order in which each keeps its rank whatever else is in the list."""
        return sorted(items, key=lambda item: (self.uniform(*key, item), item))
