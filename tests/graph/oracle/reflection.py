"""Oracle, section 4: thresholds and the decision on a finished episode."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.similarity import Thing, similarity
from oracle.state import State, add_bullet, add_node, call, group, live


def exact(number: float) -> Fraction:
    """A number of the configuration as it is written: 0.25 is a quarter."""
    return Fraction(str(number))


def quantile(values: list[float], p: Fraction) -> Fraction:
    """Linearly interpolated."""
    ordered = sorted(values)
    place = p * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = Fraction(ordered[below]), Fraction(ordered[above])
    return low + (place - below) * (high - low)


def shrunk(values: list[float], p: float, kappa: float, prior: float) -> float:
    """(n Q(p) + kappa prior) / (n + kappa), rounded once, at the end; the prior when there is nothing at all."""
    n = len(values)
    if n == 0:
        return prior
    return float((n * quantile(values, exact(p)) + exact(kappa) * exact(prior)) / (n + exact(kappa)))


def score_group(state: State, thing: Thing) -> str:
    """The group whose scores decide: one for all in mode global_quantile."""
    return "*" if state["settings"]["thresholds"]["mode"] == "global_quantile" else group(thing)


def thresholds(state: State, name: str) -> tuple[float, float]:
    """tau_low and tau_high of a group as they are now."""
    rule = state["settings"]["thresholds"]
    scores = state["scores"].get(name, [])
    if rule["mode"] == "fixed":
        return rule["fixed_low"], rule["fixed_high"]
    kappa = rule["kappa"] if rule["mode"] == "shrinkage" else 0.0
    return (
        shrunk(scores, rule["p_low"], kappa, rule["g_low"]),
        shrunk(scores, rule["p_high"], kappa, rule["g_high"]),
    )


def nearest(state: State, thing: Thing, kind: str = "workflow") -> tuple[int | None, float | None]:
    """The most similar live node of a type, the older of equals."""
    best, best_score = None, None
    for seq in live(state, kind):
        score = similarity(state["weights"], thing, state["nodes"][seq])
        if best_score is None or score > best_score:
            best, best_score = seq, score
    return best, best_score


def _reading(state: State, thing: Thing) -> dict[str, Any]:
    seq, score = nearest(state, thing)
    name = score_group(state, thing)
    low, high = thresholds(state, name)
    n_g = len(state["scores"].get(name, []))
    return {"nearest": seq, "score": score, "group": name, "tau_low": low, "tau_high": high, "n_g": n_g}


def solved(state: State, candidate: Thing, calls: list[int], variant: dict[str, str]) -> dict[str, Any]:
    """Decide on a candidate workflow; `variant` is the bullet to add when it is nearly known."""
    read = _reading(state, candidate)
    score = read["score"]
    if score is None or score < read["tau_low"]:
        decision = "create"
    elif score > read["tau_high"]:
        decision = "noop"
    else:
        decision = "add_bullet"
    result = {**read, "decision": decision}
    if decision == "create":
        result["id"] = add_node(state, "workflow", candidate)
        call(state, result["id"], calls)
    if decision == "add_bullet":
        result["added"] = add_bullet(state, read["nearest"], "variant", variant["text"], variant["when"])
    if score is not None:
        state["scores"].setdefault(read["group"], []).append(score)
    return result


def failed(state: State, query: Thing, pitfall: dict[str, str]) -> dict[str, Any]:
    """At most one pitfall bullet, on the workflow nearest to the query. Records no score."""
    result = {**_reading(state, query), "decision": "none"}
    if result["score"] is not None and result["score"] >= result["tau_low"]:
        result["decision"] = "add_bullet"
        result["added"] = add_bullet(state, result["nearest"], "pitfall", pitfall["text"], pitfall["when"])
    return result
