"""Measure the ScienceWorld adapter against the package's own wrapper: python scripts/bench_scienceworld.py rounds=3

Writes results/bench/scienceworld.json: mean milliseconds of a step, the ratios, and the memory of the Java machine.
`--help` lists the options.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _command import run_command


def _bench(arguments: Sequence[str], root: Path) -> str:
    from envs.scienceworld import ScienceWorldEnvironment
    from envs.scienceworld.bench import measure, memory_over, solutions
    from strata.analysis.options import asks_for_help, read_options, usage
    from strata.settings import setting

    @dataclass(frozen=True)
    class Options:
        rounds: int = setting(3, "How often each walk is timed, after one round that warms up.")
        steps: int = setting(40, "Longest walk.")
        episodes: int = setting(240, "Episodes for the growth of memory, over all 30 task types. 0: none.")
        out: str = setting(str(root / "results/bench/scienceworld.json"), "File to write.")

        def __post_init__(self) -> None:
            if self.rounds < 1 or self.steps < 1 or self.episodes < 0:
                raise ValueError("rounds and steps must be 1 or more, episodes 0 or more.")

    if asks_for_help(arguments):
        return usage(Options)
    options = read_options(Options, arguments)
    document = measure(solutions(steps=options.steps), rounds=options.rounds)
    if options.episodes:
        environment = ScienceWorldEnvironment.build({"suite": "all30"})
        try:
            peaks = memory_over(environment, episodes=options.episodes, steps=20)
        finally:
            environment.close()
        document["peak_megabytes_by_episodes"] = {str(at): peaks[at - 1] for at in range(30, len(peaks) + 1, 30)}
    file = Path(options.out)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=2)
    file.write_text(text + "\n", encoding="utf-8")
    return text


if __name__ == "__main__":
    sys.exit(run_command(_bench))
