"""Section 4: what an episode leaves in the graph.

A router names the reflectors. Atomic reflectors write units of solved episodes; the workflow reflector writes a
candidate, and its similarity to the nearest workflow decides whether it is a duplicate, a variant or new. A failed
episode never leaves a procedure, at most one pitfall on the nearest workflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.graph.calls import Caller
from strata.graph.experience import Draft, ExperienceGraph
from strata.graph.model import Node
from strata.graph.retrieval import Query
from strata.graph.settings import Reflection
from strata.graph.text import line, steps
from strata.prompts import render_trajectory
from strata.prompts.fields import FieldType
from strata.types import Episode, Json, Turn

KINDS = ("skill", "code", "role", "workflow")
_CHARS_PER_TOKEN = 4

_ATOMIC: dict[str, FieldType] = {
    "decision": "text",
    "indices": "list of number",
    "title": "text",
    "when": "text",
    "steps": "list of text",
    "tags": "list of text",
}
_WORKFLOW: dict[str, FieldType] = {
    "title": "text",
    "when": "text",
    "steps": "list of text",
    "tags": "list of text",
    "indices": "list of number",
}
_LESSON: dict[str, FieldType] = {"when": "text", "lesson": "text"}

Event = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Material:
    """What every reflector is shown of an episode."""

    task: str
    outcome: str
    trajectory: str

    def values(self) -> dict[str, str]:
        """The placeholders that the prompts share."""
        return {"task": self.task, "outcome": self.outcome, "trajectory": self.trajectory}


def fit_trajectory(turns: Sequence[Turn], settings: Reflection) -> tuple[str, Event]:
    """The trajectory within its token budget, and an event that says how it was cut.

    All steps are shown as long as they fit, since the decisive one may be anywhere. While the text is too long,
    observations are halved down to 50 characters, then the steps kept at either end; what is still too long is cut.
    """
    chars, ends = settings.observation_chars, max(1, len(turns))
    limit = settings.input_tokens * _CHARS_PER_TOKEN
    text = render_trajectory(turns, observation_chars=chars, head=ends, tail=ends)
    while len(text) > limit and (chars > 50 or ends > 1):
        if chars > 50:
            chars = max(50, chars // 2)
        else:
            ends = max(1, ends // 2)
        text = render_trajectory(turns, observation_chars=chars, head=ends, tail=ends)
    event: Event = {
        "kind": "trajectory",
        "steps": len(turns),
        "shown": min(len(turns), 2 * ends),
        "observation_chars": chars,
        "cut": len(text) > limit,
        "tokens": min(len(text), limit) // _CHARS_PER_TOKEN,
    }
    return text[:limit], event


class Reflector:
    """Turns one episode into writes. Events say what was decided and from which numbers."""

    def __init__(self, graph: ExperienceGraph, caller: Caller) -> None:
        self._graph = graph
        self._caller = caller

    def reflect(self, episode: Episode, query: Query) -> list[Event]:
        """Reflect on an episode that has a verdict."""
        text, event = fit_trajectory(episode.turns, self._graph.settings.reflection)
        material = Material(line(episode.view.instruction, 2000), "success" if episode.success else "failure", text)
        events = [event]
        routed = self._route(material)
        events.append({"kind": "route", "success": episode.success, "kinds": routed})
        if episode.success:
            written: list[int] = []
            for kind in (kind for kind in KINDS[:3] if kind in routed):
                events += self._atomic(kind, material, query, episode, written)
            if "workflow" in routed:
                events += self._workflow(material, query, episode, written)
        elif "workflow" in routed:
            events += self._pitfall(material, query, episode)
        return events

    def _route(self, material: Material) -> list[str]:
        reply = self._caller.ask("route", "route", {"kinds": "list of text"}, **material.values())
        named = {kind.lower() for kind in reply["kinds"]} if reply else set()
        return [kind for kind in KINDS if kind in named]

    def _atomic(self, kind: str, material: Material, query: Query, episode: Episode, written: list[int]) -> list[Event]:
        shown = self._graph.nearest_atomics(query, self._graph.settings.reflection.shown_items, kind=kind)
        reply = self._caller.ask(kind, "reflect", _ATOMIC, items=_items(shown), **material.values())
        if reply is None:
            return []
        draft = self._draft(reply, query, kind=kind)
        if not draft.title or not draft.steps:
            self._caller.reject(kind, "the unit has no title or no content")
            return []
        decision, chosen = reply["decision"].lower().strip(" ."), _pick(shown, reply["indices"])
        if decision not in ("create", "refine", "merge") or chosen is None:
            self._caller.reject(
                kind, f"decision {decision!r:.40} with indices {reply['indices']} cannot be carried out"
            )
            return []
        if (decision == "refine" and len(chosen) != 1) or (decision == "merge" and len(chosen) < 2):
            self._caller.reject(kind, f"{decision} names {len(chosen)} known items")
            return []
        event, seq = self._graph.write_atomic(decision, draft, [node.seq for node in chosen], episode.index)
        written.append(seq)
        event["shown"] = [node.id for node in shown]
        return [event]

    def _draft(self, reply: dict[str, Json], query: Query, *, kind: str = "", context: str = "") -> Draft:
        title, when = line(reply["title"], 120), line(reply["when"])
        draft = Draft(title=title, when=when, steps=steps(reply["steps"]), kind=kind, goal=line(context))
        text = ". ".join(part for part in (title, when, context) if part)
        if kind:
            text += ". " + ". ".join(draft.steps)
        return draft.with_tags(self._graph.tags_of_node(text, query, reply["tags"]))

    def _workflow(self, material: Material, query: Query, episode: Episode, written: list[int]) -> list[Event]:
        shown = self._graph.nearest_atomics(query, self._graph.settings.reflection.shown_items, first=written)
        reply = self._caller.ask("workflow", "reflect", _WORKFLOW, items=_items(shown), **material.values())
        if reply is None:
            return []
        draft = self._draft(reply, query, context=material.task)
        if not draft.title or not draft.steps:
            self._caller.reject("workflow", "the procedure has no title or no steps")
            return []
        called = _pick(shown, reply["indices"])
        if called is None:
            self._caller.reject("workflow", f"indices {reply['indices']} name units that were not shown")
            return []
        draft = draft.with_calls(tuple(node.seq for node in called))
        verdict = self._graph.judge_workflow(draft)
        events: list[Event] = [verdict.event]
        if verdict.decision == "create":
            created = self._graph.write_workflow(draft, episode.index)
            verdict.event["id"] = created[0]["id"]
            events += created[1:]
        elif verdict.decision == "add_bullet" and verdict.nearest is not None:
            events += self._bullet("variant", verdict.nearest, material, episode)
        self._graph.record(verdict)
        return events

    def _pitfall(self, material: Material, query: Query, episode: Episode) -> list[Event]:
        verdict = self._graph.judge_failure(query)
        events: list[Event] = [verdict.event]
        if verdict.decision == "add_bullet" and verdict.nearest is not None:
            events += self._bullet("pitfall", verdict.nearest, material, episode)
        return events

    def _bullet(self, kind: str, workflow: int, material: Material, episode: Episode) -> list[Event]:
        known = _item(self._graph.graph.nodes[workflow])
        reply = self._caller.ask(kind, "reflect", _LESSON, known=known, **material.values())
        if reply is None:
            return []
        when, lesson = line(reply["when"], 150), line(reply["lesson"])
        if not lesson:
            self._caller.reject(kind, "the lesson is empty")
            return []
        return [self._graph.write_bullet(kind, workflow, when, lesson, episode.index)]


def _item(node: Node) -> str:
    return line(f"{node.title} (when: {node.when}): {'; '.join(node.steps)} [{node.id}]", 600)


def _items(nodes: Sequence[Node]) -> str:
    return "\n".join(f"{number}. {_item(node)}" for number, node in enumerate(nodes, start=1)) or "(none yet)"


def _pick(shown: Sequence[Node], indices: Sequence[int]) -> list[Node] | None:
    """The items with these numbers, repeats dropped; None when a number is not on the list."""
    if any(not 1 <= number <= len(shown) for number in indices):
        return None
    return [shown[number - 1] for number in dict.fromkeys(indices)]
