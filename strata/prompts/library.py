"""Prompt files: loading, filling, hashing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from strata.canonical import digest
from strata.errors import UsageError

_HEAD = re.compile(r"version: (\d+)\n")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt text. `fill` replaces `$name` and refuses a missing or unknown name."""

    name: str
    version: int
    text: str

    def fill(self, **values: str) -> str:
        """The text with every `$name` replaced."""
        template = Template(self.text)
        names = set(template.get_identifiers())
        if names != set(values):
            raise UsageError(
                f"Prompt {self.name}: its placeholders are {sorted(names)}, but {sorted(values)} are given. "
                "A replaced prompt file must use the same placeholders as the original."
            )
        return template.substitute(values)


class PromptLibrary:
    """The project's prompts with a user's replacements (name -> file)."""

    def __init__(self, replacements: Mapping[str, str] | None = None) -> None:
        self._root = Path(str(files("strata.prompts")))
        self._replacements = dict(replacements or {})
        known = set(self.names())
        for name in self._replacements:
            if name not in known:
                raise UsageError(f"prompts.{name}: no such prompt. There are: {', '.join(sorted(known))}.")

    def names(self, owner: str = "**") -> list[str]:
        """Names of all prompts, or of one owner's."""
        found = self._root.glob(f"{owner}/*.txt")
        return sorted(path.relative_to(self._root).with_suffix("").as_posix() for path in found)

    def get(self, name: str) -> Prompt:
        """One prompt. Raises UsageError when the file is missing or has no version line."""
        path = Path(self._replacements.get(name, self._root / f"{name}.txt"))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"Prompt {name}: cannot read {path} ({error}).") from error
        head = _HEAD.match(text)
        if head is None:
            raise UsageError(f"Prompt {name}: {path} must start with a line 'version: N'.")
        return Prompt(name, int(head[1]), text[head.end() :])

    def hashes(self, owners: list[str]) -> dict[str, str]:
        """Name -> SHA-256 of every prompt of the owners, replacements included."""
        names = [name for owner in owners for name in self.names(owner)]
        return {name: digest(self.get(name).text) for name in names}
