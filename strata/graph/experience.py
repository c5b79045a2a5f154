"""The graph as a library: a query goes in and text comes out, experience goes in and the graph keeps itself in order.

`ExperienceGraph` joins the modules of this package, one per section of the method. It calls no language model:
`strata.graph.reflection` does, and hands its drafts to the `judge_*` and `write_*` methods here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from strata.errors import CorruptStateError, DataError
from strata.graph import ageing, communities, forgetting, markdown, meta, state, thresholds, validate
from strata.graph.contrast import ContrastRule
from strata.graph.derived_graph import DerivedGraph, PairScores
from strata.graph.model import ORDER, Bullet, BulletKind, Graph, Node, leading_tag
from strata.graph.rendering import render
from strata.graph.retrieval import Query, Selection, rank_score, select
from strata.graph.settings import Settings
from strata.graph.similarity import Index, Vector, Views, unit_rows
from strata.graph.tags import Vocabularies, add_noise, arrange, read_tags, rule_tags
from strata.graph.text import Tokenizer, normal
from strata.protocols import Embedder, Rng
from strata.types import Json

Event = dict[str, Json]
TagText = Callable[[str, str, str], tuple[str, ...]]
"""(text, environment, group) -> tags: how a query is parsed."""

_WORKFLOW, _ATOMIC = ORDER["workflow"], ORDER["atomic"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A unit or procedure before it is a node."""

    title: str
    when: str
    steps: tuple[str, ...]
    tags: tuple[str, ...] = ()
    kind: str = ""
    goal: str = ""
    calls: tuple[int, ...] = ()

    def with_tags(self, tags: tuple[str, ...]) -> Draft:
        """The draft with other tags."""
        return replace(self, tags=tags)

    def with_calls(self, calls: tuple[int, ...]) -> Draft:
        """The draft with the atomic nodes that it calls, in order."""
        return replace(self, calls=calls)


@dataclass(slots=True)
class Verdict:
    """What shall become of an episode's result, and the score to record once that is done."""

    decision: Literal["create", "add_bullet", "noop", "none"]
    nearest: int | None
    group: str
    score: float | None
    event: Event = field(default_factory=dict)


def seeded(*key: str | int) -> random.Random:
    """Stateless generators for use without the harness."""
    return random.Random("/".join(map(str, key)))


