"""A game's PDDL translated for the planner's library, kept on disk by content.

Translating takes most of a game's load time and depends on domain and problem alone, but the stock engine does it
four times per load and reset. What it yields is plain data: the planning task as text (SAS), and the names, types
and first facts that the game's texts are made from.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from strata.canonical import digest, pack, unpack
from strata.errors import CorruptStateError

_FORMAT = "1"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Translation:
    """What translating a domain and problem yields.

    `sas` is the planning task for `load_sas`. `types` are (name, supertypes) in the order of declaration; `objects`
    maps names to types; `parameters` maps actions to their (name, type) pairs; `facts` are the (predicate, arguments)
    true at the start; `fluents` are the predicates that actions can change.
    """

    sas: str
    types: tuple[tuple[str, tuple[str, ...]], ...]
    objects: dict[str, str]
    parameters: dict[str, tuple[tuple[str, str], ...]]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    fluents: tuple[str, ...]


def translate(domain: str, problem: str, library: Any) -> Translation:
    """Run the planner's translator. `library` is a loaded `libdownward`, left holding this task.

    Raises whatever the translator raises on text that is no PDDL: its errors have no common base.
    """
    import fast_downward

    with _arguments_restored():
        task, sas = fast_downward.pddl2sas(domain, problem)
    library.load_sas(sas.encode())
    atoms = (fast_downward.Atom * library.get_state_size())()
    library.get_state(atoms)
    names = [atom.name for atom in atoms]
    facts = dict.fromkeys(_initial_facts(task.init))
    facts.update(dict.fromkeys(read_atom(name)[1] for name in names if name.startswith("Atom ")))
    return Translation(
        sas=sas,
        types=tuple((kind.name, tuple(kind.supertype_names)) for kind in task.types),
        objects={thing.name: thing.type_name for thing in task.objects},
        parameters={
            action.name: tuple((parameter.name.strip("?"), parameter.type_name) for parameter in action.parameters)
            for action in task.actions
        },
        facts=tuple(facts),
        fluents=tuple(sorted({read_atom(name)[1][0] for name in names})),
    )


def read_atom(name: str) -> tuple[bool, tuple[str, tuple[str, ...]]]:
    """`Atom on(a, b)` -> (True, ("on", ("a", "b"))); False for `NegatedAtom ...`."""
    kind, _, rest = name.partition(" ")
    predicate, _, arguments = rest.partition("(")
    return kind == "Atom", (predicate, tuple(part for part in arguments[:-1].split(", ") if part))


class TranslationCache:
    """Translations on disk, one file each, named by what they were made from.

    A file carries a checksum: a damaged one is made anew. A folder that cannot be written costs time, not the run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._engine = f"{_FORMAT} fast-downward-textworld {version('fast-downward-textworld')}"

    def path(self, domain: str, problem: str) -> Path:
        """Where the translation of a domain and problem is kept."""
        key = digest("\0".join((self._engine, domain, problem)))
        return self._folder / key[:2] / f"{key}.sas.z"

    def get(self, domain: str, problem: str, library: Any) -> Translation:
        """The translation, from disk or made now. Raises as `translate` does."""
        path = self.path(domain, problem)
        known = self._read(path)
        if known is None:
            known = translate(domain, problem, library)
            self._write(path, known)
        return known

    def _read(self, path: Path) -> Translation | None:
        try:
            document, _ = unpack(zlib.decompress(path.read_bytes()), source=str(path))
        except FileNotFoundError:
            return None
        except (OSError, zlib.error, CorruptStateError) as error:
            _log.warning("ALFWorld: %s is damaged and is made anew (%s)", path, error)
            return None
        return Translation(
            sas=document["sas"],
            types=tuple((name, tuple(parents)) for name, parents in document["types"]),
            objects=document["objects"],
            parameters={
                action: tuple((name, kind) for name, kind in pairs) for action, pairs in document["parameters"].items()
            },
            facts=tuple((predicate, tuple(arguments)) for predicate, arguments in document["facts"]),
            fluents=tuple(document["fluents"]),
        )

    def _write(self, path: Path, translation: Translation) -> None:
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_bytes(zlib.compress(pack(asdict(translation)), 6))
            scratch.replace(path)
        except OSError as error:
            _log.warning("ALFWorld: a translation cannot be kept in %s (%s)", path.parent, error.strerror or error)
            with contextlib.suppress(OSError):
                scratch.unlink()


def _initial_facts(init: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The facts that the stock engine takes from a task: no equalities, costs or distances."""
    from fast_downward.translate.pddl.conditions import Atom
    from fast_downward.translate.pddl.f_expression import Assign

    for entry in init:
        if isinstance(entry, Atom) and entry.predicate != "=":
            yield entry.predicate, tuple(entry.args)
        elif isinstance(entry, Assign) and entry.fluent.symbol != "total-cost":
            value = str(entry.expression.value)
            if not value.isdigit():
                yield value, tuple(entry.fluent.args)


@contextlib.contextmanager
def _arguments_restored() -> Iterator[None]:
    """The translator replaces `sys.argv` by arguments of its own and leaves it so."""
    kept = sys.argv
    try:
        yield
    finally:
        sys.argv = kept
