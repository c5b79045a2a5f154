"""Random worlds for the oracle and the implementation alike: settings, an embedder with exact sums, episodes.

Everything follows from a seed. Embeddings are whole numbers over 4 of length exactly 1, so every dot product is exact
in float32 and float64, and equal scores are equal. Nothing here is the method.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from oracle.similarity import Thing, tokens

APPS = ("gitlab", "reddit", "map")
OPS = ("delete", "create", "heat", "cool")  # in the order in which the vocabulary lists operators
OBJECTS = ("egg", "pan", "cup", "box")
WORDS = ("eggs", "the pan", "a cup", "boxes of it", "lamps", "towel", "in the sink", "shelf")
SHAPES = ((4,), (2, 2, 2, 2), (3, 2, 1, 1, 1), (2, 2, 2, 1, 1, 1, 1), (3, 1, 1, 1, 1, 1, 1, 1))


def _number(text: str, below: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") % below


def unit_vector(random: random.Random, dimension: int) -> tuple[float, ...]:
    """Entries are multiples of 1/4, their squares sum to 1."""
    shape = random.choice([shape for shape in SHAPES if len(shape) <= dimension])
    numbers = [number * random.choice((1, 1, 1, -1)) for number in shape] + [0] * (dimension - len(shape))
    random.shuffle(numbers)
    return tuple(number / 4 for number in numbers)


class GridEmbedder:
    """Texts of one family (`fam2`) get vectors near each other; equal texts get equal ones."""

    name = "grid"

    def __init__(self, random: random.Random) -> None:
        self.dimension = random.randint(4, 8)
        self.families = []
        cancelling = random.random() < 0.25
        for _ in range(random.choice((2, 4, 8))):
            middle = unit_vector(random, self.dimension)
            others = [unit_vector(random, self.dimension) for _ in range(60)]
            others.sort(key=lambda vector: -sum(x * y for x, y in zip(middle, vector, strict=True)))
            if cancelling:  # what has no centroid
                self.families.append([middle, tuple(-x for x in middle), (0.0,) * self.dimension])
            else:
                self.families.append([middle, *others[: random.choice((1, 4, 12, 40))]])

    def vector(self, text: str) -> tuple[float, ...]:
        named = re.search(r"fam(\d)", text)
        family = self.families[int(named[1]) if named else 0]
        return family[_number(text, len(family))] if text else (0.0,) * self.dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.vector(text) for text in texts], dtype=np.float32)


class World:
    """Settings and a source of episodes. Episode `i` depends on the seed and `i` alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        chance = random.Random(f"world/{seed}")
        self.embedder = GridEmbedder(chance)
        self.changes = random_settings(chance)
        self.content_view = chance.choice(("procedure", "both", "goal"))
        self.length = chance.choice((60, 250, 250, 500))
        self.one_app = chance.random() < 0.4
        self.variety = chance.choice((4, 12, 40))
        self.solved = chance.choice((0.5, 0.8, 0.95))

    def thing(self, content: str, index: str, tags: Sequence[str]) -> Thing:
        """What the oracle sees of texts and tags."""
        vector = self.embedder.vector
        return {
            "content": vector(content),
            "index": vector(index),
            "tags": list(tags),
            "tokens": tokens(content, index),
        }

    def plan(self, number: int) -> dict[str, Any]:
        """One episode: the task, its verdict, and what a language model will answer."""
        chance = random.Random(f"plan/{self.seed}/{number}")
        family = chance.randrange(len(self.embedder.families))
        goal = f"do {chance.choice(WORDS)} of fam{family} case {chance.randrange(self.variety)}"
        tags = self._tags(chance, family)
        flow = self._draft(chance, family, tags, "flow")
        units = {
            kind: {
                **self._draft(chance, family, tags, "unit"),
                "decision": chance.choice(("create", "create", "refine", "merge")),
                "wishes": [chance.randrange(10**6) for _ in range(3)],
            }
            for kind in ("skill", "code", "role")
        }
        for unit in units.values():
            unit["thing"] = self.unit_thing(unit)
        words = chance.choice(WORDS)
        return {
            "goal": goal,
            "query": self.thing(goal, goal, tags),
            "success": chance.choice((None, True, False)) if chance.random() < 0.1 else chance.random() < self.solved,
            "kinds": [kind for kind in ("skill", "code", "role") if chance.random() < 0.3]
            + (["workflow"] if chance.random() < 0.95 else []),
            "units": units,
            "flow": flow,
            "thing": self.flow_thing(flow, goal),
            "calls": [chance.randrange(10**6) for _ in range(chance.randrange(4))],
            "lesson": {
                "when": chance.choice(("", "it is cold", "It is   cold.")),
                "text": chance.choice((f"use {words}", f"Use {words}!", f"avoid {words}")),
            },
        }

    def _tags(self, chance: random.Random, family: int) -> list[str]:
        """Those of the family, often with something added, changed or left out; rarely none."""
        apps = [] if self.one_app else [f"app:{APPS[family % 3]}"]
        ops = {OPS[(family + self.seed) % 4]}
        objects = [f"obj:{OBJECTS[family % 4]}"]
        if chance.random() < 0.4:
            ops ^= {chance.choice(OPS)}
        if chance.random() < 0.3:
            objects = [f"obj:{name}" for name in chance.sample(OBJECTS, chance.randrange(3))]
        if apps and chance.random() < 0.2:
            apps = [f"app:{name}" for name in chance.sample(APPS, chance.randrange(3))]
        if chance.random() < 0.03:
            return []
        return apps + [f"op:{name}" for name in OPS if name in ops] + objects

    def _draft(self, chance: random.Random, family: int, tags: list[str], what: str) -> dict[str, Any]:
        if chance.random() < 0.3:
            tags = self._tags(chance, family)
        count = chance.randint(1, 3)
        return {
            "title": f"{what} fam{family} nr {chance.randrange(self.variety)}",
            "when": chance.choice(("", f"needs {chance.choice(WORDS)}")),
            "steps": [f"fam{family} {what} {chance.choice(WORDS)}" for _ in range(count)],
            "tags": tags,
        }

    def flow_thing(self, flow: dict[str, Any], goal: str) -> Thing:
        """What the oracle sees of a workflow that was made for a task."""
        procedure = "\n".join(f"{number}. {step}" for number, step in enumerate(flow["steps"], start=1))
        content = {"procedure": procedure, "goal": goal, "both": f"{goal}\n{procedure}"}[self.content_view]
        return self.thing(content, index_text(goal, flow["when"]), flow["tags"])

    def unit_thing(self, unit: dict[str, Any]) -> Thing:
        """What the oracle sees of an atomic unit."""
        content = "\n".join(unit["steps"])
        thing = self.thing(content, index_text(unit["title"], unit["when"]), unit["tags"])
        return {**thing, "body": " ".join(re.findall(r"[a-z0-9]+", content.lower()))}