class ExperienceGraph:
    """Experience as a self-maintaining graph.

    `tag_text` parses queries into tags (default: the rules of `strata.graph.vocabulary`); `rng` gives generators by
    key. Not safe for use by several threads at once.
    """

    def __init__(
        self,
        embedder: Embedder,
        settings: Settings | None = None,
        *,
        rng: Rng = seeded,
        tag_text: TagText | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._embedder = embedder
        self._rng = rng
        self._tag_text = tag_text or self._rule_tags
        self.vocabularies = Vocabularies()
        self._tokenizer = Tokenizer()
        self._contrast = ContrastRule.build(self.settings.contrast)
        self._reset(Graph())

    def _reset(self, graph: Graph) -> None:
        self.graph = graph
        self.index = Index(self._embedder.dimension, self.settings.similarity)
        self._pairs = PairScores(self.settings.meta)

    # Queries ------------------------------------------------------------------------------------------------------

    def parse(self, text: str, environment: str = "general", group: str = "") -> Query:
        """A task in the nodes' own geometry."""
        tags = self._noisy(text, environment, self._tag_text(text, environment, group))
        index_text = text
        if self.settings.similarity.query_views == "parsed" and tags:
            index_text = " ".join(tag.partition(":")[2] for tag in tags)
        content, index = self._embed([text, index_text])
        return Query(text, environment, group, Views(content, index, tags, tuple(self._tokenizer.tokens(text))))

    def _rule_tags(self, text: str, environment: str, group: str) -> tuple[str, ...]:
        return rule_tags(self.vocabularies.get(environment), text, group)

    def _noisy(self, text: str, environment: str, tags: tuple[str, ...]) -> tuple[str, ...]:
        share = self.settings.tag_noise
        if share <= 0:
            return tags
        return add_noise(self.vocabularies.get(environment), tags, share, self._rng("tag_noise", text))

    def tags_of_node(self, text: str, query: Query, proposed: Iterable[str]) -> tuple[str, ...]:
        """Tags of a new node: by rules from its text, or those that a model proposed, cleaned."""
        vocabulary = self.vocabularies.get(query.environment)
        if self.settings.tagger == "rules":
            tags = rule_tags(vocabulary, text, query.group)
        else:
            tags = arrange(vocabulary, read_tags(vocabulary, proposed)[0])
        return self._noisy(text, query.environment, tags)

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        return list(unit_rows(self._embedder.embed(texts)))

    # Retrieval (section 3) ----------------------------------------------------------------------------------------

    def select(self, query: Query) -> Selection:
        """What would be shown, without ageing anything."""
        return select(self.graph, self.index, query, self._contrast, self.settings.retrieval)

    def render(self, query: Query, selection: Selection) -> str:
        """The text of a selection."""
        return render(self.graph, query, selection, self.settings.render, self._tokenizer.tokens)

    def retrieve(self, query: Query, *, frozen: bool = False) -> tuple[Selection, str, Event]:
        """What to show for a query, its text, and the event that explains it. Ages the workflows unless frozen."""
        selection = self.select(query)
        text = self.render(query, selection)
        event = self._explain(query, selection, text)
        event["aged"] = [] if frozen else self._age(selection)
        return selection, text, event

    def _age(self, selection: Selection) -> list[Event]:
        workflows = {seq: score for seq, score in selection.cleared.items() if self.graph.nodes[seq].type == "workflow"}
        return ageing.retrieved(self.graph, workflows, self.settings.ageing)

    def _explain(self, query: Query, selection: Selection, text: str) -> Event:
        nodes, beta = self.graph.nodes, self.settings.retrieval.beta_layer
        search = self.index.search(query.views)
        return {
            "kind": "retrieve",
            "tags": list(query.tags),
            "theta_min": self.settings.retrieval.theta_min,
            "cleared": len(selection.cleared),
            "seeds": [
                {
                    "id": nodes[seq].id,
                    "type": nodes[seq].type,
                    "score": selection.scores[seq],
                    "rank_score": rank_score(selection.scores[seq], nodes[seq], beta),
                    "parts": search.parts(seq),
                }
                for seq in selection.seeds
            ],
            "injected": [
                {"id": nodes[seq].id, "type": nodes[seq].type, "role": role, "score": selection.scores[seq]}
                for role, seqs in (
                    ("meta", selection.metas),
                    ("warning", selection.warnings),
                    ("unclear", selection.unclear),
                    ("procedure", selection.procedures),
                    ("atomic", selection.atomics),
                )
                for seq in seqs
            ],
            "pairs": [
                {"seed": nodes[pair.seed].id, "neighbour": nodes[pair.neighbour].id, "roles": list(pair.roles)}
                for pair in selection.pairs
            ],
            "meta": bool(selection.metas),
            "warning": bool(selection.warnings or selection.unclear),
            "lines": sum(1 for item in text.splitlines() if item.strip()),
            "tokens": len(text) // 4,
        }

    # Reflection (section 4) ---------------------------------------------------------------------------------------

    def nearest_atomics(
        self, query: Query, count: int, *, kind: str | None = None, first: Sequence[int] = ()
    ) -> list[Node]:
        """Atomic nodes to show to a reflector: those named first, then the nearest to the query."""
        nodes = self.graph.nodes
        hidden = set(self.graph.merged) | set(first)
        if kind is not None:
            hidden |= {seq for seq, node in nodes.items() if node.type == "atomic" and node.kind != kind}
        named = [nodes[self.graph.resolve(seq)] for seq in dict.fromkeys(first)]
        ranked = self.index.search(query.views).top(_ATOMIC, max(0, count - len(named)), skip=hidden)
        return [*named, *(nodes[seq] for seq, _ in ranked)]

    def write_atomic(self, decision: str, draft: Draft, known: Sequence[int], episode: int) -> tuple[Event, int]:
        """Create a unit, refine a known one, or merge several into a new one. Returns the event and the node."""
        event: Event = {"kind": "atomic", "unit": draft.kind, "decision": decision}
        same = self._same_unit(draft)
        if decision == "create" and same is not None:
            return event | {"decision": "duplicate", "id": self.graph.nodes[same].id}, same
        if decision == "refine":
            node = self.graph.amend(
                known[0], episode, title=draft.title, when=draft.when, steps=draft.steps, tags=draft.tags
            )
            self._refresh(node.seq)
            return event | {"id": node.id}, node.seq
        node = self.graph.add(
            "atomic",
            title=draft.title,
            when=draft.when,
            steps=draft.steps,
            tags=draft.tags,
            episode=episode,
            kind=draft.kind,
        )
        self._refresh(node.seq)
        for source in known if decision == "merge" else ():
            self.graph.merge(source, node.seq)
        sources = [self.graph.nodes[seq].id for seq in known] if decision == "merge" else []
        return event | {"id": node.id, "sources": sources}, node.seq

    def _same_unit(self, draft: Draft) -> int | None:
        wanted = normal("\n".join(draft.steps))
        for node in self.graph.of_type("atomic"):
            if node.kind == draft.kind and normal(node.procedure) == wanted and node.seq not in self.graph.merged:
                return node.seq
        return None

    def judge_workflow(self, draft: Draft) -> Verdict:
        """Compare a candidate with the nearest workflow, by the thresholds of the candidate's group."""
        probe = self._draft_node(draft)
        search = self.index.search(self._views(probe), symmetric=True)
        found = search.nearest(_WORKFLOW)
        band = thresholds.band(self.graph, probe.group, self.settings.thresholds)
        event: Event = {
            "kind": "workflow",
            "group": band.group,
            "tags": list(draft.tags),
            "tau_low": band.low,
            "tau_high": band.high,
            "n_g": band.scores,
        }
        if found is None:
            event |= {"decision": "create", "nearest": None, "score": None}
            return Verdict("create", None, band.group, None, event)
        nearest, score = found
        decision: Literal["create", "add_bullet", "noop"] = "create"
        if score > band.high:
            decision = "noop"
        elif score >= band.low:
            decision = "add_bullet"
        event |= {
            "decision": decision,
            "nearest": self.graph.nodes[nearest].id,
            "score": score,
            "parts": search.parts(nearest),
        }
        return Verdict(decision, nearest, band.group, score, event)

    def judge_failure(self, query: Query) -> Verdict:
        """Whether a failed episode may leave a pitfall, and where. Records no score."""
        found = self.index.search(query.views).nearest(_WORKFLOW)
        band = thresholds.band(self.graph, leading_tag(query.tags), self.settings.thresholds)
        event: Event = {"kind": "failure", "group": band.group, "tau_low": band.low, "n_g": band.scores}
        near = found is not None and found[1] >= band.low
        event |= {
            "decision": "add_bullet" if near else "none",
            "nearest": self.graph.nodes[found[0]].id if found else None,
            "score": found[1] if found else None,
        }
        return Verdict("add_bullet" if near else "none", found[0] if found else None, band.group, None, event)

    def record(self, verdict: Verdict) -> None:
        """Record the score of a decision that was carried out."""
        if verdict.score is not None:
            self.graph.record_score(verdict.group, verdict.score)

    def write_workflow(self, draft: Draft, episode: int) -> list[Event]:
        """Create a workflow with its contrast edges. The first event names it."""
        node = self.graph.add(
            "workflow",
            title=draft.title,
            when=draft.when,
            steps=draft.steps,
            tags=draft.tags,
            episode=episode,
            goal=draft.goal,
            calls=draft.calls,
        )
        self._refresh(node.seq)
        return [{"kind": "created", "id": node.id}, *self._contrast_events(node.seq)]

    def _contrast_events(self, workflow: int) -> list[Event]:
        added, removed = self._contrast.update(self.graph, workflow)
        nodes = self.graph.nodes
        return [
            {"kind": "contrast", "change": change, "a": nodes[workflow].id, "b": nodes[partner].id}
            for change, partners in (("added", added), ("removed", removed))
            for partner in partners
        ]

    def write_bullet(self, kind: str, workflow: int, when: str, text: str, episode: int) -> Event:
        """Add one bullet to a workflow, unless it has it already."""
        node = self.graph.nodes[workflow]
        event: Event = {"kind": "bullet", "bullet": kind, "id": node.id, "text": text, "when": when}
        wanted = normal(f"{when} {text}")
        if any(normal(f"{bullet.key} {bullet.text}") == wanted and bullet.kind == kind for bullet in node.bullets):
            return event | {"decision": "duplicate"}
        bullet_kind: BulletKind = "pitfall" if kind == "pitfall" else "variant"
        self.graph.amend(
            workflow, episode, bullets=(*node.bullets, Bullet(bullet_kind, text, key=when, episode=episode))
        )
        return event | {"decision": "added", "bullets": len(node.bullets) + 1}

    # Maintenance (sections 5 and 6) -------------------------------------------------------------------------------

    def derived(self) -> DerivedGraph:
        """W, the similarity graph of the live workflows."""
        if self.settings.similarity.lexical == "bm25":  # its document frequencies change with every node
            self._pairs.clear()
        self._pairs.sync(self.graph, self.index)
        return self._pairs.derive()

    def maintain(self, environment: str, episode: int) -> list[Event]:
        """Meta layer if workflows changed, collection if there are too many, then the sizes."""
        events: list[Event] = []
        derived: DerivedGraph | None = None
        if self.settings.meta.enabled and self.graph.values["workflows_changed"]:
            derived = self.derived()
            events += self._round(derived, episode)
            self.graph.set_value("workflows_changed", 0)
        limits = self.settings.forgetting
        if limits.mode != "none" and self.graph.count("workflow") > limits.cap_for(environment):
            derived = derived or self.derived()
            events += forgetting.collect(self.graph, derived, limits, self.settings.ageing, environment)
            for seq in self.index.seqs() - set(self.graph.nodes):
                self.index.discard(seq)
        return [*events, self.sizes()]

    def _round(self, derived: DerivedGraph, episode: int) -> list[Event]:
        seed = self._rng("louvain", episode).getrandbits(31)
        parts = communities.communities(derived, self.settings.meta, seed)
        event: Event = {
            "kind": "round",
            "workflows": len(derived.neighbours),
            "edges": len(derived.edges()),
            "communities": len(parts),
            "largest": max(map(len, parts), default=0),
            "thresholds": self._pairs.thresholds(),
        }
        g_high = self.settings.thresholds.g_high
        return [
            event,
            *meta.run_round(
                self.graph, self.index, derived, parts, self.settings.meta, g_high, episode, self._refresh_meta
            ),
        ]

    def sizes(self) -> Event:
        """The composition of the graph (paper, table on graph statistics)."""
        workflows = self.graph.of_type("workflow")
        bullets = [bullet.kind for node in workflows for bullet in node.bullets]
        return {
            "kind": "size",
            "atomic": self.graph.count("atomic"),
            "workflow": len(workflows),
            "meta": self.graph.count("meta"),
            "call": sum(len(node.calls) for node in workflows),
            "generalizes": sum(map(len, self.graph.children.values())),
            "merged_from": len(self.graph.merged),
            "contrasts": sum(map(len, self.graph.contrasts.values())) // 2,
            "variants": bullets.count("variant"),
            "pitfalls": bullets.count("pitfall"),
            "retrievals": self.graph.values["retrievals"],
        }

    # Views --------------------------------------------------------------------------------------------------------

    def _draft_node(self, draft: Draft) -> Node:
        return Node(
            seq=-1,
            id="",
            type="workflow",
            title=draft.title,
            when=draft.when,
            steps=draft.steps,
            tags=draft.tags,
            goal=draft.goal,
        )

    def _views(self, node: Node) -> Views:
        content, index = self._embed([node.content(self.settings.similarity.content_view), node.index])
        return Views(content, index, node.tags, self._tokens(node))

    def _tokens(self, node: Node) -> tuple[str, ...]:
        return tuple(self._tokenizer.tokens(node.words(self.settings.similarity.content_view)))

    def _refresh(self, seq: int) -> None:
        node = self.graph.nodes[seq]
        self.index.add(seq, ORDER[node.type], self._views(node))
        self._pairs.forget(seq)

    def _refresh_meta(self, seq: int) -> None:
        """A meta's texts never change after its creation; its tags may."""
        node = self.graph.nodes[seq]
        if seq in self.index:
            self.index.add(seq, ORDER["meta"], replace(self.index.views(seq), tags=node.tags))
        else:
            self._refresh(seq)

    # State (section 9) --------------------------------------------------------------------------------------------

    def changes(self) -> bytes:
        """The canonical delta since the last `changes`, `snapshot` or `restore`."""
        blob = state.delta(self.graph, self._vectors(), self._embedder.name, self._embedder.dimension)
        state.clear_touched(self.graph)
        return blob

    def snapshot(self) -> bytes:
        """The whole state, canonical."""
        blob = state.snapshot(self.graph, self._vectors(), self._embedder.name, self._embedder.dimension)
        state.clear_touched(self.graph)
        return blob

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        """Replace the state. Raises CorruptStateError and leaves the state as it was."""
        blobs = [] if snapshot is None else [("memory snapshot", snapshot)]
        blobs += [(f"memory delta {number}", blob) for number, blob in enumerate(deltas)]
        self._take(state.read(blobs, self._embedder.name, self._embedder.dimension))

    def _take(self, tables: state.Tables) -> None:
        graph = state.build(tables)
        found = validate.problems(graph)
        if found:
            raise CorruptStateError(f"The memory state is inconsistent: {'; '.join(found[:3])}.")
        self._reset(graph)
        for seq, node in graph.nodes.items():
            content, index = tables.vector[seq]
            self.index.add(seq, ORDER[node.type], Views(content, index, node.tags, self._tokens(node)))

    def write_folder(self, folder: Path) -> None:
        """Write the graph as Markdown, one file per node."""
        markdown.write_folder(self.graph, folder)

    def read_folder(self, folder: Path) -> None:
        """Replace the graph by one written as Markdown; embeddings are computed anew. Raises DataError."""
        tables = markdown.read_folder(folder)
        for seq, node in tables.node.items():
            content, index = self._embed([node.content(self.settings.similarity.content_view), node.index])
            tables.vector[seq] = content, index
        self._take(tables)
        self.graph.touched = state.everything(self.graph)

    def apply_edits(self, folder: Path, episode: int) -> list[Event]:
        """Take over what was changed by hand in the files of live nodes: title, when, goal, tags, steps, bullets.

        Contrast edges follow changed tags. Returns one event per edited node. Raises DataError and changes nothing
        when a file cannot be read or belongs to no live node.
        """
        edited = markdown.read_folder(folder).node
        strangers = [node.id for seq, node in edited.items() if self.graph.by_id.get(node.id) != seq]
        if strangers:
            raise DataError(
                f"{folder}: {strangers[0]} is not a live node of this graph. Edit files of live nodes only."
            )
        events: list[Event] = []
        for seq, node in sorted(edited.items()):
            changes = markdown.differences(self.graph.nodes[seq], node)
            if changes:
                events += self._edit(seq, changes, episode)
        return events

    def _edit(self, seq: int, changes: dict[str, Json], episode: int) -> list[Event]:
        node = self.graph.amend(seq, episode, **changes)
        event: Event = {"kind": "edit", "id": node.id, "fields": sorted(changes)}
        if set(changes) == {"bullets"}:
            return [event]
        self._refresh(seq)
        if node.type != "workflow":
            return [event]
        self.graph.set_value("workflows_changed", 1)
        return [event, *self._contrast_events(seq)]

    def _vectors(self) -> state.Vectors:
        return _VectorView(self.index)

    def validate(self) -> None:
        """Raise CorruptStateError naming what is wrong, if anything is."""
        found = validate.problems(self.graph)
        if self.index.seqs() != set(self.graph.nodes):
            found.append("the index does not hold the live nodes")
        if found:
            raise CorruptStateError(f"The graph is inconsistent: {'; '.join(found)}.")


class _VectorView(dict[int, tuple[Vector, Vector]]):
    """Embeddings by sequence number, read from the index."""

    def __init__(self, index: Index) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, seq: int) -> tuple[Vector, Vector]:
        views = self._index.views(seq)
        return views.content, views.index
