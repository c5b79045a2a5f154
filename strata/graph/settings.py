"""Every number and switch of the method, with the paper's value or, where the paper is silent, our default.

An ablation is one changed value here and nothing else. The defaults that the paper does not state are marked "open".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from strata.settings import setting


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _share(name: str, value: float) -> None:
    _require(0.0 <= value <= 1.0, f"{name}={value}: must lie between 0 and 1.")


@dataclass(frozen=True)
class Weights:
    """Weights of the four similarity terms. A term with weight 0 is dropped and the others are scaled to sum 1."""

    content: float = setting(0.40, "weight of the cosine of the content views")
    index: float = setting(0.25, "weight of the cosine of the index views")
    tag: float = setting(0.30, "weight of the Jaccard overlap of the tags")
    lexical: float = setting(0.05, "weight of the overlap of the words")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _require(math.isfinite(value) and value >= 0, f"weights.{name}={value}: must not be negative.")
        _require(sum(vars(self).values()) > 0, "weights: at least one must be above 0.")

    def normalised(self) -> tuple[float, float, float, float]:
        """(content, index, tag, lexical), summing to 1."""
        parts = (self.content, self.index, self.tag, self.lexical)
        total = math.fsum(parts)
        return parts if total == 1.0 else tuple(part / total for part in parts)  # type: ignore[return-value]


@dataclass(frozen=True)
class Similarity:
    """Section 2: one similarity for retrieval, reflection, the derived graph and activation."""

    weights: Weights = setting(Weights(), "weights of the four terms")
    lexical: Literal["jaccard", "bm25"] = setting("jaccard", "open: how the overlap of words is measured")
    content_view: Literal["procedure", "goal", "both"] = setting(
        "goal", "open: embedded as a workflow's content: its procedure, the words of the task it solved, or both"
    )
    query_views: Literal["same", "parsed"] = setting(
        "same", "open: both query views embed the task text, or the index view embeds its parsed tags"
    )


@dataclass(frozen=True)
class Retrieval:
    """Section 3: which nodes are shown."""

    theta_min: float = setting(0.35, "raw score that a node needs to be shown at all")
    beta_layer: float = setting(0.15, "bonus of general nodes in the ranking")
    top_k: int = setting(5, "open: number of seeds, taken after the gate")

    def __post_init__(self) -> None:
        _share("retrieval.theta_min", self.theta_min)
        _require(self.beta_layer >= 0, f"retrieval.beta_layer={self.beta_layer}: must not be negative.")
        _require(self.top_k >= 1, f"retrieval.top_k={self.top_k}: must be at least 1.")


@dataclass(frozen=True)
class Render:
    """Section 3: how much of a node is shown. All open; 0 shows none."""

    variants: int = setting(2, "open: variant bullets shown of a workflow, those nearest to the task first")
    pitfalls: int = setting(3, "open: pitfall bullets shown of a workflow")
    routes: int = setting(4, "open: variant bullets shown of a meta node")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _require(value >= 0, f"render.{name}={value}: must not be negative.")


@dataclass(frozen=True)
class Ageing:
    """Section 3: competitive age of workflows, updated at each retrieval."""

    alpha: float = setting(0.02, "ageing of every live workflow at each retrieval")
    beta: float = setting(0.10, "open: extra ageing of a workflow that was retrieved but lost")
    gamma: float = setting(0.5, "factor on the age of the winner")

    def __post_init__(self) -> None:
        _require(self.alpha >= 0 and self.beta >= 0, "ageing: alpha and beta must not be negative.")
        _share("ageing.gamma", self.gamma)


@dataclass(frozen=True)
class Thresholds:
    """Section 4: the band between a near-duplicate and a new workflow, per group."""

    mode: Literal["shrinkage", "quantile", "fixed", "global_quantile"] = setting(
        "shrinkage", "shrunk quantile per group; quantile alone; fixed band; or one quantile for all groups"
    )
    kappa: float = setting(30.0, "number of scores that the prior counts for")
    p_low: float = setting(0.25, "quantile of the lower threshold")
    p_high: float = setting(0.92, "quantile of the upper threshold")
    g_low: float = setting(0.33, "prior of the lower threshold")
    g_high: float = setting(0.62, "prior of the upper threshold")
    fixed_low: float = setting(0.33, "open: lower threshold in mode fixed")
    fixed_high: float = setting(0.62, "open: upper threshold in mode fixed")

    def __post_init__(self) -> None:
        for low, high in (("p_low", "p_high"), ("g_low", "g_high"), ("fixed_low", "fixed_high")):
            _share(f"thresholds.{low}", getattr(self, low))
            _share(f"thresholds.{high}", getattr(self, high))
            _require(getattr(self, low) <= getattr(self, high), f"thresholds: {low} must not exceed {high}.")
        _require(self.kappa >= 0, f"thresholds.kappa={self.kappa}: must not be negative.")


@dataclass(frozen=True)
class Reflection:
    """Section 4: the calls after an episode."""

    temperature: float = setting(0.0, "sampling temperature of the memory's own calls")
    max_tokens: int = setting(4096, "limit of a reply; a reply that reaches it counts as unreadable")
    input_tokens: int = setting(6000, "open: budget of a trajectory in a prompt, estimated at 4 characters a token")
    observation_chars: int = setting(400, "open: characters kept of one observation, halved while over the budget")
    shown_items: int = setting(8, "open: atomic nodes that a reflector is shown to refine, merge or call")

    def __post_init__(self) -> None:
        for name in ("max_tokens", "input_tokens", "observation_chars", "shown_items"):
            _require(getattr(self, name) >= 1, f"reflection.{name}={getattr(self, name)}: must be at least 1.")
        _require(self.temperature >= 0, "reflection.temperature: must not be negative.")


@dataclass(frozen=True)
class Meta:
    """Section 5: the derived graph of workflows and the meta layer made from its communities."""

    enabled: bool = setting(True, "whether meta nodes are made")
    novelty_gate: bool = setting(True, "whether a community near an existing meta updates it")
    edge_threshold: Literal["adaptive", "fixed"] = setting("adaptive", "shrunk quantile per group, or intra_default")
    kappa_edge: float = setting(6.0, "number of pairs that the prior edge threshold counts for")
    intra_default: float = setting(0.40, "prior edge threshold inside a group")
    p_edge: float = setting(0.50, "open: quantile of the pairs inside a group")
    cross_group: float = setting(0.55, "edge threshold between groups")
    k_edges: int = setting(6, "strongest edges kept by each workflow")
    community: Literal["louvain", "leiden"] = setting("louvain", "community detection")
    resolution: float = setting(1.5, "resolution of the community detection")
    n_min: int = setting(2, "implied: smallest community, and smallest number of members of a new meta")
    conductance_max: float = setting(0.6, "a community must lie below this conductance")
    r_meta: float = setting(0.6, "distance to the nearest meta from which on a community is new")
    distance: Literal["euclidean", "cosine"] = setting("euclidean", "open: distance of centroids")
    accumulate_tags: bool = setting(False, "keep a meta's earlier tags when it is updated")

    def __post_init__(self) -> None:
        for name in ("intra_default", "p_edge", "cross_group"):
            _share(f"meta.{name}", getattr(self, name))
        _require(self.n_min >= 1 and self.k_edges >= 1, "meta: n_min and k_edges must be at least 1.")
        _require(
            self.resolution > 0 and self.kappa_edge >= 0, "meta: resolution must be above 0, kappa_edge not below."
        )
        _require(self.r_meta >= 0 and self.conductance_max >= 0, "meta: r_meta, conductance_max must not be negative.")


CAPS = {
    "alfworld": 24,
    "scienceworld": 40,
    "webarena": 130,
    "appworld": 38,
    "appworld_test_challenge": 38,
    "appworld_test_normal": 30,
    "miniwob": 40,
}


@dataclass(frozen=True)
class Forgetting:
    """Section 6: collection of workflows once there are more than the cap."""

    mode: Literal["none", "unprotected", "protected"] = setting("protected", "whether, and whom, collection spares")
    cap: int | None = setting(None, "live workflows that trigger collection; null takes it from caps")
    caps: Mapping[str, int] = setting(CAPS, "open: cap per environment")
    cap_otherwise: int = setting(40, "open: cap for an environment that caps does not name")
    hysteresis: float = setting(0.15, "share of the cap that collection frees")
    activation_weight: float = setting(0.35, "weight of the activation rank in the quality")
    age_weight: float = setting(0.65, "weight of the age rank in the quality")

    def __post_init__(self) -> None:
        given = [*self.caps.values(), self.cap_otherwise, *([] if self.cap is None else [self.cap])]
        _require(all(isinstance(cap, int) and cap >= 1 for cap in given), "forgetting: every cap must be at least 1.")
        _require(0 <= self.hysteresis < 1, f"forgetting.hysteresis={self.hysteresis}: must be in [0, 1).")
        _require(min(self.activation_weight, self.age_weight) >= 0, "forgetting: weights must not be negative.")

    def cap_for(self, environment: str) -> int:
        """The cap of an environment."""
        return self.cap if self.cap is not None else self.caps.get(environment, self.cap_otherwise)

    def lower_mark(self, environment: str) -> int:
        """Most workflows that collection leaves: cap (1 - hysteresis), rounded down past float error."""
        return math.floor(round(self.cap_for(environment) * (1.0 - self.hysteresis), 9))


@dataclass(frozen=True)
class Contrast:
    """Section 7: edges between workflows with opposite operators."""

    mode: Literal["none", "hand", "rule"] = setting("rule", "no edges, pairs from a file, or the rule over the lexicon")
    lexicon: tuple[tuple[str, ...], ...] = setting(
        (("heat", "cool"), ("create", "delete")), "pairs of opposite operators"
    )
    same_app: bool = setting(False, "open: whether both workflows must share an app tag")
    file: str | None = setting(None, "YAML file with the pairs of mode hand")

    def __post_init__(self) -> None:
        for pair in self.lexicon:
            _require(
                len(pair) == 2 and pair[0] != pair[1], f"contrast.lexicon: {list(pair)} is not a pair of operators."
            )
        _require(self.mode != "hand" or self.file is not None, "contrast.mode=hand: needs contrast.file.")


@dataclass(frozen=True)
class Settings:
    """The whole configuration group `memory` of STRATA."""

    tagger: Literal["llm", "rules"] = setting("rules", "open: how texts are parsed into tags")
    tag_noise: float = setting(0.0, "share of tags replaced by others, seeded, to test the parse")
    similarity: Similarity = setting(Similarity(), "section 2")
    retrieval: Retrieval = setting(Retrieval(), "section 3")
    render: Render = setting(Render(), "section 3, what is shown")
    ageing: Ageing = setting(Ageing(), "section 3, age")
    thresholds: Thresholds = setting(Thresholds(), "section 4, band")
    reflection: Reflection = setting(Reflection(), "section 4, calls")
    meta: Meta = setting(Meta(), "section 5")
    forgetting: Forgetting = setting(Forgetting(), "section 6")
    contrast: Contrast = setting(Contrast(), "section 7")

    def __post_init__(self) -> None:
        _share("tag_noise", self.tag_noise)
