"""Drives the implementation and the oracle with one random stream, and has everything compared that they decide.

The implementation runs as the harness runs it: `StrataMemory` with a language model that answers from the plan. The
oracle is told what is language (texts of metas) and the partition of W, and nothing else.
"""

from __future__ import annotations

import copy
import json
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from oracle.comparison import Comparison, same
from oracle.contrast import renew
from oracle.defaults import settings as oracle_settings
from oracle.derived import derive
from oracle.episode import maintain, reflect
from oracle.retrieval import age, retrieve
from oracle.similarity import Thing
from oracle.state import check, live, new_state, wrote
from oracle.streams import World, index_text

from strata.graph import communities, forgetting, markdown
from strata.graph.memory import StrataMemory
from strata.prompts import PromptLibrary
from strata.types import Episode, MemoryContext, Observation, Reply, TaskView, Turn, Usage

START = Observation("A page.")
TURNS = (Turn("I try.", "click", "It works.", 0.0),)
SHARES = {
    "episode": 0.80,
    "killed before reflection": 0.03,
    "killed after reflection": 0.03,
    "snapshot": 0.03,
    "resume": 0.05,
    "look at W": 0.03,
    "frozen episode": 0.015,
    "edit by hand": 0.01,
    "export and import": 0.005,
}


class Answers:
    """A language model that answers what was planned. A prompt is known by the fields that it asks for."""

    name = "answers"
    marks = (("kinds", "route"), ("decision", "unit"), ("lesson", "lesson"), ("steps", "flow"), ("tags", "tag"))

    def __init__(self) -> None:
        self.replies: dict[str, list[dict[str, Any]]] = {}

    def plan(self, **replies: list[dict[str, Any]]) -> None:
        self.replies = {kind: list(items) for kind, items in replies.items()}

    def complete(self, messages: Any, *, sampling: Any, purpose: str, repeat: int = 0) -> Reply:
        del sampling, purpose, repeat
        fields = set(re.findall(r"^- (\w+) \(", messages[-1].content, re.MULTILINE))
        kind = next(kind for mark, kind in self.marks if mark in fields)
        return Reply(json.dumps(self.replies[kind].pop(0)), Usage(calls=1))


def stateless(*key: str | int) -> random.Random:
    return random.Random("/".join(map(str, key)))


class Watch:
    """What the implementation's community step saw and found, and its nodes just before collection."""

    def __init__(self) -> None:
        self.edges: dict[tuple[int, int], float] | None = None
        self.partition: list[list[int]] | None = None
        self.nodes: dict[int, Any] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        find, collect = communities.communities, forgetting.collect

        def note_partition(derived: Any, *rest: Any) -> list[list[int]]:
            self.edges = {(a, b): weight for a, b, weight in derived.edges()}
            self.partition = find(derived, *rest)
            return self.partition

        def note_nodes(graph: Any, *rest: Any) -> list[dict[str, Any]]:
            self.nodes = dict(graph.nodes)
            return collect(graph, *rest)

        with (
            mock.patch.object(communities, "communities", note_partition),
            mock.patch.object(forgetting, "collect", note_nodes),
        ):
            yield


