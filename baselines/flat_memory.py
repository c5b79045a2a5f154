"""Flat-Memory: one record an episode in a list, found by the similarity of task instructions.

No published code defines it; this is the common core of Synapse, ExpRAG, MemP and the flat rows of benchmark papers.
Every episode gives one record, successes and failures alike, tagged. The k records whose instructions are nearest
(cosine) are shown once, at the end of the system message. No deduplication, linking, merging or threshold.

A task never sees its own record. Equal scores are ordered by age, oldest first. A reflection that could not be read
is counted, and the record shows its clipped trajectory instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Self

import numpy as np

from strata.canonical import pack, unpack
from strata.errors import CorruptStateError, UsageError
from strata.prompts import PromptLibrary, render_trajectory
from strata.prompts.fields import ReplyError, read_fields
from strata.protocols import Backbone, Embedder, Rng, Vectors
from strata.settings import read_settings, setting
from strata.types import Episode, Json, MemoryContext, MemoryReport, Message, Observation, Sampling, TaskView, Turn

_CHARS_PER_TOKEN = 4
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FlatSettings:
    """Settings of Flat-Memory."""

    mode: Literal["reflection", "trajectory"] = setting("reflection", "what a record shows of its episode")
    k: int = setting(3, "records shown at most")
    keep: Literal["all", "success"] = setting("all", "which episodes are recorded")
    capacity: int | None = setting(None, "oldest records beyond this many are dropped; null: never")
    observation_chars: int = setting(500, "each observation is cut to this many characters")
    trajectory_tokens: int = setting(
        2000, "a trajectory is cut to this many tokens of 4 characters, head and tail kept"
    )
    reflection_tokens: int = setting(400, "a reflection is cut to this many tokens of 4 characters")
    temperature: float = setting(0.0, "temperature of the reflection call")
    max_tokens: int = setting(4096, "token limit of the reflection call; a reply that reaches it counts as unreadable")

    def __post_init__(self) -> None:
        for name in ("k", "observation_chars", "trajectory_tokens", "reflection_tokens", "max_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1.")
        if self.capacity is not None and self.capacity < 1:
            raise ValueError(f"capacity={self.capacity}: must be at least 1, or null for no limit.")
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature={self.temperature}: must be between 0 and 2.")


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one episode. `key` is the digest of its task; `outcome` is success, failure or unknown."""

    id: str
    key: str
    environment: str
    instruction: str
    outcome: str
    reflection: str
    trajectory: str
    episode: int


