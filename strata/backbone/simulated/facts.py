"""From a prompt to facts: the attempts it shows, the items it lists, the fields it asks for.

One extraction core serves every prompt. It knows the shared renderings (`Task:`, `Outcome:`, numbered steps with
thought, action and observation, numbered items, `- name (type): description`), and nothing about who asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from strata.backbone.simulated.goal import Goal
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.words import noun

_FIELD = re.compile(r"^\s*[-*]\s*`?(\w+)`?\s*\((text|list of text|list of number|yes or no)\)\s*:?\s*(.*)$")
_TASK = re.compile(r"^\W*(?:\d+\W+)?(?:task|goal|query|instruction)\W*:\s*(.+)$", re.IGNORECASE)
_OUTCOME = re.compile(r"^\W*(?:outcome|result|verdict)\W*:\s*(\w+)", re.IGNORECASE)
_ACTION = re.compile(r"^\s*Action:\s*(.+)$")
_SEEN = re.compile(r"^\s*Observation:\s*(.*)$")
_STEP = re.compile(r"^\s*Step \d+\s*$")
_ITEM = re.compile(r"^\s*(\d+)\.\s+(.+)$")
_SPLIT = re.compile(r"\s+(from|with|to|into|onto|in|on)\s+", re.IGNORECASE)
_PARTICLES = frozenset(["up", "on", "to", "at", "in", "down", "around", "off"])
_SUCCESS = frozenset(["success", "successful", "succeeded", "solved", "true", "yes"])


@dataclass(frozen=True, slots=True)
class Field:
    """A field that the reply shall have."""

    name: str
    kind: str
    description: str


@dataclass(slots=True)
class Attempt:
    """One attempt: the task, how it ended (None: not said) and its actions with what came back."""

    task: str = ""
    success: bool | None = None
    turns: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Request:
    """What a prompt shows and asks."""

    attempts: list[Attempt] = field(default_factory=list)
    items: dict[int, str] = field(default_factory=dict)
    fields: list[Field] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Act:
    """An action taken apart: verb, and names with the preposition before each (the first has none)."""

    text: str
    verb: str
    names: tuple[tuple[str, str], ...]
    observation: str


def declares_fields(prompt: str) -> bool:
    """Whether a prompt declares fields for the reply."""
    if not any(kind in prompt for kind in ("(text)", "(list of ", "(yes or no)")):
        return False
    return any(_FIELD.match(line) for line in prompt.splitlines())


def read_request(prompt: str) -> Request:
    """Read a prompt. A new task line after some steps starts a new attempt."""
    request = Request()
    attempt = Attempt()
    observing = False
    for line in prompt.splitlines():
        declared = _FIELD.match(line)
        if declared:
            request.fields.append(Field(declared[1], declared[2], declared[3].strip()))
            observing = False
            continue
        task, outcome, action, seen = (pattern.match(line) for pattern in (_TASK, _OUTCOME, _ACTION, _SEEN))
        if task and not observing:
            if attempt.task and attempt.turns:
                request.attempts.append(attempt)
                attempt = Attempt()
            attempt.task = attempt.task or task[1].strip()
        elif outcome:
            attempt.success = _verdict(outcome[1])
            observing = False
        elif action:
            attempt.turns.append((action[1].strip(), ""))
            observing = False
        elif seen and attempt.turns:
            attempt.turns[-1] = (attempt.turns[-1][0], seen[1])
            observing = True
        elif observing and line.strip() and not _STEP.match(line):
            attempt.turns[-1] = (attempt.turns[-1][0], f"{attempt.turns[-1][1]}\n{line}")
        else:
            observing = False
            item = _ITEM.match(line)
            if item:
                request.items[int(item[1])] = item[2].strip()
    request.attempts.append(attempt)
    return request


def read_act(action: str, observation: str) -> Act:
    """Take an action apart without knowing the grammar: the verb with its particle, then names between prepositions."""
    words = action.strip().rstrip(".").split(" ")
    length = 2 if len(words) > 1 and words[1].lower() in _PARTICLES else 1
    verb = " ".join(words[:length]).lower()
    parts = _SPLIT.split(" ".join(words[length:]))
    names = [("", parts[0].strip())] if parts[0].strip() else []
    names += [(prep.lower(), name.strip()) for prep, name in zip(parts[1::2], parts[2::2], strict=True)]
    return Act(action, verb, tuple(names), observation)


def essential_acts(attempt: Attempt, goal: Goal, knowledge: Knowledge) -> list[Act]:
    """The attempt without dead ends.

    Dropped are refused actions, looking, closing, moves and openings that nothing came of, repeats of the action
    before, and taking and putting back of things that the goal does not name and no other act uses.
    """
    acts = [read_act(action, seen) for action, seen in attempt.turns if not knowledge.cues.refuses(seen)]
    acts = [act for act in acts if not any(knowledge.is_verb(kind, act.verb) for kind in ("look", "close"))]
    acts = _without_foreign_operations(acts, goal, knowledge)
    acts = _without_repeats(_without_idle_handling(acts, goal, knowledge), knowledge)
    return [act for at, act in enumerate(acts) if _leads_somewhere(at, acts, knowledge)]


def searched_places(attempt: Attempt, knowledge: Knowledge) -> list[str]:
    """Kinds of places that were entered, in order of the first visit."""
    moves = [read_act(action, seen) for action, seen in attempt.turns]
    kinds = [noun(act.names[0][1]) for act in moves if knowledge.is_verb("navigate", act.verb) and act.names]
    return list(dict.fromkeys(kinds))


def _leads_somewhere(at: int, acts: Sequence[Act], knowledge: Knowledge) -> bool:
    """Whether a move or an opening comes right before the act it serves."""
    act = acts[at]
    if knowledge.is_verb("navigate", act.verb):
        following = (other for other in acts[at + 1 :] if not knowledge.is_verb("open", other.verb))
        after = next(following, None)
        return after is not None and not knowledge.is_verb("navigate", after.verb)
    if knowledge.is_verb("open", act.verb):
        after = acts[at + 1] if at + 1 < len(acts) else None
        opened = {name for _, name in act.names}
        return after is not None and (
            not knowledge.is_verb("navigate", after.verb) and bool(opened & {name for _, name in after.names})
        )
    return True


def _without_idle_handling(acts: list[Act], goal: Goal, knowledge: Knowledge) -> list[Act]:
    """Drop taking and putting of things that serve nothing.

    Of use are the goal's things, what other acts name, what a thing of use was put into, and what was put into a thing
    of use that is not the goal's destination (a pot on a stove).
    """

    def handles(act: Act) -> bool:
        return any(knowledge.is_verb(kind, act.verb) for kind in ("take", "release"))

    def among(name: str, words: frozenset[str]) -> bool:
        own = knowledge.lexicon.content(noun(name))
        return bool(own) and own <= words

    moves = ("navigate", "open")
    doing = [act for act in acts if not handles(act) and not any(knowledge.is_verb(kind, act.verb) for kind in moves)]
    useful = {name for act in doing for _, name in act.names}
    useful |= {name for act in acts for _, name in act.names if among(name, goal.words - goal.targets)}
    puts = [act for act in acts if knowledge.is_verb("release", act.verb) and len(act.names) > 1]
    for _ in puts:
        for act in puts:
            thing, target = act.names[0][1], act.names[1][1]
            if thing in useful:
                useful.add(target)
            elif target in useful and not among(target, goal.targets):
                useful.add(thing)
    return [act for act in acts if not handles(act) or (act.names and act.names[0][1] in useful)]


def _without_foreign_operations(acts: list[Act], goal: Goal, knowledge: Knowledge) -> list[Act]:
    """Where acts of the goal's own operation were done, those of operations that it does not ask for are detours."""
    operations = knowledge.goal_verbs - knowledge.weak_verbs
    asked = goal.words & operations
    verbs = {act: knowledge.lexicon.content(act.verb) & operations for act in acts}
    if not any(verb & asked for verb in verbs.values()):
        return acts
    return [act for act in acts if not verbs[act] or verbs[act] & asked]


def _without_repeats(acts: list[Act], knowledge: Knowledge) -> list[Act]:
    """Drop an act that repeats the one before, and one that repeats an operation done already."""
    kept: list[Act] = []
    for act in acts:
        handling = any(knowledge.is_verb(kind, act.verb) for kind in ("navigate", "open", "take", "release", "idle"))
        texts = [other.text for other in kept]
        if act.text not in (texts[-1:] if handling else texts):
            kept.append(act)
    return kept


def _verdict(word: str) -> bool | None:
    lowered = word.lower()
    if lowered == "unknown":
        return None
    return lowered in _SUCCESS
