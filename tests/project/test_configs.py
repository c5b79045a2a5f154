"""Every key in configs/ is a documented field of a settings class, and every such field is read by the code."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from strata.settings import describe

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ("memory", "env", "backbone", "embedder")
RESERVED = {"_target_", "name", "label"}
FILES = [path for group in GROUPS for path in sorted((ROOT / "configs" / group).glob("*.yaml"))]


def settings_class(target: str) -> type[Any] | None:
    """The class that the `build` of a `_target_` reads its group into, found in the text of its module."""
    module_name, _, name = target.rpartition(".")
    part = getattr(importlib.import_module(module_name), name)
    module = sys.modules[part.__module__]
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("read_settings"):
            return typing.cast("type[Any]", getattr(module, ast.unparse(node.args[0])))
    return None


def fields(cls: type[Any], prefix: str = "") -> Iterator[tuple[str, type[Any], str]]:
    """Dotted key, owning class and field name of every leaf."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if dataclasses.is_dataclass(hints[field.name]):
            yield from fields(typing.cast("type[Any]", hints[field.name]), f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", cls, field.name


def leaves(values: object, prefix: str = "") -> dict[str, object]:
    if isinstance(values, dict) and (values or not prefix):
        return {key: v for name, item in values.items() for key, v in leaves(item, f"{prefix}{name}.").items()}
    return {prefix[:-1]: values}


def reads(name: str, cls: type[Any]) -> bool:
    """Whether code beside the class that owns the field takes its value: `something.name`, outside `__post_init__`."""
    home = Path(inspect.getfile(cls))
    return any(name in attributes_read(path) for path in home.parent.rglob("*.py"))


@functools.cache
def attributes_read(path: Path) -> frozenset[str]:
    """Names of attributes whose value is taken in a module, checks in `__post_init__` left out."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    found = set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        checks = isinstance(node, ast.FunctionDef) and node.name == "__post_init__"
        todo += [] if checks else list(ast.iter_child_nodes(node))
    return frozenset(found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_group_file_lists_every_key_of_its_class_and_no_other(path: Path) -> None:
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    cls = settings_class(values["_target_"])
    known = {key for key, _, _ in fields(cls)} if cls else set()
    written = leaves({key: value for key, value in values.items() if key not in RESERVED or key in known})
    unknown = {key for key in written if not any(key == name or key.startswith(f"{name}.") for name in known)}
    missing = {name for name in known - RESERVED if not any(k == name or k.startswith(f"{name}.") for k in written)}
    assert not unknown, f"{path.name}: nothing reads {sorted(unknown)}"
    assert not missing, f"{path.name}: {sorted(missing)} can be set, but the file does not show it"
    assert isinstance(values["name"], str)


def all_fields() -> list[tuple[str, type[Any], str]]:
    from strata.config import RunSettings

    found = {(cls, name): key for key, cls, name in fields(RunSettings)}
    for path in FILES:
        cls = settings_class(yaml.safe_load(path.read_text(encoding="utf-8"))["_target_"])
        if cls:
            found.update({(owner, name): f"{path.parent.name}.{key}" for key, owner, name in fields(cls)})
    return sorted(((key, owner, name) for (owner, name), key in found.items()), key=lambda each: each[0])


@pytest.mark.parametrize(("key", "owner", "name"), all_fields(), ids=lambda value: value if "." in str(value) else "")
def test_every_setting_is_read_by_something_and_says_what_it_does(key: str, owner: type[Any], name: str) -> None:
    declared_only = len(typing.get_args(typing.get_type_hints(owner)[name])) == 1  # a choice of one: recorded, hashed
    assert declared_only or reads(name, owner), (
        f"{key}: no code beside {owner.__name__} reads `.{name}`; it is a knob that does nothing"
    )
    assert len(describe(owner)[name]) >= 9, f"{key} has no help text"


def test_a_setting_that_only_its_own_check_mentions_counts_as_unread(tmp_path: Path) -> None:
    source = "class S:\n    def __post_init__(self):\n        if self.knob < 0: raise ValueError\n\nvalue = S().used\n"
    module = tmp_path / "settings.py"
    module.write_text(source)
    assert attributes_read(module) == {"used"}


def test_the_top_file_lists_every_run_setting_and_no_other() -> None:
    from strata.config import RunSettings

    values = yaml.safe_load((ROOT / "configs/config.yaml").read_text(encoding="utf-8"))
    values = {key: value for key, value in values.items() if key not in {"defaults", "hydra", *GROUPS}}
    known = {key for key, _, _ in fields(RunSettings)} - set(GROUPS)
    assert set(leaves(values)) == known
