"""Model files that come inside installed packages: found without importing the package, checked before use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from strata.errors import DataError


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of an installed package. `sha256` pins its content: other weights would give other vectors."""

    package: str
    distribution: str
    path: str
    sha256: str

    def verified(self) -> Path:
        """Where the file is. Raises DataError when it is missing or is not the pinned one."""
        spec = find_spec(self.package)
        roots = list(spec.submodule_search_locations or []) if spec else []
        if not roots:
            raise DataError(f"Package {self.distribution} is not installed. Run: pip install {self.distribution}")
        path = Path(roots[0], self.path)
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}). {self._repair()}") from error
        if found != self.sha256:
            raise DataError(
                f"{path} is not the file this project was measured with: SHA-256 {found}, expected {self.sha256}. "
                f"{self._repair()}"
            )
        return path

    def _repair(self) -> str:
        return f"Reinstall the version that pyproject.toml names: pip install --force-reinstall {self.distribution}"
