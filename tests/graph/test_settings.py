"""Section 10: every number and switch is a key; the file, the code and the paper's table agree."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from conftest import settings

from strata.errors import UsageError
from strata.graph.settings import Settings
from strata.settings import describe, read_settings

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "configs/memory/strata.yaml").read_text())


def leaves(value, prefix=""):
    if not isinstance(value, dict) or prefix == "forgetting.caps":
        return {prefix: value}
    return {k: v for name, inner in value.items() for k, v in leaves(inner, f"{prefix}.{name}".strip(".")).items()}


def test_config_file_states_every_default():
    assert read_settings(Settings, CONFIG, where="memory") == Settings()
    given = set(leaves({key: value for key, value in CONFIG.items() if key not in ("_target_", "name", "label")}))
    known = set(describe(Settings))
    groups = {key for key in known if any(other.startswith(f"{key}.") for other in known)}
    assert given == known - groups


def test_every_key_is_described():
    assert [key for key, text in describe(Settings).items() if len(text) < 8] == []


def test_numbers_are_those_of_the_papers_table():
    paper = {
        "similarity.weights.content": 0.40, "similarity.weights.index": 0.25, "similarity.weights.tag": 0.30,
        "similarity.weights.lexical": 0.05, "retrieval.theta_min": 0.35, "retrieval.beta_layer": 0.15,
        "thresholds.kappa": 30, "thresholds.p_low": 0.25, "thresholds.p_high": 0.92, "thresholds.g_low": 0.33,
        "thresholds.g_high": 0.62, "forgetting.activation_weight": 0.35, "forgetting.age_weight": 0.65,
        "ageing.alpha": 0.02, "ageing.gamma": 0.5, "forgetting.hysteresis": 0.15, "meta.kappa_edge": 6,
        "meta.intra_default": 0.40, "meta.cross_group": 0.55, "meta.k_edges": 6, "meta.resolution": 1.5,
        "meta.conductance_max": 0.6, "meta.r_meta": 0.6, "contrast.lexicon": [["heat", "cool"], ["create", "delete"]],
    }  # fmt: skip
    assert {key: leaves(CONFIG)[key] for key in paper} == paper


@pytest.mark.parametrize(
    "groups",
    [
        {"retrieval": {"top_k": 0}},
        {"retrieval": {"theta_min": 1.5}},
        {"similarity": {"weights": {"tag": -0.1}}},
        {"similarity": {"weights": {"content": 0, "index": 0, "tag": 0, "lexical": 0}}},
        {"similarity": {"weights": {"colour": 1}}},
        {"similarity": {"lexical": "tfidf"}},
        {"thresholds": {"p_low": 0.95}},
        {"thresholds": {"fixed_low": 0.7}},
        {"thresholds": {"kappa": -1}},
        {"thresholds": {"mode": "best"}},
        {"meta": {"resolution": 0}},
        {"meta": {"n_min": 0}},
        {"meta": {"enabled": "yes"}},
        {"forgetting": {"cap": 0}},
        {"forgetting": {"hysteresis": 1.0}},
        {"forgetting": {"caps": {"alfworld": 0}}},
        {"forgetting": {"caps": {"alfworld": "many"}}},
        {"contrast": {"lexicon": [["heat"]]}},
        {"contrast": {"lexicon": [["heat", "heat"]]}},
        {"ageing": {"gamma": 2}},
        {"reflection": {"max_tokens": 0}},
        {"tag_noise": 1.2},
        {"tagger": "oracle"},
        {"novelty": 1},
    ],
)
def test_impossible_value_is_a_usage_error_that_names_the_key(groups):
    with pytest.raises(
        UsageError, match=rf"memory\.{next(iter(groups))}|memory: {next(iter(groups))}|{next(iter(groups))}"
    ):
        settings(**groups)
