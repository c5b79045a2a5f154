"""Table 1: the score of every memory in every environment, and how the memories differ when paired.

Paper: Table 1 and its discussion. Rows are memories, columns environments, one block per backbone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.analysis.checks import banner, differences, require_complete, shared_settings
from strata.analysis.columns import PAPER_COLUMNS, Column
from strata.analysis.measure import Measurement, measure
from strata.analysis.published import ABSENT, Kind, Published, PublishedNumber
from strata.analysis.select import Block, Row, arrange, cells_of, memory_rank
from strata.analysis.tables.model import Grid, Request, Table, Value
from strata.analysis.tables.numbers import seeds, spread
from strata.analysis.tables.pairs import NOTE, pair_grid, pair_record, pairs_of

LABELS = {
    "no_memory": "No-Memory",
    "flat": "Flat-Memory",
    "a_mem": "A-Mem",
    "awm": "AWM",
    "hermes": "Hermes",
    "memgen": "MemGen",
    "memevolve": "MemEvolve",
    "reasoning_bank": "ReasoningBank",
    "strata": "STRATA",
}
"""The memories that the paper compares or discusses."""
NOT_IN_PAPER = "not in the paper's table"
NO_RUN = "no run"


@dataclass(frozen=True, slots=True)
class _Cell:
    row: Row
    column: Column
    ours: Measurement | None
    paper: PublishedNumber | None


def build_table1(request: Request) -> Table:
    """Table 1. Raises DataError when a cell has too many holes and partial results are not allowed."""
    blocks = arrange(request.runs)
    if not request.allow_partial:
        require_complete("Table 1", cells_of(blocks))
    grids: list[Grid] = []
    records: list[Mapping[str, Value]] = []
    cited: list[PublishedNumber] = []
    for block in blocks:
        paper = paper_backbone(block.backbone, request.paper)
        lines = _lines(block, request, paper)
        grids.append(_grid(block, paper, lines, request.published))
        records += [_record(block, paper, cell) for line in lines for cell in line]
        cited += [cell.paper for line in lines for cell in line if cell.paper is not None]
        if pairs := pairs_of(block):
            grids.append(pair_grid(block, pairs))
            records += [pair_record(block, pair) for pair in pairs]
    return Table(
        number=1,
        title="Scores by memory and environment",
        banner=banner(request.runs),
        grids=tuple(grids),
        warnings=tuple(_warnings(blocks)),
        notes=tuple(_notes(blocks, cited)),
        records=tuple(records),
    )


def paper_backbone(ours: str, choice: str) -> str:
    """Which of the paper's two backbones stands beside ours: `flash` when ours says so in its name, else `pro`."""
    if choice != "auto":
        return choice
    return "flash" if "flash" in ours.lower() else "pro"


def _lines(block: Block, request: Request, paper: str) -> list[list[_Cell]]:
    """The cells of each row."""
    columns, rows = list(block.columns), list(block.rows)
    if request.show == "all":
        columns = [*PAPER_COLUMNS, *(column for column in columns if column not in PAPER_COLUMNS)]
        absent = set(LABELS) - {row.memory for row in rows}
        rows = sorted(
            [*rows, *(Row(memory, LABELS[memory], "", {}) for memory in absent)],
            key=lambda row: (memory_rank(row.memory), row.variant),
        )
    return [[_cell(row, column, request.published, paper) for column in columns] for row in rows]


def _cell(row: Row, column: Column, published: Published, paper: str) -> _Cell:
    runs = row.cells.get(column.key)
    comparable = column.published if not row.variant else None
    number = published.find("table1", row.memory, comparable, paper) if comparable else None
    return _Cell(row, column, measure(runs, column.metric) if runs else None, number)


