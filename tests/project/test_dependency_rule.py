"""Who may import whom. The rule is what makes an environment, a memory or a backbone exchangeable."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each row may import from the rows above it and from itself where it is a package.
LEVELS: tuple[tuple[str, ...], ...] = (
    ("types",),
    ("errors",),
    ("canonical", "settings"),
    ("prompts", "parse", "guard", "durable", "endpoint"),
    ("protocols",),
    ("graph", "backbone", "embedding", "provenance", "config", "analysis"),
    ("lines", "budget", "compose"),
    ("ledger", "metering", "check"),
    ("doctor", "estimate"),
    ("episode", "plan"),
    ("store",),
    ("progress",),
    ("runner", "tracking"),
    ("launch",),
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
FOR_OTHERS = {"types", "errors", "protocols", "canonical", "settings", "prompts"}
ANALYSIS_MAY = {"types", "errors", "canonical", "settings"}


def imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, wherever it stands; `package` resolves relative ones."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def offence(module: str, imported: str) -> str | None:
    """Why `module` must not import `imported`, or None when it may."""
    mine, theirs = module.split("."), imported.split(".")
    if theirs[0] not in {"strata", "envs", "baselines", "scripts"} or theirs[0] == "scripts":
        return "no module may import a script" if theirs[0] == "scripts" else None
    if mine[0] != "strata":
        return _offence_of_part(mine, theirs)
    if theirs[0] != "strata":
        return "strata knows environments and baselines by configuration only"
    if len(theirs) == 1 or len(mine) == 1 or mine[1] == theirs[1]:
        return None
    if mine[1] not in LEVEL:
        return f"strata.{mine[1]} has no place in LEVELS: give it one"
    if theirs[1] not in LEVEL:
        return None if theirs[1].startswith("_") else f"strata.{theirs[1]} has no place in LEVELS: give it one"
    if mine[1] == "analysis" and theirs[1] not in ANALYSIS_MAY:
        return "analysis reads files, it sees no live object"
    return None if LEVEL[theirs[1]] < LEVEL[mine[1]] else f"strata.{theirs[1]} is not below strata.{mine[1]}"


def _offence_of_part(mine: list[str], theirs: list[str]) -> str | None:
    if theirs[0] == mine[0]:
        shared = len(theirs) == 1 or theirs[1].startswith("_") or (len(mine) > 1 and theirs[1] == mine[1])
        return None if shared else "one environment or baseline must not need another"
    if theirs[0] != "strata":
        return f"{mine[0]} and {theirs[0]} must not know each other"
    return None if len(theirs) > 1 and theirs[1] in FOR_OTHERS else f"only strata.{sorted(FOR_OTHERS)} are for others"


def modules(package: str) -> list[tuple[str, Path]]:
    paths = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    return list(zip(names, paths, strict=True))


@pytest.mark.parametrize("package", ["strata", "envs", "baselines"])
def test_every_import_goes_downward(package: str) -> None:
    offences = []
    for name, path in modules(package):
        is_package = path.name == "__init__.py"
        module = name.removesuffix(".__init__")
        context = module if is_package else module.rpartition(".")[0]
        for line, imported in imports(ast.parse(path.read_text(encoding="utf-8")), context):
            if reason := offence(module, imported):
                offences.append(f"{path.relative_to(ROOT)}:{line} imports {imported}: {reason}")
    assert not offences, "\n".join(offences)
    assert modules(package), f"no module found in {package}"


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("strata.graph.memory", "strata.runner.run_pass"),
        ("strata.episode", "envs.alfworld"),
        ("strata.graph.memory", "strata.backbone.litellm"),
        ("strata.analysis.load", "strata.store"),
        ("strata.types", "strata.errors"),
        ("strata.backbone.x", "baselines"),
        ("envs.alfworld.adapter", "envs.scienceworld.java"),
        ("envs.alfworld.adapter", "strata.store"),
        ("baselines.flat_memory", "strata.graph.similarity"),
        ("baselines.flat_memory", "envs.alfworld"),
        ("strata.brand_new", "strata.types"),
        ("envs.alfworld.adapter", "scripts.run"),
    ],
)
def test_an_upward_import_is_an_offence(module: str, imported: str) -> None:
    assert offence(module, imported)


def test_an_import_inside_a_function_or_a_relative_one_is_seen() -> None:
    tree = ast.parse("def f():\n    from ..runner import run_pass\n    import envs.alfworld\n")
    found = [name for _, name in imports(tree, "strata.graph")]
    assert found == ["strata.runner.run_pass", "envs.alfworld"]


@pytest.mark.parametrize("name", ["episode", "parse"])
def test_the_episode_loop_and_the_parser_touch_no_file_clock_or_environment_variable(name: str) -> None:
    tree = ast.parse((ROOT / "strata" / f"{name}.py").read_text(encoding="utf-8"))
    roots = {imported.split(".")[0] for _, imported in imports(tree, "strata")}
    assert not roots & {"os", "io", "pathlib", "time", "datetime", "random", "subprocess", "tempfile", "shutil"}
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert "open" not in calls


HEAVY = {
    *("litellm", "torch", "onnxruntime", "tokenizers", "wordllama", "alfworld", "textworld"),
    *("scienceworld", "py4j", "wandb", "spacy", "plotly"),
}


def test_heavy_libraries_are_not_imported_when_a_package_is_loaded() -> None:
    """`import strata, envs, baselines` and every module on the way to a memory must stay cheap."""
    offences = []
    for package in ("strata", "envs", "baselines"):
        for name, path in modules(package):
            if path.name != "__init__.py" and name.startswith("strata.analysis."):
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    continue
                for line, imported in imports(ast.Module(body=[node], type_ignores=[]), ""):
                    if imported.split(".")[0] in HEAVY:
                        offences.append(f"{path.relative_to(ROOT)}:{line} imports {imported} at its head")
    assert not offences, "\n".join(offences)
