"""WordLlama read directly from its package's files gives what the package gives, without importing it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from strata.embedding.wordllama import WEIGHTS, WordLlama

TEXTS = ["put a hot apple in the fridge", "Heat tin until it melts.", "naïve café 你好", "word " * 600]


def test_vectors_equal_those_of_the_package():
    code = (
        "import json, sys, wordllama; from pathlib import Path\n"
        "m = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)\n"
        "print(json.dumps([m.embed(t, norm=True)[0].tolist() for t in json.load(sys.stdin)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(TEXTS), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = np.array(json.loads(done.stdout.splitlines()[-1]))
    assert np.abs(WordLlama().embed(TEXTS) - expected).max() < 1e-5


def test_vector_does_not_depend_on_the_other_texts_of_the_call():
    encoder = WordLlama()
    assert encoder.embed(TEXTS).tobytes() == np.vstack([encoder.embed([text]) for text in TEXTS]).tobytes()


def test_blank_texts_are_zero_rows_and_others_have_length_one():
    rows = WordLlama().embed(["an apple", "", "  "])
    assert rows.shape == (3, 256)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0], abs=1e-6)


def test_embedding_needs_neither_the_package_import_nor_a_network_library():
    code = (
        "import sys; from strata.embedding.wordllama import WordLlama; WordLlama.build({}).embed(['x']);"
        "print([m for m in ('wordllama', 'requests', 'torch', 'litellm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_fingerprint_names_the_weights():
    assert WEIGHTS.sha256 in WordLlama().fingerprint
