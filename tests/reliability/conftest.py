"""Makes the harness's own test parts importable by name, and keeps run directories in memory where that is possible."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

DOUBLES = (Path(__file__).parent / "../core/doubles").resolve()
if str(DOUBLES) not in sys.path:
    sys.path.insert(0, str(DOUBLES))


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory: a commit syncs half a dozen times, and a disk takes milliseconds for each."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared if os.access(shared, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _quick_provenance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts about the machine and packages cost tens of milliseconds a run and are tested elsewhere."""
    monkeypatch.setattr("strata.store.host_facts", dict)
    monkeypatch.setattr("strata.plan.package_versions", dict)
