"""The paper's numbers as carried in the repository: readable, explained, and in the paper's own text."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from strata.analysis.published import Kind, load_published
from strata.errors import DataError

HEAD = "format: 1\nmemories: [flat]\nnumbers:\n  table1:\n"


@pytest.fixture
def numbers(repository: Path) -> Path:
    return repository / "results" / "published" / "numbers.yaml"


def write(folder: Path, entries: str) -> Path:
    path = folder / "numbers.yaml"
    path.write_text(HEAD + entries, encoding="utf-8")
    return path


def test_the_file_of_the_repository_is_valid(numbers: Path) -> None:
    published = load_published(numbers)
    assert len(published.memories) == 8
    assert "awm" not in published.memories
    cell = published.find("table1", "strata", "alfworld", "pro")
    assert cell is not None
    assert (cell.text, cell.kind) == ("98.6 ± 0.9‡", Kind.INFERRED)


def test_a_cell_that_the_text_does_not_give_is_absent_and_not_zero(numbers: Path) -> None:
    published = load_published(numbers)
    assert published.find("table1", "flat", "alfworld", "pro") is None
    assert published.find("table1", "strata", "alfworld", "flash") is None
    below = published.find("table1", "no_memory", "webarena", "flash")
    assert below is not None
    assert below.value is None
    assert below.text == "< 28.4"


def test_every_stated_number_stands_in_the_papers_text(numbers: Path, repository: Path) -> None:
    paper = repository.parent / "shared" / "paper" / "strata-paper.txt"
    if not paper.exists():
        pytest.skip("the paper's text is not on this machine")
    text = paper.read_text(encoding="utf-8").replace("{,}", "").replace("{.}", ".")
    missing = []
    for key, number in load_published(numbers).numbers.items():
        if number.kind is not Kind.STATED:
            continue
        for value in (number.value, number.sd, number.low, number.high):
            if value is None:
                continue
            forms = {f"{abs(value):g}", f"{abs(value):.1f}", f"{abs(value):.2f}"} | ({"zero", "seven"} & _word(value))
            if not any(form in text for form in forms):
                missing.append((*key, value))
    assert not missing


def _word(value: float) -> set[str]:
    return {0.0: {"zero"}, 7.0: {"seven"}}.get(value, set())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("    - {row: a, column: b, value: 1.0, kind: guessed}\n", "kind is 'guessed'"),
        ("    - {row: a, column: b, value: 1.0}\n", "kind is missing"),
        (
            "    - {row: a, column: b, value: 1.0, kind: inferred}\n",
            "why is missing: a number that is inferred says how",
        ),
        ("    - {row: a, column: b, kind: stated}\n", "value is missing"),
        ("    - {row: a, column: b, value: high, kind: stated}\n", "value is 'high'"),
        ("    - {row: a, column: b, value: .nan, kind: stated}\n", "value is 'nan'"),
        ("    - {column: b, value: 1.0, kind: stated}\n", "row is missing"),
        ("    - {row: a, column: b, value: 1.0, kind: stated}\n" * 2, "has a number for b already"),
        ("    - 3\n", "must be an object"),
        ("    - {row: a\n", "Cannot read the published numbers"),
        ("    - !!python/object/apply:os.system [true]\n", "Cannot read the published numbers"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_published(write(tmp_path, entry))


def test_no_entry_is_given_twice_even_under_yaml_rules(numbers: Path) -> None:
    content = yaml.safe_load(numbers.read_text(encoding="utf-8"))
    count = sum(len(entries) for entries in content["numbers"].values())
    assert count == len(load_published(numbers).numbers)
