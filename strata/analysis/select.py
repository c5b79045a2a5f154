"""Which runs stand together: one block per backbone, one row per memory and setting, one cell per column.

Only runs that differ in nothing but the seed share a cell. When one memory was run with several settings (an
ablation beside the full method), each setting gets its own row, labelled by the settings that differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from strata.analysis.columns import Column, columns_of
from strata.analysis.records import Manifest, Run
from strata.canonical import dumps
from strata.errors import DataError

MEMORY_ORDER = (
    "no_memory",
    "flat",
    "a_mem",
    "awm",
    "hermes",
    "memgen",
    "memevolve",
    "reasoning_bank",
    "strata",
)
"""The paper's order of rows; others follow by name."""


@dataclass(frozen=True, slots=True)
class Row:
    """The runs of one memory with one setting. `variant` says what sets it apart, empty when nothing does."""

    memory: str
    label: str
    variant: str
    cells: Mapping[str, tuple[Run, ...]]


@dataclass(frozen=True, slots=True)
class Block:
    """All rows of one backbone."""

    backbone: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run of the block once, ordered by name."""
        found = {run.manifest.run_id: run for row in self.rows for runs in row.cells.values() for run in runs}
        return tuple(found[name] for name in sorted(found))


def arrange(runs: Iterable[Run]) -> tuple[Block, ...]:
    """Blocks by backbone name, a `flash` one last as in the paper.

    Raises DataError when two runs claim the same seed of the same cell.
    """
    by_backbone: dict[str, list[Run]] = {}
    for run in runs:
        by_backbone.setdefault(backbone_label(run.manifest), []).append(run)
    names = sorted(by_backbone, key=lambda name: ("flash" in name.lower(), name))
    return tuple(_block(name, by_backbone[name]) for name in names)


def cells_of(blocks: Iterable[Block]) -> Iterable[tuple[Run, ...]]:
    """The runs of every cell."""
    return (runs for block in blocks for row in block.rows for runs in row.cells.values())


def backbone_label(manifest: Manifest) -> str:
    """The model's or preset's name where the configuration has one, else the backbone's."""
    for key in ("backbone.preset", "backbone.model"):
        if isinstance(value := manifest.config.get(key), str) and value:
            return value
    return manifest.backbone


def memory_rank(name: str) -> tuple[int, str]:
    """Sort key for memories: the paper's order, then by name."""
    return (MEMORY_ORDER.index(name) if name in MEMORY_ORDER else len(MEMORY_ORDER), name)


def _block(backbone: str, runs: Sequence[Run]) -> Block:
    columns = columns_of(runs)
    rows = []
    for memory in sorted({run.manifest.memory for run in runs}, key=memory_rank):
        rows += _rows(memory, [run for run in runs if run.manifest.memory == memory], columns)
    return Block(backbone, columns, tuple(rows))


def _rows(memory: str, runs: Sequence[Run], columns: Sequence[Column]) -> list[Row]:
    keys = varying_settings(runs)
    by_variant: dict[str, list[Run]] = {}
    for run in runs:
        by_variant.setdefault(_variant(run.manifest, keys), []).append(run)
    return [
        Row(
            memory,
            chosen[0].manifest.memory_label,
            variant,
            {column.key: _cell(memory, column, chosen) for column in columns if any(map(column.holds, chosen))},
        )
        for variant, chosen in sorted(by_variant.items())
    ]


def _cell(memory: str, column: Column, runs: Sequence[Run]) -> tuple[Run, ...]:
    found = sorted((run for run in runs if column.holds(run)), key=lambda run: run.manifest.seed)
    for one, other in pairwise(found):
        if one.manifest.seed == other.manifest.seed:
            raise DataError(
                f"{one.folder} and {other.folder} are both {memory} on {column.label} with seed {one.manifest.seed} "
                "and the same settings. Move one of them out of the results folder."
            )
    return tuple(found)


def varying_settings(runs: Sequence[Run]) -> tuple[str, ...]:
    """Settings other than the seed that differ between runs on the same environment and split, sorted.

    A setting that differs between environments only (a cap scaled to the task set) tells no variants apart.
    """
    by_env: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    for run in runs:
        by_env.setdefault((run.manifest.env, run.manifest.split), []).append(run.manifest.identity)
    varying = set()
    for identities in by_env.values():
        keys = {key for identity in identities for key in identity if not _follows_seed(key)}
        varying |= {key for key in keys if len({dumps(identity.get(key)) for identity in identities}) > 1}
    return tuple(sorted(varying))


def _follows_seed(key: str) -> bool:
    """Whether a setting differs from seed to seed by nature: the seed, and the run that a frozen memory came from."""
    return key in ("seed", "memory.init_from") or key.startswith("source.")


def _variant(manifest: Manifest, keys: Sequence[str]) -> str:
    return ", ".join(f"{key}={_plain(manifest.identity.get(key))}" for key in keys)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else dumps(value)