def index_text(goal: str, when: str) -> str:
    """The index view: goal and applicability."""
    return ". ".join(part for part in (goal, when) if part)


def random_settings(chance: random.Random) -> dict[str, dict[str, Any]]:
    """One choice per switch and number of the method, by group; the paper's value is likeliest."""

    def rarely(usual: Any, *others: Any) -> Any:
        return usual if chance.random() < 0.6 else chance.choice(others)

    low, high = chance.choice(((0.33, 0.62), (0.5, 0.75), (0.6, 0.9), (0.75, 0.95), (0.9, 1.0)))
    kappa = rarely(30, 2, 0.5)
    weights = rarely({}, {"tag": 0}, {"content": 0}, {"index": 0}, {"lexical": 0},
                     {"content": 0.5, "index": 0.25, "tag": 0.125, "lexical": 0.125},
                     {"index": 0, "tag": 0, "lexical": 0}, {"content": 0.2, "tag": 0.5})  # fmt: skip
    lexicon = [["heat", "cool"], ["create", "delete"]]
    tags = [[f"op:{name}"] for name in OPS] + [["obj:egg"], ["op:heat", "obj:pan"], ["app:gitlab", "op:create"]]
    found: dict[str, dict[str, Any]] = {
        "similarity": {"weights": weights},
        "retrieval": {
            "theta_min": rarely(0.35, 0.2, 0.5),
            "beta_layer": rarely(0.15, 0.0, 0.4),
            "top_k": rarely(5, 1, 3, 12),
        },
        "ageing": chance.choice(({}, {"alpha": 1 / 64, "beta": 1 / 8}, {"beta": 0.5, "gamma": 0.25})),
        "thresholds": {
            "mode": rarely("shrinkage", "quantile", "fixed", "global_quantile"),
            "kappa": kappa,
            "g_low": low,
            "g_high": high,
            "fixed_low": low,
            "fixed_high": high,
            "p_low": rarely(0.25, 0.5, 0.0),
            "p_high": rarely(0.92, 0.75, 1.0),
        },
        "reflection": {"shown_items": rarely(8, 2)},
        "meta": {
            "enabled": chance.random() < 0.9,
            "novelty_gate": rarely(True, False),
            "edge_threshold": rarely("adaptive", "fixed"),
            "kappa_edge": rarely(6, 1, 0),
            "intra_default": rarely(0.4, 0.6),
            "p_edge": rarely(0.5, 0.75, 0.25),
            "cross_group": rarely(0.55, 0.3, 0.75),
            "k_edges": rarely(6, 2, 1),
            "n_min": rarely(2, 3, 1),
            "conductance_max": chance.choice((0.6, 0.6, 0.6, 0.6, 0.3, 0.5, 1.0, 0.0)),
            "r_meta": rarely(0.6, 0.2, 0.5, 1.0, 0.0),
            "distance": rarely("euclidean", "cosine"),
            "accumulate_tags": rarely(False, True),
        },
        "forgetting": {
            "mode": rarely("protected", "unprotected", "none"),
            "cap": chance.choice((3, 5, 8, 12, 20, 40)),
            "hysteresis": rarely(0.15, 0.4, 0.0),
        },
        "contrast": {
            "mode": rarely("rule", "hand", "none"),
            "lexicon": rarely(lexicon, lexicon[:1], [*lexicon, ["heat", "delete"]]),
            "same_app": rarely(False, True),
            "hand": [chance.sample(tags, 2) for _ in range(2)],
        },
    }
    if chance.random() < 0.3:  # many workflows, sparse W, small cap: bridges come up for deletion
        found["thresholds"] |= {"g_low": 0.9, "g_high": 1.0, "mode": "shrinkage", "kappa": 30}
        found["meta"] |= {"k_edges": chance.choice((1, 2)), "cross_group": 0.3, "edge_threshold": "fixed"}
        found["forgetting"] |= {"mode": "protected", "cap": chance.choice((8, 12))}
    return found
