"""Calls through litellm: loading it quietly, mapping its errors to ours, retrying what may pass.

Nothing leaves the machine but the calls themselves: litellm's downloads (price table, tokenizers, header lists) and its
reading of `.env` files are turned off before it is imported.

The key comes from an environment variable alone. With an address of your own (`api_base`) only the variable named by
`api_key_env` is read, so that a provider's key is never sent to another server by accident. Keys are cut out of every
message, and the provider's exceptions, which may quote them, are not chained.
"""

from __future__ import annotations

import email.utils
import importlib
import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from strata.errors import (
    BackboneError,
    BackboneRefused,
    ContextOverflow,
    Paused,
    QuotaExhausted,
    TransientBackboneError,
    UsageError,
)
from strata.types import Json

T = TypeVar("T")

_log = logging.getLogger(__name__)
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",
}
_LONGEST_WAIT = 120.0
_BACKOFF = wait_exponential_jitter(initial=1, max=_LONGEST_WAIT, jitter=1)
_OVERFLOW = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|prompt is too long|input is too long", re.IGNORECASE
)
_QUOTA = re.compile(
    r"insufficient.?(quota|balance|credit|fund)|exceeded your current quota|credit balance|billing", re.IGNORECASE
)
_FILTERED = re.compile(r"content.?(filter|policy|management)", re.IGNORECASE)
_NO_KEY = re.compile(r"(missing|no|set) .{0,40}(api.?key|credential)|missing credentials", re.IGNORECASE)
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$")


class ContentRefused(BackboneError):
    """The provider's filter rejects the content of this prompt. The agent's own doing."""


class _Delayed(TransientBackboneError):
    """A failure that may pass, with the seconds that the server asks to wait."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where calls go and how patient we are. `group` is the config group that messages name keys of."""

    model: str
    api_base: str | None
    api_key_env: str | None
    timeout: float
    max_retries: int
    group: str = "backbone"

    def key(self) -> dict[str, str]:
        """The `api_key` argument; nothing when litellm shall read the provider's usual variable. Raises UsageError."""
        if self.api_key_env is not None:
            value = os.environ.get(self.api_key_env, "").strip()
            if not value:
                raise UsageError(
                    f"The environment variable {self.api_key_env}, named by api_key_env, is not set. "
                    f"Set it: export {self.api_key_env}=..."
                )
            return {"api_key": value}
        return {"api_key": "none"} if self.api_base else {}

    def __str__(self) -> str:
        return f"{self.model} at {self.api_base or 'its provider'}"


def check_address(api_base: str | None, api_key_env: str | None, timeout: float, max_retries: int) -> None:
    """Raises ValueError naming the setting that cannot be meant. What may be a key is not repeated."""
    if api_key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", api_key_env):
        raise ValueError("api_key_env: give the name of an environment variable, such as MY_KEY, not the key itself.")
    if api_base is not None and urlsplit(api_base).scheme not in ("http", "https"):
        raise ValueError(f"api_base={api_base}: must be an http or https address.")
    if api_base is not None and "@" in api_base:
        raise ValueError("api_base holds a user name or password, which the manifest would keep. Use api_key_env.")
    if not 0 < timeout <= 86_400:
        raise ValueError(f"timeout={timeout}: must be above 0 seconds and at most a day.")
    if not 0 <= max_retries <= 100:
        raise ValueError(f"max_retries={max_retries}: must be between 0 and 100.")


class Caller:
    """Makes calls to one endpoint. Imports litellm at the first one."""

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._answered = False

    def call(self, function: str, request: Mapping[str, Json], read: Callable[[Any], T]) -> T:
        """What `read` makes of litellm's response to `litellm.<function>(**request)`.

        Raises ContextOverflow, ContentRefused, BackboneRefused and QuotaExhausted at once, and TransientBackboneError
        after `max_retries` further tries. An address that has never answered is refused after two tries.
        """
        retrying = Retrying(
            retry=retry_if_exception_type(TransientBackboneError),
            stop=lambda state: state.attempt_number > (self.endpoint.max_retries if self._answered else 1),
            wait=_wait,
            sleep=self._sleep,
            before_sleep=_say,
            reraise=True,
        )
        try:
            result: T = retrying(self._once, function, request, read)
            return result
        except TransientBackboneError as error:
            said = str(error)
        if self._answered:
            raise TransientBackboneError(said)
        raise BackboneRefused(f"{said} It has not answered once.")

    def _once(self, function: str, request: Mapping[str, Json], read: Callable[[Any], T]) -> T:
        litellm = load_litellm()
        failed: Exception
        arguments = {"model": self.endpoint.model, "api_base": self.endpoint.api_base, "timeout": self.endpoint.timeout}
        try:
            # litellm builds its pydantic models lazily, and pydantic warns about their style.
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                response = getattr(litellm, function)(
                    num_retries=0, max_retries=0, **arguments, **self.endpoint.key(), **request
                )
        except _provider_errors() as error:
            self._answered = self._answered or not _is_silence(error)
            failed = map_error(error, self.endpoint)
        else:
            self._answered = True
            return read(response)
        raise failed


def load_litellm() -> Any:
    """The module, imported with everything off that calls home, prints or drops parameters. Takes seconds once."""
    os.environ.update(_ENVIRONMENT)
    try:
        with warnings.catch_warnings(action="ignore"):
            litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise UsageError(f"litellm cannot be imported ({error}). Run: pip install litellm") from error
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.disable_hf_tokenizer_download = True
    return litellm


