"""Compares what the implementation reports with what the oracle says, number by number, and counts what was seen.

Events name nodes by id, the oracle by creation number; `number` translates. Scores, thresholds and W must be equal to
the last bit; sums whose order of addition is free must agree to 1e-9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from oracle.similarity import Thing, parts
from oracle.state import State, group, live, normal, parents

Event = dict[str, Any]
CLOSE = 1e-9
ORDER = ["trajectory", "route", "atomic", "workflow", "failure", "contrast", "bullet", "round", "community", "delete"]
ORDER += ["collect", "size"]
LAYERS = ["meta", "workflow", "atomic"]


def same(what: str, got: Any, want: Any) -> None:
    """Equal to the last bit."""
    assert got == want, f"{what}: the implementation says {got!r}, the oracle {want!r}"


def near(what: str, got: Any, want: Any) -> None:
    """Equal but for the order of additions."""
    if want is None or got is None:
        same(what, got, want)
    else:
        assert abs(got - want) < CLOSE, f"{what}: the implementation says {got!r}, the oracle {float(want)!r}"


class Comparison:
    """All comparisons of one pair of graphs; `seen` counts what happened, so that a test can require it."""

    def __init__(self, number: Callable[[str], int]) -> None:
        self.seen: Counter[str] = Counter()
        self._number = number

    def _numbers(self, names: Iterable[str]) -> list[int]:
        return [self._number(name) for name in names]

    def _sorted(self, names: Iterable[str]) -> list[int]:
        return sorted(self._numbers(names))

    def _maybe(self, name: str | None) -> int | None:
        return None if name is None else self._number(name)

    # Retrieval ----------------------------------------------------------------------------------------------------

    def seeds(self, state: State, event: Event, found: dict[str, Any], query: Thing) -> None:
        """Gate, seeds, their scores and the terms of these."""
        same("query tags", event["tags"], query["tags"])
        same("cleared", event["cleared"], len(found["cleared"]))
        same("seeds", self._numbers(item["id"] for item in event["seeds"]), found["seeds"])
        for item, seq in zip(event["seeds"], found["seeds"], strict=True):
            same("score", item["score"], found["scores"][seq])
            same("rank score", item["rank_score"], found["rank_scores"][seq])
            same("parts", item["parts"], parts(query, state["nodes"][seq]))
        self.seen["more cleared than seeds"] += len(found["cleared"]) > len(found["seeds"])
        self.seen["tied seeds"] += len(set(found["rank_scores"].values())) < len(found["seeds"])
        self.seen["score at the gate"] += state["settings"]["retrieval"]["theta_min"] in found["scores"].values()
        self.seen["query without tags"] += not query["tags"]
        dots = (
            sum(x * y for x, y in zip(query["content"], n["content"], strict=True)) for n in state["nodes"].values()
        )
        self.seen["negative cosine"] += any(dot < 0 for dot in dots)

    def shown(self, item_ids: Iterable[str], event: Event, found: dict[str, Any]) -> None:
        """Injected nodes, their roles and their order; the contrast pairs."""
        injected = {self._number(item["id"]): item["role"] for item in event["injected"]}
        same("roles", injected, found["roles"])
        for item in event["injected"]:
            same("score of the shown", item["score"], found["scores"][self._number(item["id"])])
        same("item ids", list(item_ids), [item["id"] for item in event["injected"]])
        layers = [role if role in LAYERS else "workflow" for role in injected.values()]
        same("order of the layers", layers, sorted(layers, key=LAYERS.index))
        atomics = [seq for seq, role in injected.items() if role == "atomic"]
        same("order of the atomics", atomics, found["atomics"])
        pairs = {(self._number(e["seed"]), self._number(e["neighbour"])): tuple(e["roles"]) for e in event["pairs"]}
        same("contrast pairs", pairs, found["pairs"])
        roles = set(injected.values())
        same("meta shown", event["meta"], "meta" in roles)
        same("warning shown", event["warning"], bool({"warning", "unclear"} & roles))
        self.seen.update(f"shown {role}" for role in injected.values())
        self.seen["nothing shown"] += not injected
        self.seen["seed shown as warning"] += any(injected[seq] == "warning" for seq in found["seeds"])
        self.seen["neighbour shown as procedure"] += any(roles == ("warning", "procedure") for roles in pairs.values())

    def ages(self, event: Event, found: dict[str, Any], aged: dict[int, Any]) -> None:
        """The competitors of a retrieval, best first, and their new ages."""
        same("aged", self._numbers(item["id"] for item in event["aged"]), list(aged))
        for item, (seq, value) in zip(event["aged"], aged.items(), strict=True):
            same("score of the aged", item["score"], found["scores"][seq])
            near("age after a retrieval", item["age"], value)
        same("winner", [item["winner"] for item in event["aged"]], [place == 0 for place in range(len(aged))])
        self.seen["losers"] += max(0, len(aged) - 1)

    # Reflection ---------------------------------------------------------------------------------------------------

    def order(self, kinds: list[str]) -> None:
        """Events come in the documented order."""
        same("order of events", kinds, sorted(kinds, key=ORDER.index))

    def writes(self, events: dict[str, list[Event]], done: dict[str, Any]) -> None:
        """Units, the decision on the candidate or the failure, bullets, contrast edges."""
        for event, want in zip(events.get("atomic", []), done["atomic"], strict=True):
            got = (event["unit"], event["decision"], self._number(event["id"]))
            same("atomic", got, (want["unit"], want["decision"], want["id"]))
            same("merged", self._numbers(event.get("sources", ())), want["sources"])
            same("shown atomics", self._numbers(event["shown"]), want["shown"])
            self.seen[f"atomic {want['decision']}"] += 1
        for kind in ("workflow", "failure"):
            same(kind, len(events.get(kind, [])), int(done[kind] is not None))
            if done[kind]:
                self._decision(kind, events[kind][0], done[kind])
        decided = [item["added"] for item in (done["workflow"], done["failure"]) if item and "added" in item]
        same("bullets", [event["decision"] == "added" for event in events.get("bullet", [])], decided)
        edges = sorted(tuple(self._sorted((event["a"], event["b"]))) for event in events.get("contrast", []))
        same("new contrast edges", edges, sorted(done["contrast"]))
        self.seen["contrast edge"] += len(edges)
        self.seen["equal bullet"] += decided.count(False)

    def _decision(self, kind: str, event: Event, want: dict[str, Any]) -> None:
        for key in ("decision", "group", "n_g", "score", "tau_low"):
            same(f"{kind}.{key}", event[key], want[key])
        same(f"{kind}.nearest", self._maybe(event["nearest"]), want["nearest"])
        if kind == "workflow":
            same("workflow.tau_high", event["tau_high"], want["tau_high"])
            same("workflow.id", self._maybe(event.get("id")), want.get("id"))
        self.seen[f"{kind} {want['decision']}"] += 1
        self.seen["first workflow"] += kind == "workflow" and want["score"] is None
        self.seen["empty group"] += want["score"] is not None and want["n_g"] == 0
        self.seen["score equals a threshold"] += want["score"] in (want["tau_low"], want["tau_high"])

    # Meta layer and collection ------------------------------------------------------------------------------------

    def round(
        self, state: State, events: dict[str, list[Event]], after: dict[str, Any], edges: Any, partition: Any
    ) -> None:
        """W with its weights and thresholds, and what became of each community."""
        same("rounds", len(events.get("round", [])), int(after["round"] is not None))
        if after["round"] is None:
            return
        (event,), want = events["round"], after["round"]
        same("W", edges, want["edges"])
        same("edge thresholds", event["thresholds"], want["thresholds"])
        same("edges", event["edges"], len(want["edges"]))
        same("communities", event["communities"], len(partition))
        same("partition", sorted(seq for part in partition for seq in part), want["workflows"])
        for got, verdict in zip(events.get("community", []), after["community"], strict=True):
            self._community(got, verdict)
            rule = state["settings"]["meta"]
            self.seen["conductance at the limit"] += verdict.get("conductance") == rule["conductance_max"]
            self.seen["distance at the limit"] += rule["novelty_gate"] and verdict.get("distance") == rule["r_meta"]
            everything = len(verdict["members"]) == len(want["workflows"]) > 1
            self.seen["community of all workflows"] += everything and verdict.get("conductance") == 0
        joined = {seq for pair in want["edges"] for seq in pair}
        self.seen["isolated workflow"] += len(joined) < len(want["workflows"])
        self.seen["single workflow"] += len(want["workflows"]) == 1
        self.seen["group without tags"] += "" in want["thresholds"]

    def _community(self, event: Event, want: dict[str, Any]) -> None:
        same("members", self._numbers(event["members"]), want["members"])
        same("unlinked", self._numbers(event["unlinked"]), want["unlinked"])
        same("linked", self._numbers(event.get("linked", ())), want.get("linked", []))
        for key in (
            "decision",
            "reason",
            "churn",
            "conductance",
            "similarity",
            "support_live",
            "support_ever",
            "tags_before",
        ):
            same(f"community.{key}", event.get(key), want.get(key))
        for key in ("nearest", "meta", "similar_to"):
            same(f"community.{key}", self._maybe(event.get(key)), want.get(key))
        if want["decision"] == "update":
            same("community.tags", event["tags"], want["tags"])
        near("community.distance", event.get("distance"), None if want.get("nearest") is None else want["distance"])
        self.seen[f"community {want.get('reason', want['decision'])}"] += 1
        self.seen["churn"] += bool(want.get("churn"))

    def collection(self, events: dict[str, list[Event]], wanted: list[dict[str, Any]], cap: int, left: int) -> None:
        """Victims in order with their numbers, who was spared, and what went with them."""
        deleted = events.get("delete", [])
        same("deletion order", self._numbers(event["id"] for event in deleted), [item["id"] for item in wanted])
        for event, want in zip(deleted, wanted, strict=True):
            for key in ("quality", "activation", "age", "activation_rank", "age_rank"):
                near(f"delete.{key}", event[key], want[key])
            same("spared", self._numbers(event["spared"]), want["spared"])
            same("cut vertices", event["cut_vertices"], len(want["cut"]))
            same("fallback", event["fallback"], want["fallback"])
            for key in ("atomics", "metas", "contrasts_removed"):
                same(f"delete.{key}", self._sorted(event[key]), want[key])
                self.seen[f"deleted with {key}"] += bool(want[key])
            self.seen["protection"] += len(want["spared"])
            self.seen["tied quality"] += want["tied"]
        self.seen["deletion"] += len(wanted)
        same("collect", len(events.get("collect", [])), int(bool(wanted)))
        for event in events.get("collect", []):
            spared = [seq for want in wanted for seq in want["spared"]]
            got = (event["cap"], event["before"], event["after"], event["protections"])
            same("collect", got, (cap, left + len(wanted), left, len(spared)))
            same("collect.protected", self._sorted(event["protected"]), sorted(set(spared)))

    # State --------------------------------------------------------------------------------------------------------

    def state(self, graph: Any, state: State) -> None:
        """Nodes, edges, ages, recorded scores and counters."""
        want = state["nodes"]
        same("nodes", {seq: n.type for seq, n in graph.nodes.items()}, {seq: n["type"] for seq, n in want.items()})
        for seq, node in graph.nodes.items():
            same("tags", list(node.tags), want[seq]["tags"])
            same("group", node.group, group(want[seq]))
            same("episodes", list(node.episodes), want[seq]["episodes"])
            same("created and updated", (node.created, node.updated), (node.episodes[0], node.episodes[-1]))
            bullets = [(bullet.kind, normal(f"{bullet.key} {bullet.text}")) for bullet in node.bullets]
            same("bullets", bullets, [(b["kind"], normal(f"{b['when']} {b['text']}")) for b in want[seq]["bullets"]])
            if node.type == "workflow":
                same("calls", list(node.calls), state["calls"][seq])
                same("parents", graph.live_parents(seq), parents(state, seq))
                value, at = graph.ages[seq]
                alpha = state["settings"]["ageing"]["alpha"]
                near("age", value + alpha * (graph.values["retrievals"] - at), want[seq]["age"])
            if node.type == "meta":
                same("support", list(node.absorbed), state["children_ever"][seq])
        same("contrasts", graph.contrast_pairs(), sorted(state["contrasts"]))
        same("merged", sorted(graph.merged.items()), sorted(state["merged_from"]))
        same("recorded scores", graph.scores, state["scores"])
        same("retrievals", graph.values["retrievals"], state["retrievals"])
        same("next number", graph.values["next_seq"], state["next"])
        self.seen["most workflows"] = max(self.seen["most workflows"], len(live(state, "workflow")))