class Both:
    """The two graphs, kept in step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = tempfile.TemporaryDirectory()
        self.answers = Answers()
        self.config = self._config(Path(self.folder.name) / "pairs.yaml")
        self.memory = self._build()
        self.state = new_state(oracle_settings(world.changes))
        self.compare = Comparison(self._number)
        self.base: bytes | None = None
        self.deltas: list[bytes] = []
        self.episodes = 0
        self.operations = 0
        self._drafts: dict[int, dict[str, Any]] = {}
        self._gone: dict[str, int] = {}
        self._winner: int | None = None

    def _config(self, pairs: Path) -> dict[str, Any]:
        config = copy.deepcopy(self.world.changes)
        contrast = config["contrast"]
        pairs.write_text(json.dumps(contrast.pop("hand")), encoding="utf-8")
        if contrast["mode"] == "hand":
            contrast["file"] = str(pairs)
        config["similarity"]["content_view"] = self.world.content_view
        return {**config, "tagger": "llm"}

    def _build(self) -> StrataMemory:
        return StrataMemory.build(
            self.config, backbone=self.answers, embedder=self.world.embedder, rng=stateless, prompts=PromptLibrary()
        )

    def _number(self, name: str) -> int:
        """Number of a node by its id, also of one that is gone by now."""
        graph = self.memory.graph.graph
        return graph.by_id[name] if name in graph.by_id else self._gone[name]

    # Operations ---------------------------------------------------------------------------------------------------

    def run(self, count: int) -> None:
        """Carry out `count` random operations; each depends on the world's seed and its number alone.

        An episode counts as two: a retrieval and a reflection.
        """
        with self.folder:
            while self.operations < count:
                chance = random.Random(f"operation/{self.world.seed}/{self.operations}")
                (what,) = chance.choices(list(SHARES), list(SHARES.values()))
                getattr(self, "_" + what.replace(" ", "_").lower())(chance)
                self._done(what)

    def _done(self, what: str) -> None:
        self.operations += 1
        self.compare.seen[what] += 1
        self.memory.graph.validate()
        check(self.state)
        self.compare.state(self.memory.graph.graph, self.state)

    def _commit(self) -> None:
        self.deltas.append(self.memory.changes())

    def _episode(self, _: random.Random) -> None:
        plan = self.world.plan(self.episodes)
        self.retrieve(plan)
        self._done("retrieval")
        self.reflect(plan)
        self._commit()
        self.episodes += 1

    def _killed_before_reflection(self, _: random.Random, *, reflecting: bool = False) -> None:
        before, plan = copy.deepcopy(self.state), self.world.plan(self.episodes)
        self.retrieve(plan)
        if reflecting:
            self.reflect(plan)
        self.state = before
        self.memory.restore(self.base, self.deltas)

    def _killed_after_reflection(self, chance: random.Random) -> None:
        self._killed_before_reflection(chance, reflecting=True)

    def _snapshot(self, _: random.Random) -> None:
        """From now on a resumed run starts here."""
        self.base, self.deltas = self.memory.snapshot(), []

    def _resume(self, _: random.Random) -> None:
        """Another process goes on from the last snapshot and the deltas since."""
        fresh = self._build()
        fresh.restore(self.base, self.deltas)
        assert fresh.snapshot() == self.memory.snapshot(), "restored state differs from the one that went on"
        self.memory = fresh

    def _look_at_w(self, _: random.Random) -> None:
        """W out of turn, as an export or a figure would."""
        edges = {(a, b): weight for a, b, weight in self.memory.graph.derived().edges()}
        same("W", edges, derive(self.state)["edges"])

    def _frozen_episode(self, _: random.Random) -> None:
        """A frozen copy retrieves the same, and neither ages nor learns."""
        frozen, live_one, plan = self._build(), self.memory, self.world.plan(self.episodes)
        frozen.restore(self.base, self.deltas)
        frozen.freeze()
        self.memory = frozen
        self.retrieve(plan, frozen=True)
        report = frozen.reflect(self._finished(plan))
        self.memory = live_one
        same("frozen report", (report.added, report.changed, report.removed, report.events), ((), (), (), ()))
        assert frozen.snapshot() == live_one.snapshot(), "a frozen memory changed"

    def _edit_by_hand(self, chance: random.Random) -> None:
        """A researcher rewrites one node's file: other tags, for workflows and units other texts too."""
        graph, folder = self.memory.graph, Path(self.folder.name) / f"edit-{self.operations}"
        if not graph.graph.nodes:
            return
        node = graph.graph.nodes[chance.choice(sorted(graph.graph.nodes))]
        draft = self.world.plan(10**6 + self.operations)["flow"]
        changes: dict[str, Any] = {"tags": tuple(draft["tags"])}
        if node.type != "meta":
            changes |= {"when": draft["when"], "steps": tuple(draft["steps"])}
        edited = replace(node, **changes)
        graph.write_folder(folder)
        (path,) = folder.rglob(f"{node.id}.md")
        path.write_text(markdown.write_node(graph.graph, edited), encoding="utf-8")
        events = graph.apply_edits(folder, self.episodes)
        differs = any(getattr(node, key) != value for key, value in changes.items())
        same("edits", [event["id"] for event in events if event["kind"] == "edit"], [node.id] if differs else [])
        if differs:
            self._edit_oracle(edited)
        self._commit()

    def _edit_oracle(self, node: Any) -> None:
        if node.type == "workflow":
            draft = {"title": node.title, "when": node.when, "steps": list(node.steps), "tags": list(node.tags)}
            self._drafts[node.seq] = draft
            thing = self.world.flow_thing(draft, node.goal)
            self.state["changed"] = True
        elif node.type == "atomic":
            thing = self.world.unit_thing(
                {"title": node.title, "when": node.when, "steps": node.steps, "tags": node.tags}
            )
        else:
            thing = {"tags": list(node.tags)}
        self.state["nodes"][node.seq].update(thing)
        self.state["episode"] = self.episodes
        wrote(self.state, node.seq)
        renew(self.state)

    def _export_and_import(self, _: random.Random) -> None:
        """Markdown out and in gives the same graph."""
        folder, fresh = Path(self.folder.name) / f"export-{self.operations}", self._build()
        self.memory.graph.write_folder(folder)
        fresh.graph.read_folder(folder)
        assert fresh.snapshot() == self.memory.snapshot(), "the graph read back from Markdown differs"

    # One episode --------------------------------------------------------------------------------------------------

    def _view(self, plan: dict[str, Any]) -> TaskView:
        return TaskView("webarena", plan["goal"], "none", str(self.episodes))

    def _finished(self, plan: dict[str, Any]) -> Episode:
        return Episode(self.episodes, self._view(plan), START, TURNS, plan["success"], MemoryContext())

    def retrieve(self, plan: dict[str, Any], *, frozen: bool = False) -> None:
        """Section 3 for one task."""
        self.answers.plan(tag=[{"tags": plan["query"]["tags"]}])
        context = self.memory.retrieve(self._view(plan), START)
        (event,) = context.events
        found = retrieve(self.state, plan["query"])
        self.compare.seeds(self.state, event, found, plan["query"])
        self.compare.shown(context.item_ids, event, found)
        same("silence", context.text == "", not found["cleared"])
        same("lines and tokens", (event["lines"], event["tokens"]), (context.lines, len(context.text) // 4))
        aged = {} if frozen else age(self.state, found)
        self.compare.ages(event, found, aged)
        self._winner = next(iter(aged), None)

    def reflect(self, plan: dict[str, Any]) -> None:
        """Sections 4 to 7 for the same task."""
        state, compare = self.state, self.compare
        before = set(state["nodes"])
        state["episode"] = self.episodes
        done = reflect(state, plan["query"], plan)
        if done["workflow"] and "id" in done["workflow"]:
            self._drafts[done["workflow"]["id"]] = plan["flow"]
        self._plan_answers(plan, done)
        watch = Watch()
        with watch.watching():
            report = self.memory.reflect(self._finished(plan))
        same("parse failures", report.parse_failures, 0)
        same("round", watch.partition is not None, state["settings"]["meta"]["enabled"] and state["changed"])
        nodes = watch.nodes or dict(self.memory.graph.graph.nodes)
        self._gone = {node.id: seq for seq, node in nodes.items()}
        cap = self.world.changes["forgetting"]["cap"]
        after = maintain(state, cap, watch.partition, lambda seq: self._describe(nodes[seq]), self._bullet)
        events: dict[str, list[dict[str, Any]]] = {}
        for event in report.events:
            events.setdefault(event["kind"], []).append(dict(event))
        compare.order([event["kind"] for event in report.events])
        compare.writes(events, done)
        compare.round(state, events, after, watch.edges, watch.partition)
        compare.collection(events, after["delete"], cap, len(live(state, "workflow")))
        same("size", events["size"], [{"kind": "size", **after["size"]}])
        same("added", [self._number(name) for name in report.added], sorted(set(state["nodes"]) - before))
        same("removed", [self._number(name) for name in report.removed], sorted(before - set(state["nodes"])))
        compare.seen["winner deleted"] += self._winner in [item["id"] for item in after["delete"]]

    def _describe(self, node: Any) -> Thing:
        """The views of a meta, whose texts are the implementation's."""
        return self.world.thing("\n".join(node.steps), index_text(node.title, node.when), [])

    def _bullet(self, workflow: int) -> dict[str, str]:
        """What a meta keeps of a member."""
        draft = self._drafts[workflow]
        return {"when": draft["when"] or draft["title"], "text": "; ".join(draft["steps"])}

    def _plan_answers(self, plan: dict[str, Any], done: dict[str, Any]) -> None:
        def reply(draft: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
            return {**{key: draft[key] for key in ("title", "when", "steps", "tags")}, **asked}

        flow = done["workflow"]
        self.answers.plan(
            tag=[{"tags": plan["query"]["tags"]}],
            route=[{"kinds": plan["kinds"]}],
            unit=[reply(plan["units"][item["unit"]], item["asked"]) for item in done["atomic"]],
            flow=[reply(plan["flow"], flow["asked"])] if flow else [],
            lesson=[{"when": plan["lesson"]["when"], "lesson": plan["lesson"]["text"]}],
        )
