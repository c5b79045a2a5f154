"""Texts and facts, against `textworld.logic.State` as an oracle and on grammars that are unlike the usual one."""

from __future__ import annotations

import random

import pytest
from textworld.logic import GameLogic, Placeholder, Proposition, Rule, State, Type, Variable

from envs.alfworld.dataset import GAME_FILE, read_game
from envs.alfworld.facts import Condition, Facts, Types
from envs.alfworld.texts import Grammar, GrammarLibrary, Scene, parse
from strata.errors import DataError

TYPES = (("object", ()), ("place", ("object",)), ("thing", ("object",)), ("tool", ("thing",)))
OBJECTS = {f"{kind[0]}{number}": kind for kind in ("place", "thing", "tool") for number in range(3)} | {
    "u0": "tool",
    "u1": "tool",
}
PREDICATES = {"on": 2, "near": 2, "clean": 1}


def random_facts(rng: random.Random) -> list[tuple[str, tuple[str, ...]]]:
    names = sorted(OBJECTS)
    return [
        (predicate, tuple(rng.choice(names) for _ in range(PREDICATES[predicate])))
        for predicate in rng.choices(sorted(PREDICATES), k=14)
    ]


def stock_state(facts: list[tuple[str, tuple[str, ...]]]) -> State:
    logic = GameLogic()
    for name, parents in TYPES:
        logic.types.add(Type(name, parents))
    state = State(logic)
    state.add_facts(Proposition(name, [Variable(each, OBJECTS[each]) for each in given]) for name, given in facts)
    return state


@pytest.mark.parametrize("seed", range(40))
def test_queries_match_as_in_textworld_in_the_same_order(seed) -> None:
    rng = random.Random(seed)
    facts = random_facts(rng)
    kinds = [name for name, _ in TYPES]
    variables = [(f"v{number}", rng.choice(kinds)) for number in range(3)]
    query = tuple(
        Condition(predicate, tuple(rng.choice(variables) for _ in range(PREDICATES[predicate])))
        for predicate in rng.choices(sorted(PREDICATES), k=rng.choice([1, 2, 3]))
    )
    text = " & ".join(f"{name}({', '.join(f'{v}: {kind}' for v, kind in given)})" for name, given in query)
    bound = {variables[0]: rng.choice(sorted(OBJECTS))} if rng.random() < 0.5 else {}
    mapping = {Placeholder(name, kind): Variable(each, OBJECTS[each]) for (name, kind), each in bound.items()}
    expected = [
        {(placeholder.name, placeholder.type): variable.name for placeholder, variable in found.items()}
        for found in stock_state(facts).all_assignments(Rule.parse_conjunctive_query(text), mapping)
    ]
    assert list(Facts(Types(TYPES), OBJECTS, facts).matches(query, bound)) == expected


def test_the_queries_above_are_not_all_empty() -> None:
    """Guards the test before: its random worlds must contain matches."""
    query = (Condition("on", (("a", "object"), ("b", "object"))), Condition("clean", (("a", "object"),)))
    found = [list(Facts(Types(TYPES), OBJECTS, random_facts(random.Random(n))).matches(query, {})) for n in range(40)]
    assert sum(map(bool, found)) > 10


def test_a_change_is_kept_with_its_denial() -> None:
    facts = Facts(Types(TYPES), OBJECTS, [("clean", ("t0",))])
    clean, dirty = ((Condition(name, (("x", "object"),)),) for name in ("clean", "not_clean"))
    facts.change(False, "clean", ("t0",))
    assert not list(facts.matches(clean, {}))
    assert len(list(facts.matches(dirty, {}))) == 1
    facts.change(True, "clean", ("t0",))
    assert len(list(facts.matches(clean, {}))) == 1
    assert not list(facts.matches(dirty, {}))


def test_games_share_one_parsed_grammar_and_keep_their_own_goal(generated) -> None:
    library = GrammarLibrary()
    texts = [library.get(read_game(file)["grammar"]) for file in sorted(generated.glob(f"*/*/{GAME_FILE}"))]
    assert len({id(each.grammar) for each in texts}) == 1
    scene = Scene(Facts(Types(TYPES), OBJECTS, []), {}, {}, {})
    goals = [each.symbol("task", scene) for each in texts]
    assert all(goal.startswith("Your task is to: ") for goal in goals)
    assert len(set(goals)) == len(texts)


def test_a_goal_written_otherwise_is_read_too(generated) -> None:
    text = read_game(next(generated.glob(f"*/*/{GAME_FILE}")))["grammar"]
    start = text.index('"task": [')
    other = text[:start] + '"task": [{"weight": 1, "rhs": "Your task is to: wait."}],\n"x": [' + text[start + 9 :]
    scene = Scene(Facts(Types(TYPES), OBJECTS, []), {}, {}, {})
    assert GrammarLibrary().get(other).symbol("task", scene) == "Your task is to: wait."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("open {p}", "open shelf 1"),
        ("{p.indefinite + ' ' + p.name}!", "a shelf 1!"),
        ("{p.name or p.id}", "shelf 1"),
        ("{p.id}, {p.definite}", "p0, the"),
        ("[{x.name | on(x: thing, p: place)}]", "mug 1, and mug 2"),
    ],
)
def test_expressions_are_rendered(text, shown) -> None:
    facts = Facts(Types(TYPES), OBJECTS, [("on", ("t1", "p0")), ("on", ("t0", "p0")), ("on", ("t0", "p1"))])
    names = {"p0": "shelf 1", "t0": "mug 1", "t1": "mug 2"}
    scene = Scene(facts, names, {("p", "place"): "p0"}, {"p": "p0"})
    separators = 'grammar :: """{"list_separator": [{"rhs": ", "}], "list_last_separator": [{"rhs": ", and "}]}""";'
    assert GrammarLibrary().get(separators).render(parse(text), scene) == shown


@pytest.mark.parametrize("text", ["{__import__('os').getcwd()}", "{p.name * 3}", "{p.secret}"])
def test_an_expression_that_is_more_than_a_name_is_refused(text) -> None:
    with pytest.raises(DataError, match="which this version cannot read"):
        parse(text)


def test_a_symbol_without_an_applicable_rule_is_named() -> None:
    scene = Scene(Facts(Types(TYPES), OBJECTS, []), {}, {}, {})
    with pytest.raises(DataError, match="no applicable rule for the text 'nowhere'"):
        GrammarLibrary().get('grammar :: """{}""";').symbol("nowhere", scene)


def test_the_wheels_grammar_is_read_whole(generated) -> None:
    grammar = Grammar(read_game(next(generated.glob(f"*/*/{GAME_FILE}")))["grammar"])
    assert {"gotolocation", "putobject", "sliceobject", "help"} <= set(grammar.commands)
