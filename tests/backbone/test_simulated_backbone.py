"""The simulated backbone as a backbone: settings, usage, sampling; and the rules that keep it honest."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.alfworld.guide import GUIDE
from strata import parse
from strata.backbone.simulated import SimulatedBackbone
from strata.backbone.simulated.grammar import Grammar
from strata.backbone.simulated.knowledge import load_knowledge
from strata.backbone.simulated.parameters import Parameters, presets
from strata.errors import UsageError
from strata.prompts import PromptLibrary, build_messages
from strata.protocols import Backbone
from strata.types import Action, Message, Observation, ParseFailure, Reply, Sampling

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "strata/backbone/simulated"
PLACES = [f"go to {place}" for place in ("shelf 1", "shelf 2", "drawer 1", "fridge 1", "desk 1")]
START = Observation(
    "You are in the middle of a room. You see a shelf 1, a shelf 2, a drawer 1, a fridge 1 and a desk 1."
)


def messages(goal: str = "put a mug in desk.", memory: str = "") -> list[Message]:
    now = Observation(START.text, admissible=(*PLACES, "look", "inventory"))
    return build_messages(PromptLibrary().get("agent/act"), GUIDE, goal, START, [], now, memory=memory)


def complete(
    talk: list[Message], seed: int = 0, sampling: Sampling | None = None, repeat: int = 0, **config: Any
) -> Reply:
    backbone = SimulatedBackbone.build(config, seed=seed)
    return backbone.complete(talk, sampling=sampling or Sampling(), purpose="act", repeat=repeat)


def test_it_is_a_backbone_that_says_what_it_is() -> None:
    for preset in ("sim_pro", "sim_flash"):
        backbone = SimulatedBackbone.build({"preset": preset}, seed=0)
        assert isinstance(backbone, Backbone)
        assert preset in backbone.name
        assert backbone.simulated is True


def test_tokens_are_counted_by_the_stated_rule_and_cost_nothing() -> None:
    talk = messages()
    reply = complete(talk, p_malformed=0.0)
    assert reply.usage.input_tokens == sum(-(-len(message.content) // 4) for message in talk)
    assert reply.usage.output_tokens == -(-len(reply.text) // 4)
    assert (reply.usage.calls, reply.usage.cost, reply.finish) == (1, 0.0, "stop")


def test_a_reply_longer_than_allowed_is_cut_and_says_so() -> None:
    reply = complete(messages(), sampling=Sampling(max_tokens=2), p_malformed=0.0)
    assert (len(reply.text), reply.finish, reply.usage.output_tokens) == (8, "length", 2)


def test_repeat_and_sampling_seed_sample_anew_and_the_same_request_does_not() -> None:
    replies = {complete(messages(), repeat=number, p_malformed=0.0).text for number in range(12)}
    seeded = {complete(messages(), sampling=Sampling(seed=number), p_malformed=0.0).text for number in range(12)}
    assert len(replies) > 1
    assert len(seeded) > 1
    assert complete(messages(), repeat=3) == complete(messages(), repeat=3)


def test_the_request_key_covers_everything_that_is_asked() -> None:
    backbone = SimulatedBackbone.build({}, seed=0)
    calls: list[dict[str, Any]] = [
        {},
        {"sampling": Sampling(temperature=0.5)},
        {"sampling": Sampling(seed=1)},
        {"purpose": "other"},
        {"repeat": 1},
        {"messages": messages("put a cup in desk.")},
    ]
    keys = set()
    for call in calls:
        talk = call.pop("messages", messages())
        keys.add(backbone.complete(talk, **{"sampling": Sampling(), "purpose": "act", **call}).request_key)
    assert len(keys) == len(calls)


def test_a_malformed_reply_is_given_once_and_mended_when_asked_again() -> None:
    talk = messages()
    first = complete(talk, p_malformed=1.0)
    assert isinstance(parse.action(first.text), ParseFailure)
    again = [Message("assistant", first.text), Message("user", "Your reply could not be read: there is no action.")]
    assert complete([*talk, *again], p_malformed=1.0).text == complete(talk, p_malformed=0.0).text


def test_a_memory_that_quotes_fields_does_not_stop_the_agent_from_acting() -> None:
    quoted = "Notes:\n- steps (list of text): go to shelf 1\n- lesson (text): none"
    assert isinstance(parse.action(complete(messages(memory=quoted), p_malformed=0.0).text), Action)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"preset": "sim_ultra"}, "sim_ultra"),
        ({"p_folow": 0.5}, "p_folow"),
        ({"p_follow": 1.5}, "p_follow"),
        ({"slip": -0.1}, "slip"),
        ({"attention_lines": -1}, "attention_lines"),
        ({"attention_decay": 1.0}, "attention_decay"),
        ({"p_heed": "often"}, "p_heed"),
        ({"prior": {"alfworld": {"heat": 2}}}, "prior"),
        ({"prior": {"alfworld": 0.5}}, "prior"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(config: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        SimulatedBackbone.build(config, seed=0)


def test_null_means_the_presets_value() -> None:
    config = yaml.safe_load((ROOT / "configs/backbone/simulated.yaml").read_text(encoding="utf-8"))
    given = {key: value for key, value in config.items() if key not in ("_target_", "name")}
    assert SimulatedBackbone.build(given, seed=0).parameters == SimulatedBackbone.build({}, seed=0).parameters
    changed = SimulatedBackbone.build({**given, "p_heed": 0.0, "preset": "sim_flash"}, seed=0).parameters
    assert changed.p_heed == 0.0
    assert changed.p_follow == presets()["sim_flash"]["p_follow"]


def test_every_preset_sets_every_parameter() -> None:
    for values in presets().values():
        assert set(values) | {"preset"} == set(Parameters.__dataclass_fields__)


# -- the rules of the instrument


def test_it_imports_neither_environments_nor_memories_nor_analysis_nor_heavy_libraries() -> None:
    allowed = {
        "strata.backbone.simulated",
        "strata.canonical",
        "strata.errors",
        "strata.parse",
        "strata.settings",
        "strata.types",
        "yaml",
    }
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                ours = name.split(".")[0] in ("strata", "envs", "baselines")
                standard = not ours and name.split(".")[0] in sys.stdlib_module_names
                assert standard or any(name == each or name.startswith(f"{each}.") for each in allowed), (path, name)


def test_it_names_no_memory_and_no_task() -> None:
    """No branch can depend on who wrote a text: the names of the memories, and their phrases, do not occur."""
    names = {path.stem for path in (ROOT / "configs/memory").glob("*.yaml")} - {"strata"}
    phrases = {"do not confuse", "DO NOT CONFUSE", "Experience from earlier tasks", "Records of earlier tasks"}
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.yaml")]:
        text = path.read_text(encoding="utf-8")
        strings = " ".join(_strings(ast.parse(text))) if path.suffix == ".py" else text
        words = set(strings.replace("-", "_").lower().split())
        assert not names & words, (path.name, names & words)
        assert not {phrase for phrase in phrases if phrase in strings}, path.name
        assert "trial_" not in strings
        assert "valid_unseen" not in strings
    for path in PACKAGE.glob("*.py"):
        code = path.read_text(encoding="utf-8")
        assert "open(" not in code.replace("_open(", "")
        assert "purpose ==" not in code


def _strings(tree: ast.AST) -> list[str]:
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


GOALS = {
    "put some watch on safe.": "pick",
    "put two cd in safe.": "two",
    "find two pillow and put them in sofa.": "two",
    "look at bowl under the desklamp.": "look",
    "examine the book with the desklamp.": "look",
    "heat some apple and put it in fridge.": "heat",
    "put a hot cup in cabinet.": "heat",
    "cool some mug and put it in coffeemachine.": "cool",
    "put a clean egg in microwave.": "clean",
    "Your task is to boil lead. For compounds without a boiling point, combusting is also acceptable.": "boiling",
    "Your task is to melt ice. First, focus on the substance.": "melting",
    "Your task is to freeze water. First, focus on the substance.": "freezing",
    "Your task is to find a(n) plant. First, focus on the thing. Then, move it to the red box in the kitchen.": "find",
    "Your task is to grow a apple plant from seed.": "plant_growth",
    "Your task is to measure the melting point of gold. First, focus on the thermometer.": "melting_point",
}


@pytest.mark.parametrize(("goal", "family"), GOALS.items())
def test_a_family_is_recognised_by_the_goals_words(goal: str, family: str) -> None:
    knowledge = load_knowledge()
    words = knowledge.lexicon.content(goal)
    assert next(each.name for each in knowledge.families if each.fits(words)) == family


def test_priors_are_given_for_families_with_steps_and_for_no_other() -> None:
    knowledge = load_knowledge()
    known = {(family.world, family.name) for family in knowledge.families if family.steps}
    assert len({(family.world, family.name) for family in knowledge.families}) == len(knowledge.families)
    for values in presets().values():
        given = {(world, name) for world, shares in values["prior"].items() for name in shares}
        assert given == known


def test_the_generic_steps_are_commands_of_their_world() -> None:
    from envs.scienceworld.guide import make_guide

    grammars = {
        "alfworld": Grammar(GUIDE.grammar.templates),
        "scienceworld": Grammar(make_guide(teleport=False).grammar.templates),
    }
    for family in load_knowledge().families:
        assert all(len(grammars[family.world].steps(step)) == 1 for step in family.steps), family.name
