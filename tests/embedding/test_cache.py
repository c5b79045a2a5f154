"""The on-disk vector cache: it saves work, never changes a vector, and its loss never stops a run."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from strata.embedding.cache import CachedEmbedder
from strata.embedding.minilm import MiniLM
from strata.embedding.wordllama import WordLlama

TEXTS = [f"put object number {number} into the drawer" for number in range(40)]


class Counting:
    """The real encoder, counting the texts it is asked for."""

    def __init__(self):
        self.inner, self.asked = WordLlama(), []
        self.name, self.dimension, self.fingerprint = self.inner.name, self.inner.dimension, self.inner.fingerprint

    def embed(self, texts):
        self.asked += texts
        return self.inner.embed(texts)


def database(folder):
    (path,) = folder.glob("*.sqlite")
    return path


def test_hits_give_the_same_bytes_and_ask_the_encoder_nothing(tmp_path):
    first, second = Counting(), Counting()
    fresh = CachedEmbedder(first, tmp_path).embed(TEXTS)
    cached = CachedEmbedder(second, tmp_path).embed(TEXTS[::-1])[::-1]
    assert fresh.tobytes() == cached.tobytes() == WordLlama().embed(TEXTS).tobytes()
    assert (len(first.asked), second.asked) == (len(TEXTS), [])


def test_warm_minilm_does_not_load_onnxruntime(tmp_path):
    expected = MiniLM.build({"cache_dir": str(tmp_path)}).embed(TEXTS[:2])
    code = (
        "import sys; from strata.embedding.minilm import MiniLM;"
        f"rows = MiniLM.build({{'cache_dir': {str(tmp_path)!r}}}).embed({TEXTS[:2]!r});"
        "print('onnxruntime' in sys.modules, rows.tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", expected.tobytes().hex()]


def test_repeated_and_blank_texts(tmp_path):
    encoder = Counting()
    rows = CachedEmbedder(encoder, tmp_path).embed(["b", "", "a", "b", "  "])
    assert encoder.asked == ["b", "a"]
    assert rows[0].tobytes() == rows[3].tobytes()
    assert not rows[[1, 4]].any()


def test_other_encoder_or_other_weights_never_share_a_vector(tmp_path):
    one, other = Counting(), Counting()
    other.fingerprint += " other weights"
    CachedEmbedder(one, tmp_path).embed(["text"])
    CachedEmbedder(other, tmp_path).embed(["text"])
    assert other.asked == ["text"]
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_entry_with_a_flipped_byte_is_computed_again_and_repaired(tmp_path):
    cache = CachedEmbedder(Counting(), tmp_path)
    expected = cache.embed(TEXTS)
    cache._store.close()
    with sqlite3.connect(database(tmp_path)) as connection:
        key, blob = connection.execute("SELECT key, vector FROM vectors LIMIT 1").fetchone()
        damaged = bytes([blob[0] ^ 1]) + blob[1:]
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (damaged, key))
    connection.close()
    again, later = Counting(), Counting()
    assert CachedEmbedder(again, tmp_path).embed(TEXTS).tobytes() == expected.tobytes()
    assert len(again.asked) == 1
    assert CachedEmbedder(later, tmp_path).embed(TEXTS).tobytes() == expected.tobytes()
    assert later.asked == []


@pytest.mark.parametrize("wrong", [b"", b"short", None, 7, "text"])
def test_entry_of_a_wrong_shape_is_computed_again(tmp_path, wrong):
    cache = CachedEmbedder(Counting(), tmp_path)
    expected = cache.embed(["text"])
    cache._store.close()
    with sqlite3.connect(database(tmp_path)) as connection:
        connection.execute("UPDATE vectors SET vector = ?", (wrong,))
    connection.close()
    assert CachedEmbedder(Counting(), tmp_path).embed(["text"]).tobytes() == expected.tobytes()


def assert_run_goes_on_with_one_warning(folder, caplog):
    encoder = Counting()
    cache = CachedEmbedder(encoder, folder)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert cache.embed(TEXTS).tobytes() == WordLlama().embed(TEXTS).tobytes()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "not cached" in caplog.text
    assert len(encoder.asked) == 3 * len(TEXTS)


def test_damaged_file_costs_the_cache_not_the_run(tmp_path, caplog):
    cache = CachedEmbedder(Counting(), tmp_path)
    cache.embed(TEXTS)
    cache._store.close()
    for stale in (*tmp_path.glob("*-wal"), *tmp_path.glob("*-shm")):
        stale.unlink()
    database(tmp_path).write_bytes(b"not a database" * 1000)
    assert_run_goes_on_with_one_warning(tmp_path, caplog)


def test_folder_that_cannot_be_made_costs_the_cache_not_the_run(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    assert_run_goes_on_with_one_warning(tmp_path / "file" / "cache", caplog)


def test_file_held_by_a_stuck_writer_costs_the_cache_not_the_run(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("strata.embedding.cache._BUSY_SECONDS", 0.05)
    CachedEmbedder(Counting(), tmp_path).embed(["x"])
    holder = sqlite3.connect(database(tmp_path), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert_run_goes_on_with_one_warning(tmp_path, caplog)
    finally:
        holder.close()


def test_full_disk_costs_the_cache_not_the_run(tmp_path):
    code = """
        import resource, sys, logging, hashlib
        from pathlib import Path
        from strata.embedding.cache import CachedEmbedder
        from strata.embedding.wordllama import WordLlama
        logging.basicConfig(format="WARNED %(message)s")
        texts = [f"text number {n}" for n in range(400)]
        cache = CachedEmbedder(WordLlama(), Path(sys.argv[1]))
        cache.embed(texts[:3])
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        rows = [cache.embed(texts) for _ in range(3)]
        expected = WordLlama().embed(texts)
        print(all(row.tobytes() == expected.tobytes() for row in rows))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
    assert done.stderr.count("WARNED") == 1


def test_processes_writing_at_once_lose_nothing(tmp_path):
    code = (
        "import sys; from strata.embedding.wordllama import WordLlama;"
        "e = WordLlama.build({'cache_dir': sys.argv[1]}); start = int(sys.argv[2]);"
        "[e.embed([f'text {start + n}', f'shared {n}']) for n in range(150)]"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(1000 * number)], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    assert [worker.communicate()[1] for worker in workers] == [b""] * 4
    encoder = Counting()
    texts = [f"text {1000 * number + n}" for number in range(4) for n in range(150)]
    texts += [f"shared {n}" for n in range(150)]
    rows = CachedEmbedder(encoder, tmp_path).embed(texts)
    assert encoder.asked == []
    assert rows.tobytes() == WordLlama().embed(texts).tobytes()


def test_writer_killed_at_work_leaves_a_readable_file(tmp_path):
    code = (
        "import sys; from strata.embedding.wordllama import WordLlama; e = WordLlama.build({'cache_dir': sys.argv[1]});"
        "n = 0\nwhile True:\n  e.embed([f'text {n}']); n += 1\n  if n == 50: print('go', flush=True)"
    )
    worker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert worker.stdout.readline() == b"go\n"
    worker.kill()
    worker.communicate()
    encoder = Counting()
    texts = [f"text {n}" for n in range(50)]
    assert CachedEmbedder(encoder, tmp_path).embed(texts).tobytes() == WordLlama().embed(texts).tobytes()
    assert encoder.asked == []


def test_text_that_utf8_cannot_hold_is_cached(tmp_path):
    cache = CachedEmbedder(Counting(), tmp_path)
    assert np.array_equal(cache.embed(["a \ud83d b"]), cache.embed(["a \ud83d b"]))
    assert (cache.hits, cache.misses) == (1, 1)
