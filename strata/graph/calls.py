"""The memory's calls to a language model: one prompt in, the declared fields out, failures named."""

from __future__ import annotations

from dataclasses import dataclass, field

from strata.errors import ContextOverflow
from strata.graph.settings import Reflection
from strata.prompts import PromptLibrary
from strata.prompts.fields import FieldType, ReplyError, read_fields
from strata.protocols import Backbone
from strata.types import Json, Message, Sampling

OWNER = "strata"


@dataclass
class Caller:
    """Asks a backbone and reads its replies. `failures` are replies that could not be read, as events."""

    backbone: Backbone
    prompts: PromptLibrary
    settings: Reflection
    failures: list[dict[str, Json]] = field(default_factory=list)

    def ask(self, name: str, purpose: str, fields: dict[str, FieldType], **values: str) -> dict[str, Json] | None:
        """The fields of the reply to a prompt, or None when it cannot be read, which is noted.

        Backbone errors go up, except a prompt that is too long for the model: that is noted like an unreadable reply,
        because trying again cannot help.
        """
        text = self.prompts.get(f"{OWNER}/{name}").fill(**values)
        sampling = Sampling(temperature=self.settings.temperature, max_tokens=self.settings.max_tokens)
        try:
            reply = self.backbone.complete([Message("user", text)], sampling=sampling, purpose=purpose)
        except ContextOverflow as error:
            self.reject(name, f"the prompt is too long: {error}")
            return None
        if reply.finish != "stop":
            self.reject(name, f"the reply ended by {reply.finish}")
            return None
        try:
            return read_fields(reply.text, fields)
        except ReplyError as error:
            self.reject(name, str(error))
            return None

    def reject(self, name: str, reason: str) -> None:
        """Note that a reply to a prompt cannot be used."""
        self.failures.append({"kind": "parse_failure", "prompt": f"{OWNER}/{name}", "reason": reason})

    def take_failures(self) -> list[dict[str, Json]]:
        """The failures so far, which are then forgotten."""
        taken, self.failures = self.failures, []
        return taken
