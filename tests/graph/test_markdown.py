"""Section 9, human serialisation: Markdown round trip, edits by hand, GraphML, GEXF, networkx."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from conftest import Builder
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from strata.errors import DataError, UsageError
from strata.graph import Draft, ExperienceGraph
from strata.graph.interchange import as_networkx, write_graph
from strata.graph.markdown import read_node, write_node
from strata.graph.model import Bullet, Graph
from strata.graph.text import line


@pytest.fixture
def b():
    b = Builder()
    first, second = b.atomic("op:heat"), b.atomic()
    b.heat = b.workflow("op:heat", "obj:egg", calls=(second, first))
    b.cool = b.workflow("op:cool")
    b.graph.write_bullet("variant", b.heat, "it is a mug", "empty it", 2)
    b.graph.write_bullet("pitfall", b.heat, "", "never drop it", 3)
    b.graph.write_bullet("variant", b.heat, "", "**bold**: text", 4)
    b.top = b.meta(b.heat, b.cool, tags=("op:heat",))
    b.graph.graph.amend(b.top, 5, bullets=(Bullet("variant", "take; heat", key="a * or \\", episode=5, source=b.heat),))
    b.graph.write_atomic("merge", b.draft(kind="skill"), [first, second], 6)
    b.graph.graph.record_score("op:heat", 0.4375)
    b.graph.retrieve(b.query("op:heat"))
    return b


def test_round_trip_restores_every_byte(b, tmp_path):
    b.graph.write_folder(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["atomic", "graph.yaml", "meta", "workflow"]
    other = ExperienceGraph(b.embedder, b.graph.settings)
    other.read_folder(tmp_path)
    other.validate()
    changes = other.changes()
    assert other.snapshot() == b.graph.snapshot()
    third = ExperienceGraph(b.embedder, b.graph.settings)
    third.restore(None, [changes])
    assert third.snapshot() == b.graph.snapshot()


def test_file_reads_as_in_the_papers_figures(b, tmp_path):
    b.graph.write_folder(tmp_path)
    (path,) = (p for p in (tmp_path / "workflow").iterdir() if "t3" in p.name)
    text = path.read_text()
    assert text.startswith(
        f"---\nid: {path.stem}\nseq: 2\ntype: workflow\nwhen: ''\ntags:\n- op:heat\n- obj:egg\ncalls:"
    )
    assert text.endswith(
        "# t3\n\n## Procedure\n\n1. w3\n\n## Variants\n\n- **it is a mug**: empty it <!-- episode 2 -->\n"
        "- ****: **bold**: text <!-- episode 4 -->\n\n## Pitfalls\n\n- never drop it <!-- episode 3 -->\n"
    )
    meta = next((tmp_path / "meta").iterdir()).read_text()
    assert "## Routing\n\n- **a \\* or \\\\**: take; heat <!-- episode 5, member 2 -->\n" in meta


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=30).map(line)


@profile(max_examples=200)
@given(
    words,
    words,
    words,
    st.lists(words.filter(bool), max_size=3),
    st.lists(st.tuples(words, words.filter(bool)), max_size=3),
)
def test_any_text_survives_the_round_trip(title, when, goal, steps, bullets):
    graph = Graph()
    node = graph.add(
        "workflow", title=title, when=when, steps=tuple(steps), tags=("op:a",), episode=1, goal=goal,
        bullets=tuple(Bullet("pitfall", text, key=key, episode=1) for key, text in bullets),
    )  # fmt: skip
    assert read_node(write_node(graph, node), "x")[0] == node


def edit(folder: Path, name: str, old: str, new: str) -> None:
    (path,) = (p for p in (folder / "workflow").iterdir() if p.name.startswith(name))
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_edit_by_hand_is_taken_over_and_recorded(b, tmp_path):
    b.graph.write_folder(tmp_path)
    b.graph.changes()
    edit(tmp_path, "t3", "1. w3", "1. look\n2. w3")
    edit(tmp_path, "t3", "## Pitfalls\n", "## Pitfalls\n\n- by hand\n")
    events = b.graph.apply_edits(tmp_path, 9)
    node = b.graph.graph.nodes[b.heat]
    assert [(event["kind"], event["fields"]) for event in events] == [("edit", ["bullets", "steps"])]
    assert node.steps == ("look", "w3")
    assert [bullet.text for bullet in node.bullets] == ["empty it", "never drop it", "**bold**: text", "by hand"]
    assert node.episodes[-1] == 9
    assert b.graph.index.views(b.heat).content.tolist() == b.embedder.embed(["1. look\n2. w3"])[0].tolist()
    other = ExperienceGraph(b.embedder, b.graph.settings)
    other.read_folder(tmp_path)
    b.graph.validate()


def test_edited_tags_move_contrast_edges_and_call_for_a_round(b, tmp_path):
    b.graph.maintain("alfworld", 0)
    b.graph.write_folder(tmp_path)
    edit(tmp_path, "t4", "op:cool", "op:clean")
    events = b.graph.apply_edits(tmp_path, 9)
    assert [event["kind"] for event in events] == ["edit", "contrast"]
    assert events[1]["change"] == "removed"
    assert b.graph.graph.contrast_pairs() == []
    assert b.graph.maintain("alfworld", 9)[0]["kind"] == "round"
    b.graph.validate()


def test_nothing_edited_changes_nothing(b, tmp_path):
    b.graph.write_folder(tmp_path)
    before = b.graph.snapshot()
    assert b.graph.apply_edits(tmp_path, 9) == []
    assert b.graph.snapshot() == before


def spoil(name, text):
    return lambda folder: next(p for p in folder.rglob(name)).write_text(text)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (spoil("t3-*.md", "no front matter"), "front matter"),
        (spoil("t3-*.md", "---\nid: a\n---\n\n# t\n"), "front matter or sections"),
        (spoil("t3-*.md", "---\nid: [\n---\n\n# t\n"), "front matter or sections"),
        (spoil("graph.yaml", "format: 2"), "format 2"),
        (spoil("graph.yaml", "ages: 3"), "graph.yaml"),
        (lambda folder: (folder / "graph.yaml").unlink(), "cannot be read"),
        (lambda folder: next(p for p in folder.rglob("t2-*.md")).unlink(), "which has no file"),
        (lambda folder: edit(folder, "t3", "## Variants", "## Notes"), "unknown section"),
        (lambda folder: edit(folder, "t3", "- never", "never"), "not a list item"),
        (lambda folder: edit(folder, "t4", f"seq: {3}", "seq: 2"), "seq|inconsistent|lacks"),
    ],
)
def test_file_that_cannot_be_read_is_named_and_nothing_changes(b, tmp_path, break_it, message):
    b.graph.write_folder(tmp_path)
    before = b.graph.snapshot()
    break_it(tmp_path)
    with pytest.raises(DataError, match=message):
        b.graph.read_folder(tmp_path)
    assert b.graph.snapshot() == before


def test_edits_of_a_node_that_is_gone_are_refused(b, tmp_path):
    b.graph.write_folder(tmp_path)
    b.graph.graph.remove(b.cool)
    with pytest.raises(DataError, match="not a live node"):
        b.graph.apply_edits(tmp_path, 9)


def test_networkx_view_has_typed_edges(b):
    view = as_networkx(b.graph.graph)
    assert len(view) == len(b.graph.graph.nodes)
    kinds = [key for _, _, key in view.edges(keys=True)]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "call": 2, "generalizes": 2, "contrasts": 2, "merged_from": 2
    }  # fmt: skip
    heat = b.graph.graph.nodes[b.heat].id
    orders = [data["order"] for _, _, data in view.out_edges(heat, data=True) if data["type"] == "call"]
    assert orders == [0, 1]


@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
def test_graph_files_read_back(b, tmp_path, suffix):
    path = tmp_path / f"graph{suffix}"
    write_graph(b.graph.graph, path)
    read = nx.read_graphml(path, force_multigraph=True) if suffix == ".graphml" else nx.read_gexf(path)
    assert set(read) == set(as_networkx(b.graph.graph))
    assert read.number_of_edges() == as_networkx(b.graph.graph).number_of_edges()


def test_other_graph_formats_are_refused(b, tmp_path):
    with pytest.raises(UsageError, match="graphml"):
        write_graph(b.graph.graph, tmp_path / "graph.xyz")


def test_goal_and_kind_survive(tmp_path):
    b = Builder()
    b.graph.write_workflow(Draft("t", "w", ("s",), goal="heat: an egg"), 0)
    b.graph.write_atomic("create", Draft("c", "", ("def f():", "## x"), kind="code"), [], 1)
    b.graph.write_folder(tmp_path)
    other = ExperienceGraph(b.embedder, b.graph.settings)
    other.read_folder(tmp_path)
    assert other.graph.nodes == b.graph.graph.nodes
