"""A second run in one process looked for official games in the home folder, because the first had imported alfworld."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from envs.alfworld.verify import unpack_games

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (
    "import os; before = dict(os.environ)\n"
    "from envs.alfworld.package import load_alfworld\n"
    "load_alfworld(); load_alfworld()\n"
    "import alfworld.info\n"
    "assert dict(os.environ) == before, set(os.environ.items()) ^ set(before.items())\n"
)


@pytest.mark.parametrize("given", [None, "no-such-folder"])
def test_importing_alfworld_changes_no_variable_and_makes_no_folder(tmp_path: Path, given: str | None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "ALFWORLD_DATA"} | {"HOME": str(tmp_path)}
    if given:
        environment["ALFWORLD_DATA"] = str(tmp_path / given)
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not list(tmp_path.iterdir())


def test_every_import_of_alfworld_comes_after_that_one() -> None:
    for path in sorted((ROOT / "envs").rglob("*.py")):
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        for at, line in enumerate(lines):
            if line.startswith(("from alfworld", "import alfworld")):
                assert "load_alfworld()" in lines[max(0, at - 3) : at], f"{path.name}: {line}"


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    archive, folder = tmp_path / "games.tar", tmp_path / "inside"
    with tarfile.open(archive, "w") as packed:
        for name in ("../outside.txt", "split/game.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 2
            packed.addfile(entry, io.BytesIO(b"ok"))
        link = tarfile.TarInfo("split/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    unpack_games(archive, folder)
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")] == ["split/game.txt"]
    assert not (folder / "split/link").is_symlink()
    assert not (tmp_path / "outside.txt").exists()
