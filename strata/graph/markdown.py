"""Section 9, human serialisation: typed Markdown, one file per node, and back.

`meta/`, `workflow/` and `atomic/` hold a file per node: YAML front matter with tags, edges and provenance, then the
sections Procedure, Variants, Pitfalls (workflow), Paradigm, Routing (meta) or Content (atomic). `graph.yaml` holds what
belongs to no node. Embeddings are not written: they are computed again when a folder is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from strata.errors import DataError
from strata.graph.model import Bullet, Graph, Node
from strata.graph.state import Tables
from strata.graph.text import line

FORMAT = 1
_FRONT = re.compile(r"---\n(.*?)\n---\n\n# ([^\n]*)\n(.*)", re.DOTALL)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_MARK = re.compile(r"^(?:\d+\.|-) ")
_BULLET = re.compile(
    r"- (?:\*\*(?P<key>(?:[^*\\]|\\.)*)\*\*: )?(?P<text>.*?)"
    r"(?: <!-- episode (?P<episode>\d+)(?:, member (?P<source>\d+))? -->)?"
)
_STEPS = {"workflow": "Procedure", "meta": "Paradigm", "atomic": "Content"}
_BULLETS = {"Variants": "variant", "Routing": "variant", "Pitfalls": "pitfall"}


def write_folder(graph: Graph, folder: Path) -> None:
    """Write a graph as Markdown. Files of nodes that the graph does not hold are left alone."""
    for node in graph.nodes.values():
        path = folder / node.type / f"{node.id}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write_node(graph, node), encoding="utf-8")
    rest = {
        "format": FORMAT,
        "values": dict(sorted(graph.values.items())),
        "ages": {seq: [value, at] for seq, (value, at) in sorted(graph.ages.items())},
        "scores": {group: list(scores) for group, scores in sorted(graph.scores.items())},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.yaml").write_text(_yaml(rest), encoding="utf-8")


def write_node(graph: Graph, node: Node) -> str:
    """One node as Markdown."""
    front: dict[str, Any] = {"id": node.id, "seq": node.seq, "type": node.type}
    front |= {"kind": node.kind} if node.kind else {}
    front |= {"goal": node.goal} if node.goal else {}
    front |= {"when": node.when, "tags": list(node.tags)}
    front |= _edges(graph, node)
    front |= {"created": node.created, "updated": node.updated, "episodes": list(node.episodes)}
    steps = [f"{n}. {step}" if node.type == "workflow" else f"- {step}" for n, step in enumerate(node.steps, start=1)]
    parts = [f"---\n{_yaml(front)}---\n\n# {node.title}", f"## {_STEPS[node.type]}\n\n" + "\n".join(steps)]
    for section, kind in _BULLETS.items():
        lines = [_bullet(bullet) for bullet in node.bullets if bullet.kind == kind]
        if lines and (section == "Routing") == (node.type == "meta" and kind == "variant"):
            parts.append(f"## {section}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _edges(graph: Graph, node: Node) -> dict[str, Any]:
    names = {
        "calls": node.calls,
        "generalized_by": graph.live_parents(node.seq),
        "contrasts": sorted(graph.contrasts.get(node.seq, ())),
        "merged_into": [graph.merged[node.seq]] if node.seq in graph.merged else [],
    }
    edges: dict[str, Any] = {name: [graph.nodes[seq].id for seq in seqs] for name, seqs in names.items() if seqs}
    edges |= {"absorbed": list(node.absorbed)} if node.absorbed else {}
    return edges | ({"called": True} if node.called else {})


def _bullet(bullet: Bullet) -> str:
    key = re.sub(r"([*\\])", r"\\\1", bullet.key)
    key = f"**{key}**: " if key or bullet.text.startswith("**") else ""
    source = f", member {bullet.source}" if bullet.source is not None else ""
    return f"- {key}{bullet.text} <!-- episode {bullet.episode}{source} -->"


def _yaml(value: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True, width=10_000))


def read_node(text: str, source: str) -> tuple[Node, Mapping[str, Any]]:
    """A node without its calls, and its front matter. Raises DataError naming `source`."""
    found = _FRONT.fullmatch(text.replace("\r\n", "\n"))
    if found is None:
        raise DataError(f"{source}: must start with front matter between two lines '---', then '# title'.")
    try:
        front = yaml.safe_load(found[1])
        node = Node(
            seq=int(front["seq"]),
            id=str(front["id"]),
            type=front["type"],
            title=line(found[2]),
            when=line(str(front.get("when") or "")),
            steps=(),
            tags=tuple(map(str, front.get("tags") or ())),
            kind=str(front.get("kind") or ""),
            goal=line(str(front.get("goal") or "")),
            absorbed=tuple(map(int, front.get("absorbed") or ())),
            called=bool(front.get("called")),
            created=int(front["created"]),
            updated=int(front["updated"]),
            episodes=tuple(map(int, front["episodes"])),
        )
        steps, bullets = _body(found[3], _STEPS[node.type], node.updated)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{source}: its front matter or sections cannot be read ({error!r}).") from error
    return replace(node, steps=steps, bullets=bullets), front


def _body(text: str, steps_section: str, newest: int) -> tuple[tuple[str, ...], tuple[Bullet, ...]]:
    parts = _SECTION.split(text)
    if parts[0].strip():
        raise ValueError(f"text before the first section: {parts[0].strip()!r:.60}")
    steps: list[str] = []
    bullets: list[Bullet] = []
    for section, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = [entry for entry in body.splitlines() if entry.strip()]
        if section == steps_section:
            steps += [_MARK.sub("", line(entry), count=1) for entry in lines]
        elif section in _BULLETS:
            bullets += [_read_bullet(entry, section, newest) for entry in lines]
        else:
            raise ValueError(f"unknown section {section!r}")
    return tuple(steps), tuple(sorted(bullets, key=lambda bullet: bullet.episode))


def _read_bullet(entry: str, section: str, newest: int) -> Bullet:
    """A bullet; one without a comment was written by hand and counts as new."""
    found = _BULLET.fullmatch(entry)
    if found is None:
        raise ValueError(f"not a list item: {entry!r:.60}")
    return Bullet(
        kind="pitfall" if section == "Pitfalls" else "variant",
        text=line(found["text"]),
        key=line(re.sub(r"\\(.)", r"\1", found["key"] or "")),
        episode=newest if found["episode"] is None else int(found["episode"]),
        source=int(found["source"]) if found["source"] else None,
    )


def read_folder(folder: Path) -> Tables:
    """The tables of a graph from its Markdown, without embeddings. Raises DataError naming the file."""
    rest = _read_rest(folder / "graph.yaml")
    read = [
        (path, *read_node(_text(path), str(path))) for kind in _STEPS for path in sorted((folder / kind).glob("*.md"))
    ]
    seqs = {node.id: node.seq for _, node, _ in read}
    if len(seqs) < len(read):
        raise DataError(f"{folder}: two files have the same node id.")
    tables = Tables(**rest)
    for path, node, front in read:
        try:
            calls = tuple(seqs[name] for name in front.get("calls") or ())
            tables.generalizes |= {(node.seq, seqs[name]) for name in front.get("generalized_by") or ()}
            pairs = {(node.seq, seqs[name]) for name in front.get("contrasts") or ()}
            tables.merged |= {(node.seq, seqs[name]) for name in front.get("merged_into") or ()}
        except KeyError as error:
            raise DataError(f"{path}: names the node {error}, which has no file.") from error
        tables.contrast |= {(min(pair), max(pair)) for pair in pairs}
        tables.node[node.seq] = replace(node, calls=calls)
    return tables


def _read_rest(path: Path) -> dict[str, Any]:
    try:
        rest = yaml.safe_load(_text(path))
        if rest["format"] != FORMAT:
            raise DataError(f"{path}: written in format {rest['format']}, this version reads format {FORMAT}.")
        return {
            "age": {int(seq): (float(value), int(at)) for seq, (value, at) in rest["ages"].items()},
            "score": {str(group): [float(score) for score in scores] for group, scores in rest["scores"].items()},
            "value": {str(name): int(value) for name, value in rest["values"].items()},
        }
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: cannot be read ({error!r}).") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from error


def differences(before: Node, after: Node) -> dict[str, Any]:
    """The fields that a hand edit may change, where they differ."""
    fields: Iterable[str] = ("title", "when", "goal", "tags", "steps", "bullets")
    return {name: getattr(after, name) for name in fields if getattr(before, name) != getattr(after, name)}
