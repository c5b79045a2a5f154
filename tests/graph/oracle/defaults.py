"""Oracle: the numbers of the specification, and how a stream's settings replace some of them."""

from __future__ import annotations

import copy
from typing import Any

DEFAULTS: dict[str, Any] = {
    "similarity": {"weights": {"content": 0.40, "index": 0.25, "tag": 0.30, "lexical": 0.05}},
    "retrieval": {"theta_min": 0.35, "beta_layer": 0.15, "top_k": 5},
    "ageing": {"alpha": 0.02, "beta": 0.10, "gamma": 0.5},
    "thresholds": {
        "mode": "shrinkage",
        "kappa": 30,
        "p_low": 0.25,
        "p_high": 0.92,
        "g_low": 0.33,
        "g_high": 0.62,
        "fixed_low": 0.33,
        "fixed_high": 0.62,
    },
    "reflection": {"shown_items": 8},
    "meta": {
        "enabled": True,
        "novelty_gate": True,
        "edge_threshold": "adaptive",
        "kappa_edge": 6,
        "intra_default": 0.40,
        "p_edge": 0.50,
        "cross_group": 0.55,
        "k_edges": 6,
        "n_min": 2,
        "conductance_max": 0.6,
        "r_meta": 0.6,
        "distance": "euclidean",
        "accumulate_tags": False,
    },
    "forgetting": {"mode": "protected", "hysteresis": 0.15, "activation_weight": 0.35, "age_weight": 0.65},
    "contrast": {"mode": "rule", "lexicon": [["heat", "cool"], ["create", "delete"]], "same_app": False, "hand": []},
}


def settings(changes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The specification's numbers with `changes` by group; weights that are not named keep their values."""
    merged = copy.deepcopy(DEFAULTS)
    for group, values in changes.items():
        for key, value in values.items():
            if key == "weights":
                merged[group][key].update(value)
            else:
                merged[group][key] = value
    return merged
