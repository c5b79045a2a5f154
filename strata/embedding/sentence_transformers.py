"""Any model of the sentence-transformers library, if it is installed; it brings torch along.

Texts are encoded one by one, so that a vector depends on its text alone. On a GPU the last bits may still vary.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.embedding.cache import CachedEmbedder
from strata.embedding.vectors import embed_each
from strata.errors import DataError, UsageError
from strata.protocols import Embedder, Vectors
from strata.settings import read_settings, setting
from strata.types import Json


@dataclass(frozen=True, slots=True)
class SentenceTransformersSettings:
    """Settings of the `sentence_transformers` embedder."""

    model: str = setting("sentence-transformers/all-MiniLM-L6-v2", "name on the model hub, or a folder")
    revision: str | None = setting(None, "commit of the model on the hub; null: the newest, which may change")
    device: str = setting("cpu", "cpu, cuda, mps")
    cache_dir: str | None = setting(None, "folder of the on-disk vector cache; null: none")


class SentenceTransformers:
    """The encoder. The model is loaded when it is built, because only then its dimension is known."""

    def __init__(self, settings: SentenceTransformersSettings) -> None:
        self.name = settings.model
        self._settings = settings
        self._model = _load(settings)
        # Renamed in version 6 of the library.
        dimension = (
            getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        )
        self.dimension = int(dimension())

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Embedder:
        """The encoder, behind the on-disk cache when `cache_dir` is set. Raises UsageError or DataError."""
        settings = read_settings(SentenceTransformersSettings, config, where="embedder")
        inner = cls(settings)
        return CachedEmbedder(inner, Path(settings.cache_dir)) if settings.cache_dir else inner

    @property
    def fingerprint(self) -> str:
        """Model, revision and library versions; a folder of your own is not hashed."""
        versions = " ".join(f"{name} {version(name)}" for name in ("sentence-transformers", "transformers", "torch"))
        return f"{self.name} {self._settings.revision} {self._settings.device} {versions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order; shape (n, dimension)."""
        return embed_each(texts, self.dimension, self._encode)

    def _encode(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self._model.encode([text], show_progress_bar=False, convert_to_numpy=True)[0]
        return vector


def _load(settings: SentenceTransformersSettings) -> Any:
    try:
        library: Any = importlib.import_module("sentence_transformers")
    except ImportError as error:
        raise UsageError(
            f"embedder=sentence_transformers needs a package that is not installed ({error}). "
            "Run: pip install sentence-transformers"
        ) from error
    try:
        return library.SentenceTransformer(settings.model, revision=settings.revision, device=settings.device)
    except (OSError, ValueError) as error:
        raise DataError(f"The model {settings.model} cannot be loaded: {str(error).splitlines()[0]}") from error
