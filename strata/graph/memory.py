"""STRATA behind the harness's memory protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from strata.graph.calls import Caller
from strata.graph.experience import ExperienceGraph
from strata.graph.reflection import Reflector
from strata.graph.retrieval import Query
from strata.graph.settings import Settings
from strata.graph.tags import read_tags
from strata.prompts import PromptLibrary
from strata.protocols import Backbone, Embedder, Rng
from strata.settings import read_settings
from strata.types import Episode, Json, MemoryContext, MemoryReport, Observation, TaskView


class StrataMemory:
    """An `ExperienceGraph` whose queries, drafts and decisions come from episodes and a backbone."""

    def __init__(
        self, settings: Settings, *, backbone: Backbone, embedder: Embedder, rng: Rng, prompts: PromptLibrary
    ) -> None:
        self._caller = Caller(backbone, prompts, settings.reflection)
        tag_text = self._ask_tags if settings.tagger == "llm" else None
        self.graph = ExperienceGraph(embedder, settings, rng=rng, tag_text=tag_text)
        self._reflector = Reflector(self.graph, self._caller)
        self._query: tuple[TaskView, Query] | None = None
        self._dropped_tags = 0
        self._frozen = False

    @classmethod
    def build(
        cls, config: Mapping[str, Json], *, backbone: Backbone, embedder: Embedder, rng: Rng, prompts: PromptLibrary
    ) -> Self:
        """An empty memory from the config group `memory`. Raises UsageError on a wrong key or value."""
        settings = read_settings(Settings, config, where="memory")
        return cls(settings, backbone=backbone, embedder=embedder, rng=rng, prompts=prompts)

    def retrieve(self, view: TaskView, observation: Observation) -> MemoryContext:
        """The subgraph for a task as text; empty when nothing clears the gate."""
        del observation
        query = self._parse(view)
        selection, text, event = self.graph.retrieve(query, frozen=self._frozen)
        event["dropped_tags"] = self._dropped_tags
        nodes = self.graph.graph.nodes
        flags = [name for name in ("meta", "warning") if event[name]]
        return MemoryContext(
            text=text,
            item_ids=tuple(nodes[seq].id for seq in selection.shown),
            stored=len(nodes),
            flags=tuple(flags),
            events=(event,),
        )

    def reflect(self, episode: Episode) -> MemoryReport:
        """Write what an episode teaches, then keep the graph in order."""
        if self._frozen:
            return MemoryReport(stored=len(self.graph.graph.nodes))
        before = dict(self.graph.graph.nodes)
        events: list[Mapping[str, Json]] = []
        if episode.success is None:
            events.append({"kind": "route", "success": None, "kinds": [], "skipped": "no verdict"})
        else:
            events += self._reflector.reflect(episode, self._parse(episode.view))
        events += self.graph.maintain(episode.view.environment, episode.index)
        self._query = None
        failures = self._caller.take_failures()
        after = self.graph.graph.nodes
        return MemoryReport(
            added=tuple(node.id for seq, node in sorted(after.items()) if seq not in before),
            changed=tuple(n.id for seq, n in sorted(after.items()) if seq in before and n is not before[seq]),
            removed=tuple(node.id for seq, node in sorted(before.items()) if seq not in after),
            stored=len(after),
            parse_failures=len(failures),
            events=(*events, *failures),
        )

    def changes(self) -> bytes:
        """The canonical delta since the last `changes`, `snapshot` or `restore`."""
        return self.graph.changes()

    def snapshot(self) -> bytes:
        """The whole state, canonical."""
        return self.graph.snapshot()

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        """Replace the state by a snapshot and the deltas after it. Raises CorruptStateError."""
        self.graph.restore(snapshot, deltas)
        self._query = None
        self._caller.take_failures()

    def freeze(self) -> None:
        """From now on nothing is learnt and nothing ages."""
        self._frozen = True

    def _parse(self, view: TaskView) -> Query:
        """The task as a query, parsed once per episode."""
        if self._query is None or self._query[0] != view:
            self._dropped_tags = 0
            self._query = view, self.graph.parse(view.instruction, view.environment, view.group)
        return self._query[1]

    def _ask_tags(self, text: str, environment: str, group: str) -> tuple[str, ...]:
        del group
        vocabulary = self.graph.vocabularies.get(environment)
        reply = self._caller.ask(
            "tag",
            "tag",
            {"tags": "list of text"},
            text=" ".join(text.split()),
            operators=", ".join(vocabulary.operators),
            apps=", ".join(vocabulary.apps) or "one only, so no app tag",
        )
        if reply is None:
            return ()
        tags, self._dropped_tags = read_tags(vocabulary, reply["tags"])
        return tags
