"""WordLlama: the mean of the static token vectors of a small table. About a hundred times faster than MiniLM, and
less exact.

The table (256 dimensions) and the tokenizer are files of the PyPI package, pinned by SHA-256 and read directly:
importing the package would reconfigure the root logger, and its loader falls back to downloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.embedding.cache import CachedEmbedder
from strata.embedding.package_files import PackageFile
from strata.embedding.vectors import embed_each
from strata.protocols import Embedder, Vectors
from strata.settings import read_settings, setting
from strata.types import Json

WEIGHTS = PackageFile(
    package="wordllama",
    distribution="wordllama",
    path="weights/l2_supercat_256.safetensors",
    sha256="64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = PackageFile(
    package="wordllama",
    distribution="wordllama",
    path="tokenizers/l2_supercat_tokenizer_config.json",
    sha256="93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)


@dataclass(frozen=True, slots=True)
class WordLlamaSettings:
    """Settings of the `wordllama` embedder."""

    cache_dir: str | None = setting(None, "folder of the on-disk vector cache; null: none (reading it is no faster)")


class WordLlama:
    """The encoder. Files are read at the first call of `embed`."""

    name = "wordllama"
    dimension = 256

    def __init__(self, weights: PackageFile = WEIGHTS, tokenizer: PackageFile = TOKENIZER) -> None:
        self._files = (weights, tokenizer)
        self._loaded: tuple[npt.NDArray[np.float32], Any] | None = None

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Embedder:
        """The encoder, behind the on-disk cache when `cache_dir` is set. Raises UsageError."""
        settings = read_settings(WordLlamaSettings, config, where="embedder")
        return CachedEmbedder(cls(), Path(settings.cache_dir)) if settings.cache_dir else cls()

    @property
    def fingerprint(self) -> str:
        """What the vectors depend on besides the text."""
        return f"{self.name} {' '.join(file.sha256 for file in self._files)}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order; shape (n, 256). Raises DataError when a model file is wrong."""
        return embed_each(texts, self.dimension, self._encode)

    def _encode(self, text: str) -> npt.NDArray[np.float32]:
        table, tokenizer = self._loaded or self._load()
        ids = np.array(tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int64)
        if not len(ids):
            return np.zeros(self.dimension, dtype=np.float32)
        mean: npt.NDArray[np.float32] = table[np.clip(ids, 0, len(table) - 1)].mean(axis=0)
        return mean

    def _load(self) -> tuple[npt.NDArray[np.float32], Any]:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights, tokenizer_file = (file.verified() for file in self._files)
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._loaded = (load_file(weights)["embedding.weight"].astype(np.float32), tokenizer)
        return self._loaded
