"""Every error that the project raises on purpose.

    StrataError                      exit 1
      UsageError                     exit 2   the command line or a configuration is wrong
      DataError                      exit 1   a file or folder is missing, or holds what it must not
        CorruptStateError            exit 1   a run directory or memory state does not match its checksum or format
      RunConflictError               exit 1   the run exists with other settings, or another process holds it
      StorageError                   exit 1   the disk is full or cannot be written
      Paused                         exit 3   started again, the run goes on
        BudgetReached                         a cap on money, tokens or calls
        QuotaExhausted                        the provider's quota is used up, or its endpoint is gone for long
      BackboneError                           a call to the language model failed
        BackboneRefused              exit 1   wrong key, unknown model, bad request: never retried
        ContextOverflow                       the prompt is too long: the agent's own doing, scored
        TransientBackboneError                timeout, 429, 5xx, broken reply: retried
      EnvironmentFailure                      the environment broke: never scored
        EnvironmentTimeout                    the environment did not answer in time
      MemoryFailure                           a memory could not do its work: never taken for an empty memory
      EvaluatorFailure                        the score could not be determined

Messages say what happened, to what, and what to do next. Foreign exceptions are mapped to these where they enter.
"""

from __future__ import annotations


class StrataError(Exception):
    """Base of all errors raised on purpose. `exit_code` is what a script ends with when it is not handled."""

    exit_code = 1


class UsageError(StrataError):
    """The command line or a configuration value is wrong."""

    exit_code = 2


class DataError(StrataError):
    """A file or folder is missing or unreadable, or its content is wrong."""


class CorruptStateError(DataError):
    """A run directory, snapshot or delta does not match its checksum or its format."""


class RunConflictError(StrataError):
    """The run exists with other settings, or another process is writing it."""


class StorageError(StrataError):
    """Results cannot be written: full disk, read-only folder."""


class Paused(StrataError):
    """The run stopped cleanly. Started again with the same command it goes on."""

    exit_code = 3


class BudgetReached(Paused):
    """A cap on money, tokens or calls was reached."""


class QuotaExhausted(Paused):
    """The provider's quota is used up, or its endpoint has been gone for long."""


class BackboneError(StrataError):
    """A call to the language model failed."""


class BackboneRefused(BackboneError):
    """The provider rejects the request itself (wrong key, unknown model, bad request). Never retried."""


class ContextOverflow(BackboneError):
    """The prompt is longer than the model's context. Never retried; the agent's own doing."""


class TransientBackboneError(BackboneError):
    """A failure that may pass: timeout, rate limit, server error, broken reply."""


class EnvironmentFailure(StrataError):
    """The environment broke through no fault of the agent."""


class EnvironmentTimeout(EnvironmentFailure):
    """The environment did not answer in time."""


class MemoryFailure(StrataError):
    """A memory could not do its work."""


class EvaluatorFailure(StrataError):
    """The score of an episode could not be determined."""
