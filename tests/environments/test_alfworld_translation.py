"""The cache of translated problems: found by content, checked, rebuilt."""

from __future__ import annotations

import logging
from pathlib import Path

import fast_downward
import pytest

from envs.alfworld.dataset import GAME_FILE, read_game
from envs.alfworld.translation import TranslationCache, read_atom, translate


@pytest.fixture(scope="module")
def library():
    return fast_downward.load_lib()


@pytest.fixture(scope="module")
def game(generated) -> dict[str, str]:
    """The smallest game."""
    return read_game(min(generated.glob(f"*/*/{GAME_FILE}"), key=lambda file: file.stat().st_size))


@pytest.fixture
def filled(tmp_path, game, library) -> tuple[TranslationCache, Path]:
    """A cache that holds the game, and the file it is in."""
    cache = TranslationCache(tmp_path / "cache")
    cache.get(game["pddl_domain"], game["pddl_problem"], library)
    return cache, cache.path(game["pddl_domain"], game["pddl_problem"])


@pytest.fixture
def translations(monkeypatch) -> list[str]:
    """The problems that were really translated from now on."""
    seen: list[str] = []
    real = fast_downward.pddl2sas

    def counted(domain: str, problem: str, **options: object) -> object:
        seen.append(problem)
        return real(domain, problem, **options)

    monkeypatch.setattr(fast_downward, "pddl2sas", counted)
    return seen


def test_a_second_load_translates_nothing_and_gives_the_same(filled, game, library, translations) -> None:
    cache, _ = filled
    again = cache.get(game["pddl_domain"], game["pddl_problem"], library)
    assert translations == []
    assert again == translate(game["pddl_domain"], game["pddl_problem"], library)
    assert len(translations) == 1


@pytest.mark.parametrize("at", [0, 0.1, 0.5, 0.9, 0.999])
def test_a_flipped_byte_is_noticed_and_the_entry_made_anew(filled, game, library, translations, caplog, at) -> None:
    cache, path = filled
    good = path.read_bytes()
    position = int(len(good) * at)
    path.write_bytes(good[:position] + bytes([good[position] ^ 0x20]) + good[position + 1 :])
    with caplog.at_level(logging.WARNING):
        cache.get(game["pddl_domain"], game["pddl_problem"], library)
    assert len(translations) == 1
    assert str(path) in caplog.text
    assert path.read_bytes() == good


def test_a_torn_entry_is_made_anew(filled, game, library, translations) -> None:
    cache, path = filled
    path.write_bytes(path.read_bytes()[:1000])
    cache.get(game["pddl_domain"], game["pddl_problem"], library)
    cache.get(game["pddl_domain"], game["pddl_problem"], library)
    assert len(translations) == 1


def test_every_part_of_the_source_has_its_own_entry(filled, game) -> None:
    cache, path = filled
    domain, problem = game["pddl_domain"], game["pddl_problem"]
    others = {cache.path(domain + " ", problem), cache.path(domain, problem + " "), cache.path(problem, domain)}
    assert len(others | {path}) == 4


def test_writing_leaves_nothing_else_behind(filled) -> None:
    _, path = filled
    assert [file for file in path.parents[1].rglob("*") if file.is_file()] == [path]


def test_a_cache_that_cannot_be_written_costs_time_and_not_the_run(tmp_path, game, library, caplog) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = TranslationCache(tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        assert cache.get(game["pddl_domain"], game["pddl_problem"], library).sas.startswith("begin_version")
    assert "cannot be kept" in caplog.text


def test_atoms_are_read() -> None:
    assert read_atom("Atom on(a, b)") == (True, ("on", ("a", "b")))
    assert read_atom("NegatedAtom new-axiom@0()") == (False, ("new-axiom@0", ()))
