"""The sentence-transformers adapter: a clear message without the library, its vectors with it."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from strata.embedding.minilm import TOKENIZER
from strata.embedding.sentence_transformers import SentenceTransformers
from strata.errors import DataError, UsageError

installed = importlib.util.find_spec("sentence_transformers") is not None


@pytest.mark.skipif(installed, reason="sentence-transformers is installed")
def test_missing_library_says_what_to_install():
    with pytest.raises(UsageError, match="pip install sentence-transformers"):
        SentenceTransformers.build({"model": "any"})


@pytest.fixture
def model_folder(tmp_path):
    """A tiny BERT with random weights and MiniLM's tokenizer, saved as the library saves models."""
    library = pytest.importorskip("sentence_transformers", reason="optional library, not part of the locked packages")
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    shape = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    BertModel(shape).save_pretrained(tmp_path / "bert")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER.verified()), pad_token="[PAD]")
    tokenizer.save_pretrained(tmp_path / "bert")
    # A folder of plain transformers files is read with mean pooling.
    library.SentenceTransformer(str(tmp_path / "bert"), device="cpu").save(str(tmp_path / "model"))
    return tmp_path / "model"


def test_vectors_are_the_librarys_of_length_one(model_folder):
    library = pytest.importorskip("sentence_transformers")
    encoder = SentenceTransformers.build({"model": str(model_folder)})
    texts = ["put a hot apple in the fridge", "", "look"]
    rows = encoder.embed(texts)
    expected = library.SentenceTransformer(str(model_folder), device="cpu").encode(texts, normalize_embeddings=True)
    assert rows.shape == (3, 32)
    assert np.abs(rows[[0, 2]] - expected[[0, 2]]).max() < 1e-5
    assert not rows[1].any()
    assert encoder.embed(texts[::-1])[::-1].tobytes() == rows.tobytes()


def test_missing_model_says_so(tmp_path):
    pytest.importorskip("sentence_transformers", reason="optional library, not part of the locked packages")
    with pytest.raises(DataError, match="cannot be loaded"):
        SentenceTransformers.build({"model": str(tmp_path / "nothing here")})
