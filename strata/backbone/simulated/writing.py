"""Filling the fields that a prompt asks for from the facts it shows. One formatter for every prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strata.backbone.simulated.draws import Draws
from strata.backbone.simulated.facts import Act, Attempt, Field, Request, essential_acts, read_request, searched_places
from strata.backbone.simulated.goal import Goal, read_goal
from strata.backbone.simulated.knowledge import Knowledge
from strata.backbone.simulated.parameters import Parameters
from strata.backbone.simulated.words import noun
from strata.types import Json

_SAME, _NEAR = 0.9, 0.5
_LONG = 25


@dataclass(frozen=True, slots=True)
class Account:
    """Facts of one attempt in the words of a reply."""

    goal: Goal
    success: bool
    acts: tuple[Act, ...]
    steps: tuple[str, ...]
    attempt: Attempt


class Writer:
    """Answers prompts that are not about acting."""

    def __init__(self, knowledge: Knowledge, parameters: Parameters, draws: Callable[[str], Draws]) -> None:
        self.knowledge = knowledge
        self._parameters = parameters
        self._draws = draws

    def reply(self, prompt: str) -> str:
        """A JSON object with the declared fields; a sentence or two where a prompt declares none."""
        request = read_request(prompt)
        general = self.knowledge.asks("general", prompt)
        accounts = [self._account(attempt, general) for attempt in request.attempts]
        account = next((found for found in reversed(accounts) if found.success and found.steps), accounts[-1])
        if not request.fields:
            return self.lesson(account, "")
        draft = _Draft(self, request, account)
        return json.dumps({item.name: draft.value(item) for item in request.fields}, ensure_ascii=False)

    def _account(self, attempt: Attempt, general: bool) -> Account:
        goal = read_goal(attempt.task, self.knowledge)
        acts = tuple(essential_acts(attempt, goal, self.knowledge))
        success = attempt.success if attempt.success is not None else self._judge(goal, acts)
        steps = tuple(self._step(act, goal, acts) if general else act.text for act in acts) if success else ()
        return Account(goal, success, acts, steps, attempt)

    def _judge(self, goal: Goal, acts: Sequence[Act]) -> bool:
        """Judge without a verdict: were the goal's own verbs carried out and its things put where it says?"""
        content = self.knowledge.lexicon.content
        done = frozenset(word for act in acts for word in content(act.text))
        wanted = (goal.words & self._operators()) | goal.targets
        likely = bool(acts) and wanted <= done
        rightly = self._draws(goal.text).happens(self._parameters.p_judge, "judge")
        return likely if rightly else not likely

    def _operators(self) -> frozenset[str]:
        return self.knowledge.goal_verbs - self.knowledge.weak_verbs

    # -- words for what was done

    def _step(self, act: Act, goal: Goal, acts: Sequence[Act]) -> str:
        """An act with the names of this task generalised."""
        names = [f"{prep} {self._name(name, prep, goal)}".strip() for prep, name in act.names]
        enters = self.knowledge.is_verb("navigate", act.verb) or self.knowledge.is_verb("open", act.verb)
        if enters and act.names and act in acts and self._is_for_taking(acts[acts.index(act) + 1 :]):
            names = ["{place}"]
        return " ".join([act.verb, *names])

    def _is_for_taking(self, after: Sequence[Act]) -> bool:
        """Whether the next act that is no opening takes something from a place."""
        following = next((act for act in after if not self.knowledge.is_verb("open", act.verb)), None)
        return following is not None and any(prep == "from" for prep, _ in following.names)

    def _name(self, name: str, prep: str, goal: Goal) -> str:
        words = self.knowledge.lexicon.content(noun(name))
        if prep == "from":
            return "{place}"
        if prep == "with":
            return noun(name)
        kind = goal.category
        if words and (words <= goal.themes or (kind and words & kind.words and not words & kind.excluded)):
            return "{object}"
        if words and words <= goal.targets:
            return "{target}"
        return noun(name)

    def general_goal(self, goal: Goal) -> str:
        """The goal's first sentence with its things as placeholders; one that names only a kind stays as it is."""
        words: list[str] = []
        for word in self.short_goal(goal).split(" "):
            own = self.knowledge.lexicon.content(word)
            mark = "{object}" if own and own <= goal.themes else "{target}" if own and own <= goal.targets else word
            if not (words and words[-1] == mark and mark.startswith("{")):
                words.append(mark)
        return self.short_goal(goal) if goal.category else " ".join(words)

    def short_goal(self, goal: Goal) -> str:
        """The goal's first sentence, at most 120 characters."""
        return goal.head[:120]

    def unit(self, account: Account) -> list[str]:
        """The use of the attempt's most particular action: what is neither going, opening, taking nor putting."""
        plain = ("navigate", "open", "take", "release")
        for act, step in zip(account.acts, account.steps, strict=True):
            if not any(self.knowledge.is_verb(kind, act.verb) for kind in plain):
                return [step]
        return list(account.steps[-1:])

    def lesson(self, account: Account, description: str) -> str:
        if account.success:
            if self.knowledge.asks("difference", description):
                return self._difference(account)
            return "Do this in order: " + "; ".join(account.steps) + "." if account.steps else "The task needs no act."
        return self._warning(account)

    def _difference(self, account: Account) -> str:
        sources = [noun(name) for act in account.acts for prep, name in act.names if prep == "from"]
        found = ", ".join(dict.fromkeys(sources))
        return f"The object was found at: {found}." if found else "Nothing but the names is different."

    def _warning(self, account: Account) -> str:
        """What went wrong, as something to avoid."""
        goal, turns = account.goal, account.attempt.turns
        last = turns[-1] if turns else ("", "")
        content = self.knowledge.lexicon.content
        foreign = [act for act in account.acts if (content(act.verb) & self._operators()) - goal.words]
        missing = sorted((goal.words & self._operators()) - {w for act in account.acts for w in content(act.text)})
        if foreign:
            return f"Do not {self._step(foreign[-1], goal, ())}, when the task is to {self.short_goal(goal)}."
        if turns and len(turns) < _LONG:
            return f"Do not {last[0]}, when the task is to {self.short_goal(goal)}: the attempt ended there."
        if missing:
            return f"Never stop before the task's own operation is done: {', '.join(missing)}."
        places = ", ".join(searched_places(account.attempt, self.knowledge)[:6])
        return f"The steps ran out in the search; it is a mistake to go twice to the same places ({places})."

    def reason(self, account: Account) -> str:
        """Why the attempt ended as it did."""
        count = len(account.attempt.turns)
        if account.success:
            return f"The task was solved in {count} actions, of which {len(account.acts)} mattered."
        return f"The task was not solved in {count} actions."

    def tags(self, goal: Goal) -> list[str]:
        """`op:` for the goal's verbs, the particular ones first, `obj:` for its things."""
        words = self.knowledge.lexicon.listed(goal.head)
        verbs = [word for word in words if word in self.knowledge.goal_verbs]
        verbs.sort(key=lambda word: word in self.knowledge.weak_verbs)
        things = [word for word in words if word in goal.themes]
        spoken = self.knowledge.spoken(goal.head) | self.knowledge.lexicon.mains
        tags = [f"op:{spoken.get(word, word)}" for word in verbs] + [f"obj:{spoken.get(word, word)}" for word in things]
        return list(dict.fromkeys(tags))


