"""Encoders behind an API or an OpenAI-compatible server, through litellm.

Servers may give slightly different vectors for the same text in different batches; the on-disk cache keeps the first.
The money that these calls cost is not counted in a run's budget: the `Embedder` protocol reports no usage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.embedding.cache import CachedEmbedder
from strata.embedding.vectors import encodable, unit
from strata.endpoint import Caller, Endpoint, check_address
from strata.errors import BackboneRefused, TransientBackboneError
from strata.protocols import Embedder, Vectors
from strata.settings import read_settings, setting
from strata.types import Json


@dataclass(frozen=True, slots=True)
class LitellmEmbedderSettings:
    """Settings of the `litellm` embedder."""

    model: str = setting("", "provider/model, such as openai/text-embedding-3-small")
    dimension: int = setting(1536, "length of its vectors; an answer of another length is an error")
    api_base: str | None = setting(None, "address of a server of your own; null: the provider's")
    api_key_env: str | None = setting(None, "environment variable that holds the key; null: the provider's usual one")
    timeout: float = setting(60.0, "seconds without a byte after which a call counts as failed")
    max_retries: int = setting(5, "further tries after a failure that may pass")
    batch_size: int = setting(64, "texts sent in one call")
    cache_dir: str | None = setting(None, "folder of the on-disk vector cache; null: none, every text is paid again")

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ValueError("model is not set. Name one, such as embedder.model=openai/text-embedding-3-small.")
        if self.dimension < 1 or self.batch_size < 1:
            raise ValueError("dimension and batch_size must be at least 1.")
        check_address(self.api_base, self.api_key_env, self.timeout, self.max_retries)


class LitellmEmbedder:
    """Calls one encoder."""

    def __init__(self, settings: LitellmEmbedderSettings) -> None:
        self.name = settings.model
        self.dimension = settings.dimension
        self._settings = settings
        endpoint = Endpoint(
            settings.model, settings.api_base, settings.api_key_env, settings.timeout, settings.max_retries, "embedder"
        )
        endpoint.key()
        self._caller = Caller(endpoint)

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Embedder:
        """The encoder, behind the on-disk cache when `cache_dir` is set. Raises UsageError."""
        settings = read_settings(LitellmEmbedderSettings, config, where="embedder")
        inner = cls(settings)
        return CachedEmbedder(inner, Path(settings.cache_dir)) if settings.cache_dir else inner

    @property
    def fingerprint(self) -> str:
        """Model, address and length: a server gives no checksum of its weights."""
        return f"litellm {self.name} {self._settings.api_base} {self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order; shape (n, dimension). Raises BackboneError or QuotaExhausted."""
        rows: Vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(wanted), self._settings.batch_size):
            part = wanted[start : start + self._settings.batch_size]
            request = {"input": [encodable(texts[at]) for at in part], "encoding_format": "float"}
            vectors = self._caller.call("embedding", request, partial(_vectors, len(part)))
            if vectors.shape[1] != self.dimension:
                raise BackboneRefused(
                    f"{self.name} answers with vectors of length {vectors.shape[1]}, not {self.dimension}. "
                    f"Set embedder.dimension={vectors.shape[1]}."
                )
            for at, vector in zip(part, vectors, strict=True):
                rows[at] = unit(vector)
        return rows


def _vectors(count: int, response: Any) -> npt.NDArray[np.float64]:
    """The vectors of `count` texts in their order. Raises TransientBackboneError when the answer holds others."""
    try:
        items = sorted(response.data or [], key=lambda item: int(item["index"]))
        vectors = np.array([item["embedding"] for item in items], dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
            raise ValueError(f"not {count} vectors of finite numbers")
        return vectors
    except (KeyError, TypeError, ValueError) as error:
        raise TransientBackboneError(f"The endpoint answered with something that is no vector ({error!r}).") from error
