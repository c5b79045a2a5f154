"""Rows of length 1, and zero rows for texts that say nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from strata.protocols import Vectors


def unit(row: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """The vector scaled to length 1; a zero vector stays zero."""
    values = np.asarray(row, dtype=np.float64)
    length = float(np.sqrt(np.square(values).sum()))
    return (values / length if length > 0 else values).astype(np.float32)


def embed_each(texts: Sequence[str], dimension: int, encode: Callable[[str], npt.ArrayLike]) -> Vectors:
    """One call of `encode` a text, so that a vector depends on its text alone. Blank texts give zero rows."""
    rows: Vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    for at, text in enumerate(texts):
        if text.strip():
            rows[at] = unit(encode(encodable(text)))
    return rows


def encodable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, shown as replacement characters."""
    return text.encode("utf-8", "replace").decode("utf-8")