class FlatMemory:
    """The list and the matrix of its instructions' vectors, row by row."""

    _records: list[Record]
    _vectors: Vectors
    _next: int
    _added: set[str]
    _removed: list[str]

    def __init__(self, settings: FlatSettings, backbone: Backbone, embedder: Embedder, prompts: PromptLibrary) -> None:
        self._settings = settings
        self._backbone = backbone
        self._embedder = embedder
        self._reflect_prompt = prompts.get("flat/reflect")
        self._inject_prompt = prompts.get("flat/inject")
        self._frozen = False
        self._clear()

    @classmethod
    def build(
        cls, config: Mapping[str, Json], *, backbone: Backbone, embedder: Embedder, rng: Rng, prompts: PromptLibrary
    ) -> Self:
        """An empty memory. Raises UsageError on a wrong key or value."""
        del rng
        return cls(read_settings(FlatSettings, config, where="memory"), backbone, embedder, prompts)

    def retrieve(self, view: TaskView, observation: Observation) -> MemoryContext:
        """The k nearest records of other tasks."""
        del observation
        if not self._records:
            return MemoryContext()
        ranked = self._rank(view)
        event = {
            "kind": "retrieve",
            "ids": [record.id for record, _ in ranked],
            "scores": [round(score, 6) for _, score in ranked],
        }
        records = [record for record, _ in ranked]
        text = self._inject_prompt.fill(records=self._render(records)).strip() if records else ""
        ids = tuple(record.id for record in records)
        return MemoryContext(text=text, item_ids=ids, stored=len(self._records), events=(event,))

    def reflect(self, episode: Episode) -> MemoryReport:
        """Add the episode's record. A failing backbone raises, and nothing is added."""
        if self._frozen or (self._settings.keep == "success" and not episode.success):
            return MemoryReport(stored=len(self._records))
        trajectory = clip_trajectory(episode.turns, self._settings.observation_chars, self._settings.trajectory_tokens)
        reflection = ""
        events: list[Mapping[str, Json]] = []
        if self._settings.mode == "reflection":
            reflection, events = self._ask(episode, trajectory)
        vector = self._embedder.embed([episode.view.instruction])
        record = Record(
            id=f"r{self._next}",
            key=episode.view.key,
            environment=episode.view.environment,
            instruction=episode.view.instruction,
            outcome=_outcome(episode),
            reflection=reflection,
            trajectory=trajectory,
            episode=episode.index,
        )
        removed = self._append(record, vector)
        return MemoryReport(
            added=(record.id,),
            removed=removed,
            stored=len(self._records),
            parse_failures=len(events),
            events=tuple(events),
        )

    def changes(self) -> bytes:
        """Records added and ids removed since the last commit, with the added vectors."""
        fresh = [at for at, record in enumerate(self._records) if record.id in self._added]
        document = self._head() | {
            "added": [asdict(self._records[at]) for at in fresh],
            "removed": list(self._removed),
        }
        self._added, self._removed = set(), []
        return pack(document, {"vectors": self._vectors[fresh]})

    def snapshot(self) -> bytes:
        """All records and vectors."""
        self._added, self._removed = set(), []
        document = self._head() | {"records": [asdict(record) for record in self._records]}
        return pack(document, {"vectors": self._vectors})

    def restore(self, snapshot: bytes | None, deltas: Iterable[bytes]) -> None:
        """Replace the state. Raises CorruptStateError, or UsageError when another embedder made the vectors."""
        self._clear()
        if snapshot is not None:
            document, vectors = self._open(snapshot, "Flat-Memory snapshot")
            self._extend(document["records"], vectors)
            self._next = document["next"]
        for number, delta in enumerate(deltas):
            document, vectors = self._open(delta, f"Flat-Memory delta {number}")
            self._extend(document["added"], vectors)
            self._drop(document["removed"])
            self._next = document["next"]

    def freeze(self) -> None:
        """From now on nothing is recorded."""
        self._frozen = True

    def _rank(self, view: TaskView) -> list[tuple[Record, float]]:
        query = self._embedder.embed([view.instruction])[0].astype(np.float64)
        # Not a matrix product: BLAS may give equal rows unequal scores, and ties must stay ties.
        scores = (self._vectors.astype(np.float64) * query).sum(axis=1)
        order = [int(at) for at in np.argsort(-scores, kind="stable") if self._records[at].key != view.key]
        return [(self._records[at], float(scores[at])) for at in order[: self._settings.k]]

    def _render(self, records: list[Record]) -> str:
        blocks = []
        for number, record in enumerate(records, start=1):
            body = f"Reflection: {record.reflection}" if record.reflection else f"What was done:\n{record.trajectory}"
            text = f"{number}. Task: {record.instruction}\nOutcome: {record.outcome}\n{body}"
            blocks.append("\n   ".join(line for line in text.splitlines() if line.strip()))
        return "\n\n".join(blocks)

    def _ask(self, episode: Episode, trajectory: str) -> tuple[str, list[Mapping[str, Json]]]:
        """The reflection, or an empty one and the event that says why."""
        prompt = self._reflect_prompt.fill(
            instruction=episode.view.instruction, trajectory=trajectory, outcome=_outcome(episode)
        )
        sampling = Sampling(temperature=self._settings.temperature, max_tokens=self._settings.max_tokens)
        reply = self._backbone.complete([Message("user", prompt)], sampling=sampling, purpose="reflect")
        try:
            if reply.finish != "stop":
                raise ReplyError(f"the reply ended by {reply.finish}")
            fields = read_fields(reply.text, {"reason": "text", "lesson": "text"})
            text = f"{fields['reason']}\n{fields['lesson']}".strip()
            if not text:
                raise ReplyError("the reflection is empty")
        except ReplyError as error:
            return "", [
                {"kind": "unreadable_reply", "purpose": "reflect", "reason": str(error), "reply": reply.text[:2000]}
            ]
        return _cut(text, self._settings.reflection_tokens * _CHARS_PER_TOKEN), []

    def _append(self, record: Record, vector: Vectors) -> tuple[str, ...]:
        self._records.append(record)
        self._vectors = np.concatenate([self._vectors, vector])
        self._added.add(record.id)
        self._next += 1
        capacity = self._settings.capacity or len(self._records)
        dropped = [old.id for old in self._records[:-capacity]]
        self._drop(dropped)
        self._removed += [name for name in dropped if name not in self._added]
        self._added -= set(dropped)
        return tuple(dropped)

    def _extend(self, records: list[dict[str, Json]], vectors: Vectors) -> None:
        self._records += [Record(**record) for record in records]
        self._vectors = np.concatenate([self._vectors, vectors])

    def _drop(self, ids: list[str]) -> None:
        kept = [at for at, record in enumerate(self._records) if record.id not in ids]
        self._records = [self._records[at] for at in kept]
        self._vectors = self._vectors[kept]

    def _clear(self) -> None:
        self._records = []
        self._vectors = np.zeros((0, self._embedder.dimension), dtype=np.float32)
        self._next = 0
        self._added, self._removed = set(), []

    def _head(self) -> dict[str, Json]:
        embedder = {"name": self._embedder.name, "dimension": self._embedder.dimension}
        return {"memory": "flat", "format": _FORMAT, "embedder": embedder, "next": self._next}

    def _open(self, blob: bytes, source: str) -> tuple[dict[str, Json], Vectors]:
        document, arrays = unpack(blob, source=source)
        head = self._head()
        if (document.get("memory"), document.get("format")) != (head["memory"], head["format"]):
            raise CorruptStateError(f"{source}: not a state of Flat-Memory in format {_FORMAT}.")
        if document["embedder"] != head["embedder"]:
            raise UsageError(
                f"{source} was written with the embedder {document['embedder']}, but this run uses {head['embedder']}. "
                f"Their vectors cannot be compared. Use embedder={document['embedder']['name']}."
            )
        return document, arrays["vectors"]


def clip_trajectory(turns: tuple[Turn, ...], observation_chars: int, tokens: int) -> str:
    """As many whole steps from the head and the tail as fit into `tokens` (4 characters each), at least one each."""
    limit = tokens * _CHARS_PER_TOKEN
    text = ""
    for kept in range((len(turns) + 1) // 2, 0, -1):
        text = render_trajectory(turns, observation_chars=observation_chars, head=kept, tail=kept)
        if len(text) <= limit:
            return text
    return _cut(text, limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]} [{len(text) - limit} characters left out] {text[len(text) - (limit - head) :]}"


def _outcome(episode: Episode) -> str:
    return {True: "success", False: "failure", None: "unknown"}[episode.success]