class _Draft:
    """One reply."""

    def __init__(self, writer: Writer, request: Request, account: Account) -> None:
        self._writer = writer
        self._request = request
        self._account = account
        self._knowledge = writer.knowledge
        described = " ".join(item.description for item in request.fields)
        self._unit = self._knowledge.asks("unit", described)

    def value(self, item: Field) -> Json:
        """The value of one field, by its name in the vocabulary, else by its type."""
        by_name: dict[str, Callable[[], Json]] = {
            "title": self._title,
            "when": lambda: self._writer.short_goal(self._account.goal),
            "steps": self._steps,
            "lesson": lambda: self._writer.lesson(self._account, item.description),
            "reason": lambda: self._writer.reason(self._account),
            "keywords": self._keywords,
            "tags": lambda: self._writer.tags(self._account.goal),
            "kinds": lambda: self._kinds(item.description),
            "indices": self._indices,
            "decision": lambda: self._decision(item.description),
            "success": lambda: "yes" if self._account.success else "no",
        }
        by_type: dict[str, Callable[[], Json]] = {
            "text": by_name["lesson"],
            "list of text": self._keywords,
            "list of number": self._indices,
            "yes or no": by_name["success"],
        }
        return by_name.get(item.name, by_type[item.kind])()

    def _title(self) -> str:
        unit = self._steps() if self._unit else []
        text = unit[0] if unit else self._writer.general_goal(self._account.goal)
        return text[:1].upper() + text[1:]

    def _steps(self) -> list[str]:
        return self._writer.unit(self._account) if self._unit else list(self._account.steps)

    def _keywords(self) -> list[str]:
        spoken = self._knowledge.spoken(self._account.goal.head)
        return list(dict.fromkeys(spoken.values()))

    def _kinds(self, description: str) -> list[str]:
        """The offered kinds that the attempt has something for."""
        acts = self._account.acts
        plain = ("navigate", "open", "take", "release")
        particular = any(not any(self._knowledge.is_verb(kind, act.verb) for kind in plain) for act in acts)
        has = {
            "task": True,
            "unit": self._account.success and particular,
            "code": any("(" in act.text and ")" in act.text for act in acts),
        }
        offered = [word for word in re.findall(r"[a-z_]+", description.lower()) if self._knowledge.kind_of(word)]
        return [word for word in dict.fromkeys(offered) if has[self._knowledge.kind_of(word)]]

    def _likeness(self) -> dict[int, float]:
        """Word overlap (Jaccard) of what would be written with each listed item."""
        content = self._knowledge.lexicon.content
        own = content(f"{self._title()} {self._writer.short_goal(self._account.goal)} {' '.join(self._steps())}")
        likeness = {}
        for number, text in self._request.items.items():
            words = content(text)
            likeness[number] = len(own & words) / max(1, len(own | words))
        return likeness

    def _indices(self) -> list[int]:
        likeness = self._likeness()
        decisions = [item for item in self._request.fields if item.name == "decision"]
        if decisions:
            chosen = self._decision(decisions[0].description)
            group = self._knowledge.decision_of(chosen)
            near = sorted((n for n in likeness if likeness[n] >= _NEAR), key=lambda n: (-likeness[n], n))
            return near[:1] if group in ("near", "same") else near[:2] if group == "joined" else []
        content = self._knowledge.lexicon.content
        own = content(" ".join(self._account.steps))
        return [n for n, text in self._request.items.items() if len(content(text) & own) >= 0.5 * len(content(text))]

    def _decision(self, description: str) -> str:
        """One of the named options: by how near the nearest listed items are."""
        offered: dict[str, str] = {}
        for word in re.findall(r"[a-z_]+", description.lower()):
            group = self._knowledge.decision_of(word)
            if group:
                offered.setdefault(group, word)
        likeness = sorted(self._likeness().values(), reverse=True) or [0.0]
        wanted = ["new"]
        if len(likeness) > 1 and likeness[1] >= _SAME:
            wanted = ["joined", "same", "near", "new"]
        elif likeness[0] >= _SAME:
            wanted = ["same", "near", "new"]
        elif likeness[0] >= _NEAR:
            wanted = ["near", "new"]
        fallback = next(iter(offered.values()), "yes" if self._account.success else "no")
        return next((offered[group] for group in wanted if group in offered), fallback)
