"""Sizes that keep the code readable, and constructs that must not occur in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("strata", "envs", "baselines", "scripts")
SOURCES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "pdb"}
BANNED_CALLS = {
    *("eval", "exec", "os.system"),
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load", "joblib.load", "torch.load"),
}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def banned(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"{node.lineno} import {alias.name}" for alias in node.names if alias.name in BANNED_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in BANNED_MODULES:
            found.append(f"{node.lineno} from {node.module}")
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in BANNED_CALLS:
                found.append(f"{node.lineno} {name}(...)")
            found += [
                f"{node.lineno} {name}({word.arg}=True)"
                for word in node.keywords
                if word.arg in {"allow_pickle", "shell"} and ast.unparse(word.value) == "True"
            ]
    return found


def test_no_module_is_longer_than_600_lines_and_no_script_than_60() -> None:
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    too_long = [f"{path}: {n}" for path, n in lines.items() if n > (60 if path.parts[0] == "scripts" else 600)]
    assert not too_long, "\n".join(too_long)


def test_no_function_is_longer_than_80_lines_and_nine_in_ten_are_at_most_35() -> None:
    sizes = {}
    for path in SOURCES:
        for function in functions(ast.parse(path.read_text(encoding="utf-8"))):
            sizes[f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"] = length(function)
    too_long = [f"{where}: {n} lines" for where, n in sizes.items() if n > 80]
    assert not too_long, "\n".join(too_long)
    assert sorted(sizes.values())[int(0.9 * len(sizes))] <= 35


def test_nothing_loads_code_out_of_data() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{what}"
        for path in SOURCES
        for what in banned(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from pickle import loads", "eval('1')", "yaml.load(text)", "np.load(f, allow_pickle=True)",
     "subprocess.run(c, shell=True)", "os.system('true')"],
)  # fmt: skip
def test_the_ban_sees_each_construct(source: str) -> None:
    assert banned(ast.parse(source))


def test_no_tests_folder_shadows_a_package() -> None:
    """With an `__init__.py`, a folder `tests/envs` would be importable under the package's own name."""
    assert not list((ROOT / "tests").rglob("__init__.py"))
