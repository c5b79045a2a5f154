"""Games for the ALFWorld tests: a few generated ones, and the official ones where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.alfworld.environment import TRANSLATIONS
from envs.alfworld.generator import generate_games
from envs.alfworld.verify import unpack_games

ARCHIVE = Path(__file__).resolve().parents[3] / "shared/data/alfworld/valid_unseen.tar.gz"


@pytest.fixture(scope="session")
def alfworld_cache(tmp_path_factory) -> Path:
    """Translated problems and generated games, shared by all tests of a session."""
    return tmp_path_factory.mktemp("alfworld")


@pytest.fixture(scope="session")
def generated(alfworld_cache) -> Path:
    """The split folder of six generated games, one of each task type."""
    return generate_games(
        alfworld_cache / "games", alfworld_cache / TRANSLATIONS, split="valid_unseen", seed=0, per_category=1
    ).folder


@pytest.fixture(scope="session")
def official(tmp_path_factory) -> Path:
    """The split folder of the 134 official evaluation games."""
    if not ARCHIVE.is_file():
        pytest.skip(f"no official games: {ARCHIVE} is not there")
    folder = tmp_path_factory.mktemp("official")
    unpack_games(ARCHIVE, folder)
    return folder / "valid_unseen"