def _provider_errors() -> Any:
    return importlib.import_module("openai").OpenAIError


def map_error(error: Exception, endpoint: Endpoint) -> BackboneError | Paused:
    """Our error for one of litellm's. Messages say what to do and hold no key."""
    status, kind = getattr(error, "status_code", None), type(error).__name__
    said = _plain(redact(str(error), endpoint.api_key_env))
    if kind == "ContextWindowExceededError" or (status in (400, 413, 500) and _OVERFLOW.search(said)):
        return ContextOverflow(f"The prompt is too long for {endpoint}: {said}")
    if status == 402 or _QUOTA.search(f"{said} {_code(error)}"):
        return QuotaExhausted(
            f"The quota of {endpoint} is used up: {said}. Top it up, then start the same command again."
        )
    if kind == "ContentPolicyViolationError" or (status == 400 and _FILTERED.search(f"{said} {_code(error)}")):
        return ContentRefused(f"The content filter of {endpoint} rejects the prompt: {said}")
    if not _answered(error) and _NO_KEY.search(said):
        return BackboneRefused(f"There is no key for {endpoint}. Set in the environment: {_key_names(endpoint)}.")
    if status in (401, 403):
        hint = f"Put a valid key into {_key_names(endpoint)}"
        hint += (
            "." if endpoint.api_key_env or not endpoint.api_base else f" and name it: {endpoint.group}.api_key_env=..."
        )
        return BackboneRefused(f"{endpoint} does not accept the key: {said}. {hint}")
    if "LLM Provider NOT provided" in said:
        return BackboneRefused(
            f"{endpoint.group}.model={endpoint.model} names no provider. Write provider/model, such as "
            f"openai/{endpoint.model} for any OpenAI-compatible server."
        )
    if status == 404:
        return BackboneRefused(
            f"{endpoint} was not found: {said}. Check {endpoint.group}.model and {endpoint.group}.api_base."
        )
    if status in (400, 405, 413, 415, 422):
        return BackboneRefused(f"{endpoint} rejects the request: {said}. Check the request's settings.")
    return _transient(error, endpoint, said)


def redact(text: str, key_name: str | None = None) -> str:
    """The text without the value of `key_name` and of any environment variable that by its name holds a secret."""
    named = [value for name, value in os.environ.items() if name == key_name or _SECRET_NAME.search(name.upper())]
    for value in sorted((value.strip() for value in named if len(value.strip()) >= 6), key=len, reverse=True):
        text = text.replace(value, "[key]")
    return text


def _key_names(endpoint: Endpoint) -> str:
    """The environment variables that hold the key, as well as they are known."""
    if endpoint.api_key_env or endpoint.api_base:
        return endpoint.api_key_env or "an environment variable"
    wanted = load_litellm().validate_environment(endpoint.model)["missing_keys"]
    return ", ".join(wanted) or "the provider's usual variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...)"


def _transient(error: Exception, endpoint: Endpoint, said: str) -> BackboneError | Paused:
    wait = _retry_after(error)
    if wait is not None and wait > _LONGEST_WAIT:
        return QuotaExhausted(f"{endpoint} asks to wait {wait:.0f} seconds: {said}. Start the same command again then.")
    hint = ""
    if _is_silence(error):
        place = endpoint.api_base or "its provider"
        hint = f" Is the server running at {place}, and is {endpoint.group}.timeout long enough?"
    delayed = _Delayed(f"{endpoint} failed: {said}.{hint}")
    delayed.retry_after = wait
    return delayed


def _answered(error: Exception) -> bool:
    """Whether a server answered, be it with an error."""
    return bool(getattr(error, "litellm_response_headers", None))


def _is_silence(error: Exception) -> bool:
    """Whether no answer came: no connection, or none in time."""
    if getattr(error, "litellm_response_headers", None):
        return False
    kind = type(error).__name__
    return (
        kind == "Timeout"
        or "Connection error" in str(error)
        or (kind == "APIConnectionError" and "onnect" in str(error))
    )


def _code(error: Exception) -> str:
    """The error code in the answer's body, if there is one."""
    body = getattr(error, "body", None)
    return f"{body.get('code')} {body.get('type')}" if isinstance(body, Mapping) else ""


def _retry_after(error: Exception) -> float | None:
    """Seconds from the answer's Retry-After header: a number, or a date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, TypeError):
            return None


def _wait(state: RetryCallState) -> float:
    """What the server asked for, or 1, 2, 4 ... seconds and up to one more, so that several processes spread out."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "retry_after", None)
    return _BACKOFF(state) if asked is None else float(asked)


def _say(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    wait = state.next_action.sleep if state.next_action else 0.0
    _log.warning("%s Trying again in %.0f s.", error, wait)


def _plain(said: str) -> str:
    """The provider's words without litellm's chain of class names and its traceback, on one line."""
    said = said.partition("Traceback (most recent call last)")[0]
    said = re.sub(r"^(litellm\.)?(\w+(Error|Timeout|Exception)\s*:\s*|\w+Exception - )+", "", " ".join(said.split()))
    said = re.sub(r"^(litellm\.\w+: |\w+(Error|Exception)( -|:) |Timeout Error: )+", "", said)
    return said[:400].rstrip(". ")
