"""Oracle, sections 4 (atomic units) and 8: what one episode does, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.contrast import renew
from oracle.derived import derive
from oracle.forgetting import collect
from oracle.meta import promote
from oracle.reflection import failed, solved
from oracle.similarity import Thing, similarity
from oracle.state import State, add_node, hidden, live, size, stand_in, wrote

UNITS = ("skill", "code", "role")


def nearest_atomics(state: State, query: Thing, unit: str | None = None, first: list[int] | None = None) -> list[int]:
    """Atomics that a reflector is shown: those just written, then the nearest to the query, the older of equals."""
    count = state["settings"]["reflection"]["shown_items"]
    named = [stand_in(state, seq) for seq in dict.fromkeys(first or [])]
    scores = {}
    for seq in live(state, "atomic"):
        if seq not in hidden(state) and seq not in named and unit in (None, state["nodes"][seq]["unit"]):
            scores[seq] = similarity(state["weights"], query, state["nodes"][seq])
    ranked = sorted(scores, key=lambda seq: (-scores[seq], seq))
    return named + ranked[: max(0, count - len(named))]


def pick(shown: list[int], wishes: list[int]) -> list[int]:
    """Numbers (from 1) of shown items, from any whole numbers."""
    return list(dict.fromkeys(wish % len(shown) + 1 for wish in wishes)) if shown else []


def write_atomic(state: State, query: Thing, unit: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Create, refine or merge, as the plan says and the known items allow."""
    shown = nearest_atomics(state, query, unit)
    decision, numbers = plan["decision"], pick(shown, plan["wishes"])
    if decision == "refine":
        numbers = numbers[:1]
    if (decision == "refine" and not numbers) or (decision == "merge" and len(numbers) < 2):
        decision, numbers = "create", []
    chosen = [shown[number - 1] for number in numbers]
    asked = {"decision": decision, "indices": numbers}
    record = {**asked, "unit": unit, "shown": shown, "sources": chosen if decision == "merge" else []}
    if decision == "create":
        for seq in live(state, "atomic"):  # reading: the same unit twice is one
            node = state["nodes"][seq]
            if node["unit"] == unit and node["body"] == plan["thing"]["body"] and seq not in hidden(state):
                return {**record, "decision": "duplicate", "id": seq, "asked": asked}
    if decision == "refine":
        state["nodes"][chosen[0]].update(plan["thing"])
        wrote(state, chosen[0])
        return {**record, "id": chosen[0], "asked": asked}
    seq = add_node(state, "atomic", plan["thing"])
    state["nodes"][seq].update(unit=unit, body=plan["thing"]["body"])
    state["merged_from"] += [(source, seq) for source in record["sources"]]
    return {**record, "id": seq, "asked": asked}


def reflect(state: State, query: Thing, plan: dict[str, Any]) -> dict[str, Any]:
    """Write what the episode teaches. `plan` says what a language model would answer."""
    done: dict[str, Any] = {"atomic": [], "workflow": None, "failure": None, "contrast": []}
    if plan["success"] is False and "workflow" in plan["kinds"]:
        done["failure"] = failed(state, query, plan["lesson"])
    if plan["success"] is True:
        for unit in UNITS:
            if unit in plan["kinds"]:
                done["atomic"].append(write_atomic(state, query, unit, plan["units"][unit]))
        if "workflow" in plan["kinds"]:
            shown = nearest_atomics(state, query, first=[item["id"] for item in done["atomic"]])
            numbers = pick(shown, plan["calls"])
            calls = [shown[number - 1] for number in numbers]
            done["workflow"] = solved(state, plan["thing"], calls, plan["lesson"])
            done["workflow"]["asked"] = {"indices": numbers}
    done["contrast"] = renew(state)
    return done


def maintain(
    state: State,
    cap: int,
    partition: list[list[int]] | None,
    describe: Callable[[int], Thing],
    bullet: Callable[[int], dict[str, str]],
) -> dict[str, Any]:
    """Meta layer, when workflows changed since the last time, then collection. `partition` is of W as it is now."""
    done: dict[str, Any] = {"round": None, "community": [], "delete": []}
    if state["settings"]["meta"]["enabled"] and state["changed"]:
        done["round"] = derive(state)
        assert partition is not None
        done["community"] = promote(state, done["round"]["edges"], partition, describe, bullet)
        state["changed"] = False
    done["delete"] = collect(state, cap)
    done["size"] = size(state)
    return done