def _grid(block: Block, paper: str, lines: Sequence[Sequence[_Cell]], published: Published) -> Grid:
    head = ["Memory"]
    for cell in lines[0]:
        head.append(cell.column.heading)
        if cell.column.published:
            head.append(f"paper,\n{paper.capitalize()}")
    rows = []
    for line in lines:
        row = line[0].row
        in_paper = row.memory in published.memories
        texts = [_row_label(row, in_paper)]
        for cell in line:
            texts.append(_ours(cell.ours))
            if cell.column.published:
                texts.append(_paper(cell.paper) if in_paper and not row.variant else "–")
        rows.append(tuple(texts))
    return Grid(f"Backbone: {block.backbone}", tuple(head), tuple(rows))


def _row_label(row: Row, in_paper: bool) -> str:
    parts = [row.label]
    if row.variant:
        parts.append(row.variant)
    if not in_paper:
        parts.append(NOT_IN_PAPER)
    return "\n".join(parts)


def _ours(found: Measurement | None) -> str:
    if found is None:
        return NO_RUN
    counts = f"{found.scored}/{found.planned}" + (f", {seeds(found.seeds)}" if found.seeds else "")
    return "\n".join((spread(found.mean, found.sd), counts, *found.remarks))


def _paper(number: PublishedNumber | None) -> str:
    return ABSENT if number is None else number.text


def _warnings(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        yield from (f"{block.backbone}: {warning}" for warning in differences(block.runs))
        for run in block.runs:
            if run.torn:
                yield f"{run.manifest.run_id}: the last line was cut off by a crash and is not counted."


def _notes(blocks: Sequence[Block], cited: Sequence[PublishedNumber]) -> Iterable[str]:
    yield (
        "Scores: mean ± sample standard deviation over seeds of each run's mean over its scored tasks; then "
        "scored/planned tasks (scenarios for SGC) over all seeds. A task that ended by trouble of ours has no score; "
        "it does not count as 0."
    )
    yield NOTE
    for block in blocks:
        yield f"{block.backbone}: {shared_settings(block.runs)}."
    yield (
        "Columns headed paper hold what the paper's text gives. It was measured with other models and settings than "
        f"ours, and on other tasks where ours are generated or fewer. {ABSENT}: the cell exists, the text does not "
        "give it."
    )
    if any(row.variant for block in blocks for row in block.rows):
        yield (
            "A memory that was run with several settings has a row for each, and the paper's number stands beside none "
            "of them. Choose one with runs=PATTERN."
        )
    for kind in (Kind.DERIVED, Kind.INFERRED):
        if reasons := _reasons(cited, kind):
            yield f"{kind.marker} {kind}, not in so many words in the paper: {reasons}."
    if any(column.env == "scienceworld" for block in blocks for column in block.columns):
        yield (
            "ScienceWorld's score runs from −100 to 100. The paper does not say whether its column is clipped at 0; "
            "its per-category scores are not, so its number stands beside the raw score."
        )


def _reasons(cited: Iterable[PublishedNumber], kind: Kind) -> str:
    named = [f"{LABELS[number.row]} on {number.column}: {number.why}" for number in cited if number.kind is kind]
    return "; ".join(dict.fromkeys(named))


def _record(block: Block, paper: str, cell: _Cell) -> Mapping[str, Value]:
    """The unrounded numbers of one cell."""
    ours, number = cell.ours, cell.paper
    runs = cell.row.cells.get(cell.column.key, ())
    return {
        "part": "score",
        "backbone": block.backbone,
        "memory": cell.row.memory,
        "variant": cell.row.variant,
        "column": cell.column.key,
        "metric": str(cell.column.metric),
        "mean": ours.mean if ours else None,
        "sd_over_seeds": ours.sd if ours else None,
        "seeds": " ".join(map(str, ours.seeds)) if ours else "",
        "n_scored": ours.scored if ours else None,
        "n_planned": ours.planned if ours else None,
        "partial": ours.partial if ours else None,
        "remarks": "; ".join(ours.remarks) if ours else NO_RUN,
        "simulated": any(run.manifest.simulated for run in runs),
        "paper_backbone": paper if cell.column.published else "",
        "paper_value": number.value if number else None,
        "paper_sd": number.sd if number else None,
        "paper_below": number.high if number and number.value is None else None,
        "paper_kind": str(number.kind) if number else "",
    }
