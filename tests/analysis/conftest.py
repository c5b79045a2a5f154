"""Run directories written by the tests themselves, byte for byte in the format of `results/README.md`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LABELS = {"no_memory": "No-Memory", "flat": "Flat-Memory", "strata": "STRATA"}
UNSCORED = {"infra_timeout", "env_error", "backbone_error", "memory_error", "evaluator_error"}


@dataclass
class RunWriter:
    """Writes one run. `scores` maps task id -> raw score in percent, an unscored outcome, or None for not run yet."""

    folder: Path
    scores: Mapping[str, float | str | None]
    memory: str = "strata"
    label: str = ""
    env: str = "alfworld"
    split: str = "valid_unseen"
    backbone: str = "sim_pro"
    preset: str | None = "sim_pro"
    seed: int = 0
    simulated: bool = True
    categories: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(
        default_factory=lambda: {"python": "3.11", "code": {"strata": "d1"}, "env": {"textworld": "1.7.0"}}
    )
    stored: int | None = None
    lines: int | None = None
    injected: str = "When heating, use the microwave."
    instruction: str = "heat some egg and put it in countertop."
    complete: bool | None = None
    name: str = ""

    @property
    def run_id(self) -> str:
        return self.name or f"{self.memory}-{self.env}-{self.backbone}-s{self.seed}"

    @property
    def path(self) -> Path:
        return self.folder / self.run_id

    def write(self) -> Path:
        """Write all files and return the run's folder."""
        (self.path / "steps").mkdir(parents=True)
        self._json("manifest.json", self.manifest())
        done = [task for task, score in self.scores.items() if score is not None]
        lines = [json.dumps(self.episode(index, task)) for index, task in enumerate(done)]
        data = "".join(line + "\n" for line in lines).encode()
        (self.path / "episodes.jsonl").write_bytes(data)
        for index, _ in enumerate(done):
            self._json(f"steps/{index:05d}.json", self.steps())
        if self.complete if self.complete is not None else len(done) == len(self.scores):
            self.mark_complete()
        return self.path

    def mark_complete(self) -> None:
        data = (self.path / "episodes.jsonl").read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        self._json("complete.json", {"episodes": data.count(b"\n"), "planned": len(self.scores), "sha256": digest})

    def manifest(self) -> dict[str, Any]:
        backbone = {"name": self.backbone} | ({"preset": self.preset} if self.preset else {})
        config: dict[str, Any] = {
            "seed": self.seed,
            "protocol": "online",
            "order": "by_id",
            "signal": "env",
            "memory": {"name": self.memory},
            "env": {"name": self.env, "split": self.split},
            "backbone": backbone,
            "embedder": {"name": "minilm"},
        }
        for key, value in self.settings.items():
            *path, last = key.split(".")
            place = config
            for part in path:
                place = place.setdefault(part, {})
            place[last] = value
        return {
            "format": 1,
            "run_id": self.run_id,
            "simulated": self.simulated,
            "config": config,
            "identity": {**config, "prompts": {"agent/act": "a" * 64}, "guide": "b" * 64, "source": None},
            "prompts": {"agent/act": "a" * 64},
            "versions": self.versions,
            "memory": {"name": self.memory, "label": self.label or LABELS.get(self.memory, self.memory)},
            "env": {"name": self.env, "max_steps": 50, "guide": "b" * 64},
            "backbone": {"name": self.backbone},
            "embedder": {"name": "minilm", "dimension": 384},
            "seed": self.seed,
            "split": self.split,
            "tasks": [{"id": task, "category": self._category(task), "group": "g"} for task in self.scores],
            "planned": len(self.scores),
            "notes": [],
        }

    def episode(self, index: int, task: str) -> dict[str, Any]:
        score = self.scores[task]
        scored = not isinstance(score, str)
        empty = self.memory == "no_memory"
        stored = self.stored if self.stored is not None else (0 if empty else index + 1)
        lines = self.lines if self.lines is not None else (0 if empty else 3)
        usage = {"calls": 5, "input_tokens": 900, "output_tokens": 50, "cached_tokens": 0, "reasoning_tokens": 0}
        return {
            "index": index,
            "task_id": task,
            "category": self._category(task),
            "group": "g",
            "outcome": score if isinstance(score, str) else ("success" if score == 100 else "failure"),
            "scored": scored,
            "score": max(0.0, float(score)) if not isinstance(score, str) and score is not None else None,
            "raw_score": float(score) if not isinstance(score, str) and score is not None else None,
            "success": score == 100 if scored else None,
            "steps": 2,
            "tool_calls": 0,
            "malformed": 0,
            "usage": {"act": {**usage, "cost": 0.0}},
            "memory": {
                "stored": stored,
                "injected_ids": ["w1"] if lines else [],
                "lines": lines,
                "tokens_est": 12 * lines,
                "flags": [],
                "added": ["w1"],
                "changed": [],
                "removed": [],
                "parse_failures": 0,
            },
            "detail": "",
            "files": {"steps": {"path": f"steps/{index:05d}.json", "sha256": "c" * 64}},
            "events": 0,
        }

    def steps(self) -> dict[str, Any]:
        turn = {"thought": "I look.", "action": "look", "observation": "A room.", "score": 0.0, "malformed": []}
        return {
            "instruction": self.instruction,
            "start": "You are in the middle of a room.",
            "turns": [turn, {**turn, "action": "open fridge 1", "malformed": ["no action here"], "note": "a note"}],
            "unread": [],
            "injected": self.injected if (self.lines is None or self.lines) and self.memory != "no_memory" else "",
        }

    def _category(self, task: str) -> str:
        return self.categories.get(task, task.split("-")[0])

    def _json(self, name: str, value: object) -> None:
        (self.path / name).write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """An empty results folder."""
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


@pytest.fixture
def make_run(results: Path) -> Callable[..., RunWriter]:
    """Write a run into the results folder: make_run({task: score}, memory=..., seed=...)."""

    def make(scores: Mapping[str, float | str | None], **facts: Any) -> RunWriter:
        writer = RunWriter(results, scores, **facts)
        writer.write()
        return writer

    return make


@pytest.fixture
def three_memories(make_run: Callable[..., RunWriter]) -> Callable[..., None]:
    """Three memories x the given seeds on 12 ALFWorld tasks of three types, with scores that differ by seed."""

    def make(seeds: Sequence[int] = (0, 1, 2), **facts: Any) -> None:
        for offset, memory in enumerate(("no_memory", "flat", "strata")):
            for seed in seeds:
                make_run(alfworld_scores(offset, seed), memory=memory, seed=seed, **facts)

    return make


def alfworld_scores(offset: int, seed: int) -> dict[str, float | str | None]:
    """A fixed pattern of wins: more of them for a greater offset, others for another seed."""
    types = ("heat", "cool", "clean")
    return {
        f"{kind}-{n}": 100.0 * ((n * 7 + at * 3 + seed * 5) % 10 < 4 + 2 * offset)
        for at, kind in enumerate(types)
        for n in range(4)
    }


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY
