"""Rules, canonical operators, cleaned model tags, seeded noise."""

from __future__ import annotations

import random
from importlib.resources import files

import pytest

from strata.graph.model import leading_tag, order_tags
from strata.graph.tags import Vocabularies, add_noise, read_tags, rule_tags

VOCABULARIES = Vocabularies()
NAMES = sorted(p.name.removesuffix(".yaml") for p in (files("strata.graph") / "vocabulary").iterdir())


@pytest.mark.parametrize(
    ("environment", "text", "tags"),
    [
        ("alfworld", "put a hot egg in fridge.", ["op:heat", "obj:egg"]),
        ("alfworld", "heat some egg and put it in diningtable.", ["op:heat", "obj:egg"]),
        ("alfworld", "put a cool tomato in microwave.", ["op:cool", "obj:tomato"]),
        ("alfworld", "cool some bread and put it in countertop.", ["op:cool", "obj:bread"]),
        ("alfworld", "put a clean soapbar in cabinet.", ["op:clean", "obj:soapbar"]),
        ("alfworld", "put some cd on safe.", ["op:place", "obj:cd"]),
        ("alfworld", "find two remotecontrol and put them in armchair.", ["op:place-two", "obj:remotecontrol"]),
        ("alfworld", "examine the alarmclock with the desklamp.", ["op:examine", "obj:alarmclock"]),
        ("alfworld", "look at bowl under the desklamp.", ["op:examine", "obj:bowl"]),
        ("scienceworld", "Your task is to melt lead.", ["op:heat", "obj:lead"]),
        ("scienceworld", "Your task is to freeze tin.", ["op:cool", "obj:tin"]),
        ("scienceworld", "Your task is to boil water.", ["op:heat", "obj:water"]),
        ("scienceworld", "Your task is to measure the melting point of tin.", ["op:measure", "obj:tin"]),
        ("scienceworld", "Your task is to grow a apple plant from seed.", ["op:grow", "obj:fruit", "obj:plant"]),
        (
            "scienceworld",
            "Your task is to find a(n) living thing. First, focus on the thing. Then, move it to the red box.",
            ["op:find", "obj:living-thing"],
        ),
        (
            "scienceworld",
            "Your task is to determine if metal fork is electrically conductive.",
            ["op:test-conductivity"],
        ),
        (
            "appworld_test_challenge",
            "Remove all songs from my Spotify playlist",
            ["app:spotify", "op:delete", "obj:song", "obj:playlist"],
        ),
        (
            "appworld",
            "Add the note to gmail drafts",
            ["app:simple_note", "app:gmail", "op:create", "obj:note", "obj:draft"],
        ),
        ("miniwob", "Select the blue option and click submit", ["op:select", "obj:option"]),
        ("nowhere", "Please remove the rock, then make a box", ["op:delete", "op:create"]),
        ("alfworld", "do something", []),
        ("alfworld", "", []),
    ],
)
def test_rules_parse_tasks(environment, text, tags):
    assert rule_tags(VOCABULARIES.get(environment), text) == tuple(tags)


def test_melt_and_freeze_are_the_papers_opposite_operators():
    melt = rule_tags(VOCABULARIES.get("scienceworld"), "melt lead")
    freeze = rule_tags(VOCABULARIES.get("scienceworld"), "freeze tin")
    assert (leading_tag(melt), leading_tag(freeze)) == ("op:heat", "op:cool")


def test_words_are_found_whole_in_any_case_and_plural():
    vocabulary = VOCABULARIES.get("alfworld")
    assert rule_tags(vocabulary, "HEAT the Eggs; wheat is not heat-treated") == ("op:heat", "obj:egg")
    assert rule_tags(vocabulary, "potatoes in boxes") == ("obj:potato", "obj:box")
    assert rule_tags(vocabulary, "reheated eggplant") == ()


def test_site_comes_from_the_declared_group_where_the_text_names_none():
    webarena = VOCABULARIES.get("webarena")
    assert rule_tags(webarena, "cancel my last order", "shopping") == (
        "app:shopping",
        "op:delete",
        "op:buy",
        "obj:order",
    )
    assert rule_tags(webarena, "star the gitlab repo", "reddit")[0] == "app:gitlab"
    assert rule_tags(VOCABULARIES.get("alfworld"), "heat egg", "kitchen") == ("op:heat", "obj:egg")


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("alfworld", "scienceworld", "miniwob", "general")])
def test_environment_with_one_application_gives_no_app_tag(name):
    assert not VOCABULARIES.get(name).apps


@pytest.mark.parametrize("name", NAMES)
def test_vocabulary_file_is_consistent(name):
    vocabulary = VOCABULARIES.get(name)
    assert vocabulary.operators
    assert set(vocabulary.fallback) <= set(vocabulary.operators)
    for operator in vocabulary.operators:
        assert vocabulary.canonical("op", operator) == f"op:{operator}"
    owners: dict[str, set[str]] = {}
    for operator, words in vocabulary.operators.items():
        for word in words:
            owners.setdefault(word, set()).add(operator)
    assert {word: names for word, names in owners.items() if len(names) > 1} == {}


def test_unknown_environment_falls_back_and_variants_share_a_vocabulary():
    assert VOCABULARIES.get("unheard of").name == "general"
    assert VOCABULARIES.get("appworld_test_normal").name == "appworld"
    assert VOCABULARIES.get("webarena") is VOCABULARIES.get("webarena")


def test_model_tags_are_canonical_and_unknown_prefixes_are_dropped_and_counted():
    vocabulary = VOCABULARIES.get("scienceworld")
    tags, dropped = read_tags(
        vocabulary, ["obj:Tin", " OP: melt ", "verb:go", "heat", "op:", "op:warm", "app:lab", "obj:big rock"]
    )
    assert tags == ("op:heat", "obj:tin", "obj:big-rock")
    assert dropped == 3


def test_tags_are_ordered_by_prefix_and_unique_and_the_first_leads():
    tags = order_tags(["obj:b", "op:y", "app:x", "op:z", "op:y", "junk"])
    assert tags == ("app:x", "op:y", "op:z", "obj:b")
    assert leading_tag(tags) == "app:x"
    assert leading_tag(["obj:b", "op:y"]) == "op:y"
    assert leading_tag([]) == ""


def test_noise_replaces_the_given_share_by_tags_of_the_same_prefix():
    vocabulary = VOCABULARIES.get("alfworld")
    tags = ("op:heat", "obj:egg")
    assert add_noise(vocabulary, tags, 0.0, random.Random(0)) == tags
    assert add_noise(vocabulary, tags, 0.5, random.Random(3)) == add_noise(vocabulary, tags, 0.5, random.Random(3))
    changed = 0
    for seed in range(2000):
        noisy = add_noise(vocabulary, tags, 0.2, random.Random(seed))
        assert [tag.partition(":")[0] for tag in noisy] == ["op", "obj"]
        changed += len(set(tags) - set(noisy))
    assert 0.17 < changed / 4000 < 0.23
    assert not set(add_noise(vocabulary, tags, 1.0, random.Random(0))) & set(tags)
