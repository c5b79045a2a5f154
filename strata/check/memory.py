"""Checks of a memory against the contract of `strata.protocols.Memory`.

A check is a function of a maker of empty memories; it raises CheckFailed with the fault and its usual cause.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np

from strata.check.report import CheckFailed, Note, demand
from strata.check.samples import sample_stream, sample_view
from strata.check.scripted import UNREADABLE, ScriptedBackbone
from strata.check.subject import FailingOnce, Maker, play, state_digest
from strata.errors import CorruptStateError, TransientBackboneError, UsageError
from strata.types import MemoryContext, MemoryReport

_METHODS = ("build", "retrieve", "reflect", "changes", "snapshot", "restore", "freeze")
_BUILD_KEYWORDS = {"backbone", "embedder", "rng", "prompts"}


def has_the_methods(make: Maker) -> None:
    """The class has the methods, and `build` the keywords."""
    missing = [name for name in _METHODS if not callable(getattr(make.target, name, None))]
    demand(not missing, f"{make.target.__name__} lacks: {', '.join(missing)}. See strata.protocols.Memory.")
    parameters = inspect.signature(make.target.build).parameters
    lacking = sorted(_BUILD_KEYWORDS - set(parameters))
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    demand(
        takes_any or not lacking,
        f"build() lacks the keyword(s) {', '.join(lacking)}. It is called as build(config, backbone=, embedder=, rng=, "
        "prompts=), and must be a classmethod.",
    )


def refuses_unknown_keys(make: Maker) -> None:
    """A mistyped configuration key is an error, not a silent default."""
    try:
        make.build(ScriptedBackbone(), no_such_key=1)
    except UsageError:
        return
    raise CheckFailed(
        "build() accepts an unknown configuration key, so a mistyped setting does nothing and nobody sees it. "
        "Read the configuration with strata.settings.read_settings."
    )


def starts_empty(make: Maker) -> None:
    """With nothing stored, nothing is shown, so that the prompt is the one of No-Memory."""
    context = make().retrieve(sample_view(0), sample_stream(1)[0].start)
    demand(isinstance(context, MemoryContext), f"retrieve() returned {type(context).__name__}, not a MemoryContext.")
    demand(
        context.stored == 0 and not context.item_ids,
        "A new memory says that it holds items. Did build() load a bank, or is state kept at class or module level?",
    )
    if context.text:
        raise Note("An empty memory shows text. Fine for standing instructions of a method; report them separately.")


def reports_what_it_does(make: Maker) -> None:
    """Types are right, and every id shown was added and not removed."""
    memory, known = make(), set[str]()
    for episode in sample_stream():
        (delta,), (context,), (report,) = play(memory, [episode])
        demand(isinstance(report, MemoryReport), f"reflect() returned {type(report).__name__}, not a MemoryReport.")
        demand(
            isinstance(delta, bytes),
            f"changes() returned {type(delta).__name__}, not bytes. Use strata.canonical.pack.",
        )
        strangers = sorted(set(context.item_ids) - known)
        demand(
            not strangers,
            f"retrieve() showed {strangers}, which no report had added. Ids must be stable (never list positions), and "
            "an item may be shown only after reflect() has added it.",
        )
        demand(not context.item_ids or bool(context.text), "retrieve() names items but shows no text.")
        known = (known | set(report.added)) - set(report.removed)
    if not memory.retrieve(sample_view(99, "put a hot apple in the fridge"), sample_stream(1)[0].start).text:
        raise Note("The memory showed nothing for a task that it had seen solved. Fine only if it is meant to.")


def gives_equal_bytes(make: Maker) -> None:
    """The same episodes give the same bytes, in this process and in another one."""
    found = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        found.append(state_digest(make))
    demand(
        found[0] == found[1],
        "The same episodes gave different states or texts. Usual causes: the global `random` or numpy generator "
        "instead of the `rng` given to build(), a clock, uuid4, id().",
    )
    if make.name:
        demand(
            _digest_in_another_process(make) == found[0],
            "Another process gave other bytes for equal episodes. Usual causes: iterating over a set, hash() of a str.",
        )


def replays_deltas(make: Maker) -> None:
    """Any snapshot with the deltas after it gives the state of a memory that was never interrupted."""
    stream = sample_stream()
    memory, snapshots, deltas = make(), list[bytes | None]([None]), list[bytes]()
    for episode in stream:
        deltas += play(memory, [episode])[0]
        copy = make()
        copy.restore(None, deltas)
        snapshots.append(copy.snapshot())
    whole = memory.snapshot()
    expected = memory.retrieve(sample_view(50), stream[0].start)  # once: retrieving may change what comes next
    for at, snapshot in enumerate(snapshots):
        copy = make()
        copy.restore(snapshot, deltas[at:])
        demand(
            copy.snapshot() == whole,
            f"The snapshot after {at} episodes with the {len(deltas) - at} deltas after it is not the final state. "
            "Usual causes: something that retrieve() or reflect() changes is missing from changes(); changes() does "
            "not start anew after changes(), snapshot() and restore(); counters are not stored.",
        )
        demand(
            copy.retrieve(sample_view(50), stream[0].start) == expected,
            "A restored memory shows something else than the original: derived state is not rebuilt.",
        )


def undoes_an_abandoned_episode(make: Maker) -> None:
    """`restore` forgets what an episode without commit did."""
    stream = sample_stream(5)
    memory = make()
    deltas, _, _ = play(memory, stream[:3])
    before = memory.snapshot()
    memory.retrieve(stream[3].view, stream[3].start)
    memory.reflect(stream[3])
    memory.restore(before, [])
    demand(memory.snapshot() == before, "restore() keeps something of the episode before it.")
    again, _, _ = play(memory, stream[3:])
    untouched = make()
    expected, _, _ = play(untouched, stream)
    demand(
        [*deltas, *again] == expected,
        "After restore() the next episodes give other deltas: it forgets to reset something.",
    )
    memory.restore(None, [])
    demand(memory.snapshot() == make().snapshot(), "restore(None, []) does not give an empty memory.")


def notices_damage(make: Maker) -> None:
    """A flipped byte or a cut file is an error, never a smaller memory."""
    memory = make()
    deltas, _, _ = play(memory, sample_stream())
    for what, blob in (("snapshot", memory.snapshot()), ("delta", deltas[0])):
        middle = len(blob) // 2
        for damaged in (blob[:middle], blob[:middle] + bytes([blob[middle] ^ 1]) + blob[middle + 1 :], b""):
            try:
                make().restore(*((damaged, []) if what == "snapshot" else (None, [damaged])))
            except CorruptStateError:
                continue
            raise CheckFailed(
                f"restore() accepts a damaged {what}. It must raise CorruptStateError, as strata.canonical.unpack does."
            )


def passes_on_a_failing_model(make: Maker) -> None:
    """An endpoint that fails is an error, never an empty note; the repeated episode gives the same state."""
    stream = sample_stream(3)
    backbone = ScriptedBackbone()
    expected, _, _ = play(make.build(backbone), stream)
    for number in range(len(backbone.calls)):
        memory = make(FailingOnce(number))
        deltas: list[bytes] = []
        failures = 0
        while len(deltas) < len(stream) and failures < 2:
            try:
                deltas += play(memory, stream[len(deltas) : len(deltas) + 1])[0]
            except TransientBackboneError:
                failures += 1
                memory.restore(None, deltas)
        demand(
            failures == 1,
            f"Call {number} of the language model failed, and the memory hid it. reflect() and retrieve() must let "
            "errors of the backbone out: the runner repeats the episode.",
        )
        demand(
            deltas == expected,
            f"Call {number} of the language model failed once, the episode was repeated, and the state came out "
            "different. restore() forgets to reset something that was changed before the call failed.",
        )


def counts_unreadable_replies(make: Maker) -> None:
    """A reply that holds nothing usable is counted, and the memory works on."""
    for name, spoil in UNREADABLE.items():
        backbone = ScriptedBackbone(spoil=spoil)
        memory = make.build(backbone)
        _, _, reports = play(memory, sample_stream(3))
        demand(
            not backbone.calls or sum(report.parse_failures for report in reports) > 0,
            f"Replies that are {name} were not counted in MemoryReport.parse_failures. Read them with "
            "strata.prompts.fields.read_fields, check reply.finish == 'stop', and count each ReplyError.",
        )
        copy = make()
        copy.restore(memory.snapshot(), [])
        demand(copy.snapshot() == memory.snapshot(), f"After replies that are {name} the state does not restore.")


def freezes(make: Maker) -> None:
    """After `freeze` nothing changes any more."""
    memory = make()
    play(memory, sample_stream(4))
    before = memory.snapshot()
    memory.freeze()
    _, _, reports = play(memory, sample_stream(8)[4:])
    demand(
        memory.snapshot() == before,
        "A frozen memory changed. freeze() must stop reflect() and retrieve() from writing.",
    )
    demand(not any(report.added or report.removed for report in reports), "A frozen memory reports changes.")


MEMORY_CHECKS: tuple[Callable[[Maker], None], ...] = (
    has_the_methods,
    refuses_unknown_keys,
    starts_empty,
    reports_what_it_does,
    gives_equal_bytes,
    replays_deltas,
    undoes_an_abandoned_episode,
    notices_damage,
    passes_on_a_failing_model,
    counts_unreadable_replies,
    freezes,
)


def _digest_in_another_process(make: Maker) -> str:
    """With texts hashed differently, so that sets come in another order."""
    settings = [f"{key}={json.dumps(value, default=str)}" for key, value in make.config.items()]
    command = [sys.executable, "-m", "strata.check", "memory", make.name, *settings, "--digest"]
    hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    demand(done.returncode == 0, f"It could not be run in another process: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()
