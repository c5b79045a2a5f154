"""Where calls, tokens, money and time go: wrappers around the exchangeable parts, so memories need not report it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from strata.budget import Budget
from strata.protocols import Backbone, Embedder, Vectors
from strata.types import Message, Reply, Sampling, Usage


class Stopwatch:
    """Wall seconds by name. Each moment counts once: what a nested measurement takes is not the outer one's."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Time the body of a `with` statement."""
        self._settle()
        self._running.append(name)
        try:
            yield
        finally:
            self._settle()
            self._running.pop()

    def take(self) -> dict[str, float]:
        """Seconds since the last `take`, running measurements included."""
        self._settle()
        taken, self._seconds = self._seconds, {}
        return taken

    def _settle(self) -> None:
        now = self.clock()
        if self._running:
            name = self._running[-1]
            self._seconds[name] = self._seconds.get(name, 0.0) + now - self._since
        self._since = now


class MeteredBackbone:
    """A backbone whose every call is accounted by purpose and held to the run's budget.

    A call is charged as soon as it is answered, whatever becomes of the answer.
    """

    def __init__(self, inner: Backbone, budget: Budget, watch: Stopwatch) -> None:
        self.name = inner.name
        self.usage: dict[str, Usage] = {}
        self._inner = inner
        self._budget = budget
        self._watch = watch

    def complete(self, messages: Sequence[Message], *, sampling: Sampling, purpose: str, repeat: int = 0) -> Reply:
        """Answer a conversation. Raises BudgetReached, and what the backbone raises."""
        self._budget.check()
        with self._watch.measure("backbone"):
            reply = self._inner.complete(messages, sampling=sampling, purpose=purpose, repeat=repeat)
        self.usage[purpose] = self.usage.get(purpose, Usage()) + reply.usage
        self._budget.charge(reply.usage, reply.model)
        return reply

    def take(self) -> dict[str, Usage]:
        """Usage by purpose since the last `take`, in the order of the names."""
        taken, self.usage = self.usage, {}
        return dict(sorted(taken.items()))


class MeteredEmbedder:
    """An embedder whose time is measured."""

    def __init__(self, inner: Embedder, watch: Stopwatch) -> None:
        self.name = inner.name
        self.dimension = inner.dimension
        self._inner = inner
        self._watch = watch

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, one row each, in order."""
        with self._watch.measure("embedding"):
            return self._inner.embed(texts)
