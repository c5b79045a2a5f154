"""The agent's messages (ReAct: thought, then action) and the rendering of a trajectory. Pure functions.

Memory text goes to the end of the system message; without any, the messages are byte-identical to No-Memory's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from strata.prompts.library import Prompt
from strata.types import EnvironmentGuide, Message, Observation, Turn


def build_messages(
    prompt: Prompt,
    guide: EnvironmentGuide,
    instruction: str,
    start: Observation,
    turns: Sequence[Turn],
    now: Observation,
    *,
    memory: str = "",
    note: str = "",
    tools: Sequence[str] = (),
) -> list[Message]:
    """Conversation so far, ending with the observation to act on.

    `now` equals `start` before the first action. Only the last observation lists its admissible commands and
    objects; the earlier ones keep their text.
    """
    system = prompt.fill(
        description=guide.description,
        actions=_bullets([*guide.grammar.templates, *tools]),
        irreversible=_section("These actions cannot be undone:", guide.grammar.irreversible),
        hints=_section("Rules of the interface:", guide.hints),
    ).rstrip()
    system = re.sub(r"\n{3,}", "\n\n", system)  # sections that an environment leaves out
    if memory:
        system += f"\n\n{memory.strip()}"
    messages = [Message("system", system)]
    shown = f"Task: {instruction}\n\nObservation: {start.text}"
    for turn in turns:
        messages.append(Message("user", shown))
        messages.append(Message("assistant", f"Thought: {turn.thought}\nAction: {turn.action}"))
        shown = f"Observation: {turn.observation}"
    shown += _section("\n\nObjects seen:", now.objects) + _section("\n\nAdmissible actions:", now.admissible)
    if note:
        shown += f"\n\n{note.strip()}"
    messages.append(Message("user", shown))
    return messages


def render_trajectory(turns: Sequence[Turn], *, observation_chars: int = 500, head: int = 15, tail: int = 15) -> str:
    """Numbered steps with thought, action and observation.

    Observations are cut to `observation_chars`; of a long episode the first `head` and last `tail` steps are kept,
    and what is left out is said.
    """
    lines: list[str] = []
    for number, turn in enumerate(turns, start=1):
        if head < number <= len(turns) - tail:
            if number == head + 1:
                lines.append(f"[{len(turns) - head - tail} steps left out]")
            continue
        lines += [f"Step {number}"]
        lines += [f"Thought: {turn.thought}"] if turn.thought else []
        lines += [f"Action: {turn.action}", f"Observation: {_cut(turn.observation, observation_chars)}"]
    return "\n".join(lines)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [{len(text) - limit} characters left out]"


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _section(title: str, items: Sequence[str]) -> str:
    return f"{title}\n{_bullets(items)}" if items else ""
