"""The documentation is about this code: links, paths, commands, config keys and defaults all exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

from strata.config import read_run_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.exists()]
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
FOLDERS = "strata|envs|baselines|scripts|configs|docs|tests|notebooks"


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Names of the page's headings as a code host forms them."""
    headings = re.findall(r"^#+ +(.+?)\s*$", prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@by_page
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    broken = []
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page)) + re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", prose(page))
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            broken.append(target)
    assert not broken


@by_page
def test_every_path_that_is_named_exists(page: Path) -> None:
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert not sorted({name for name in named if not (ROOT / name).exists()})


@by_page
def test_every_make_target_and_script_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    targets |= {f"table{number}" for number in range(1, 11) if "table%:" in (ROOT / "Makefile").read_text()}
    commands = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", text, flags=re.M | re.S))
    asked = set(re.findall(r"\bmake ([a-z][\w-]*)", commands))
    assert not sorted(asked - targets)
    scripts = set(re.findall(r"python3? (scripts/[\w/]+\.py)", commands))
    assert not sorted(script for script in scripts if not (ROOT / script).exists())


def config_value(key: str, option: str | None) -> object:
    """The value at a dotted key; `option` names the group's file where several have the key."""
    group, _, rest = key.partition(".")
    if not (ROOT / "configs" / group).is_dir():
        values, rest = yaml.safe_load((ROOT / "configs/config.yaml").read_text(encoding="utf-8")), key
    else:
        file = ROOT / "configs" / group / f"{option or 'strata'}.yaml"
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    for part in rest.split("."):
        values = values[part]
    return values


def open_points() -> list[tuple[str, str | None, str]]:
    """Key, option and default of each row of docs/open-points.md that has a key."""
    rows = re.findall(
        r"^\|[^|]+\| (?:form|open|implied) \| `([\w.]+)`(?: \((\w+)\))? \| `([^`]+)` \|$",
        (ROOT / "docs/open-points.md").read_text(encoding="utf-8"),
        flags=re.M,
    )
    return [(key, option or None, default) for key, option, default in rows]


@pytest.mark.parametrize(("key", "option", "default"), open_points(), ids=lambda value: str(value))
def test_an_open_point_has_the_default_that_the_page_gives(key: str, option: str | None, default: str) -> None:
    assert config_value(key, option) == yaml.safe_load(default)


def test_no_row_of_the_open_points_is_malformed() -> None:
    text = (ROOT / "docs/open-points.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|") and line.count("|") == 5]
    keyed = [row for row in rows if re.search(r"`[\w.]+`(?: \(\w+\))? \| `", row)]
    assert len(keyed) == len(open_points()) > 30
    plain = [row for row in rows if row not in keyed and not re.match(r"\|---|\| choice", row)]
    assert not [row for row in plain if not re.search(r"\| (form|open|implied) \| \| \|$", row)]


def test_every_setting_of_strata_that_the_paper_does_not_fix_is_an_open_point() -> None:
    from strata.graph.settings import Settings
    from strata.settings import describe

    listed = {key for key, _, _ in open_points()}
    ours = {f"memory.{key}" for key, text in describe(Settings).items() if text.startswith(("open:", "implied:"))}
    assert not sorted(key for key in ours if not any(each == key or each.startswith(f"{key}.") for each in listed))


def run_commands(page: Path) -> list[list[str]]:
    """Arguments of every `scripts/run.py` in the page's code blocks, comments and line breaks taken out."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if "scripts/run.py " in line]
    return [words[words.index("scripts/run.py") + 1 :] for words in commands]


@by_page
def test_every_run_that_is_shown_composes(page: Path) -> None:
    if page.name.startswith("adding-"):
        pytest.skip("its files do not exist before it has been followed, which tests/contract does")
    for words in run_commands(page):
        first = [re.sub(r",.*", "", word) for word in words if "=" in word and not word.startswith("hydra/")]
        assert "..." not in " ".join(words)
        with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
            assert read_run_settings(compose("config", overrides=first)).seed >= 0
