"""Objects of the agent whose code raises, never ends, or tells lies: each run with one ends, and the next one is as any other."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from runtime.debugger.debugger import Debugger
from runtime.support.texts import error_text
from tests.interop.engines.agents.zoo.values import MAKERS
from tests.interop.engines.conftest import AGENTS, EMBEDDED, IN_PROCESS, PYTHONS, Started, start, started_in_process
from tests.interop.engines.driving import drive, text
from tests.sweep import count

PLACES = (
    *("raise", "cause", "group", "notes", "attributes", "exit code", "log", "yield", "state", "temp state", "direct state"),
    *("direct temp state", "tool raises", "tool result", "tool result in a dict", "argument default", "before_tool_callback"),
    *("before_tool_callback raises", "after_tool_callback", "before_model_callback", "before_model_callback raises"),
    *("state of a callback", "temp state of a callback"),
)
SECONDS = 20.0  # for one run


async def problem_of(started: Started, message: str, *, steps: bool) -> str:
    """Run with a strange object, then without one; return what is wrong."""
    engine = started.engine
    debugger = Debugger()
    if steps:
        debugger.step()
    try:
        async with asyncio.timeout(SECONDS):
            await drive(engine, await engine.new_session("u"), text(message), debugger, lambda hold: debugger.step())
    except TimeoutError:
        return "the run does not end"
    except BaseException as error:  # the embedded runtime in this process raises what the agent's code raised
        assert error_text(error)
        assert not isinstance(error, asyncio.CancelledError)
    try:
        async with asyncio.timeout(SECONDS):
            events = await drive(engine, await engine.new_session("u"), text("nothing: "))
    except Exception as error:
        return f"the next run fails: {error_text(error)}"
    content = events[-1].content
    assert content is not None and content.parts is not None
    return "" if content.parts[0].text == "the end" else "the next run has another answer"


def is_endless_elsewhere(place: str, name: str) -> bool:
    """Return whether google-adk or pydantic reads an endless value themselves; such a run can only be stopped."""
    return name.startswith("endless") and place.startswith(("state", "tool", "after_tool", "before_tool", "temp state", "argument default"))


@pytest.mark.sweep
@pytest.mark.timeout(3600)
@pytest.mark.logs("")  # the agent logs strange objects
@pytest.mark.parametrize("version", ["2.13", EMBEDDED, IN_PROCESS])
async def test_a_run_with_a_strange_object_ends_and_the_next_one_is_as_any_other(version: str) -> None:
    chance = random.Random(11)
    pairs = [f"{place}: {name}" for place in PLACES for name in MAKERS if not is_endless_elsewhere(place, name)]
    if version == IN_PROCESS:
        # asyncio ends its loop when the agent's own code, such as a log call, raises one; pytest-xdist sends no half pairs of a log.
        pairs = [message for message in pairs if not message.endswith((": interrupt", ": exit", ": half a pair"))]
    chance.shuffle(pairs)
    async with AsyncExitStack() as stack:
        if version == IN_PROCESS:
            started = await stack.enter_async_context(started_in_process(AGENTS / "zoo"))
        else:
            PYTHONS[version]()
            started = await start(version, AGENTS / "zoo")
        stack.push_async_callback(started.engine.close)
        problems = {}
        for message in pairs[: count(40, len(pairs))]:
            problems[message] = await problem_of(started, message, steps=chance.random() < 0.5)
            if problems[message]:
                break
    assert {message: problem for message, problem in problems.items() if problem} == {}


BLOCKED_AGENT = """
import os, time
from pathlib import Path
from google.adk.agents import BaseAgent

class Blocks(Exception):
    def __str__(self):
        Path("{file}").write_text(str(os.getpid()))
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass

class Blocked(BaseAgent):
    async def _run_async_impl(self, ctx):
        raise Blocks()
        yield

root_agent = Blocked(name="blocked")
"""


@pytest.mark.sweep
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
def test_a_signal_ends_a_run_whose_exception_blocks(tmp_path: Path) -> None:
    pythons = {"adk": PYTHONS["2.13"](), "embedded-process": sys.executable}
    wanted = [("adk", signal.SIGTERM), ("embedded-process", signal.SIGTERM), ("embedded-process", signal.SIGINT), ("adk", signal.SIGINT)]
    running = []
    for number, (engine, sent) in enumerate(wanted[: count(2, 4)]):
        folder = tmp_path / f"agent{number}"
        folder.mkdir()
        (folder / "agent.py").write_text(BLOCKED_AGENT.replace("{file}", str(folder / "pid")))
        code = (
            "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler);"
            " runpy.run_module('inspector_app', run_name='__main__', alter_sys=True)"
        )
        options = ("--message", "go", "--engine", engine, "--python", pythons[engine], "--db", str(folder / "s.db"))
        command = [sys.executable, "-c", code, "run", str(folder), *options]
        running.append((subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE), folder / "pid", sent))
    for process, file, sent in running:
        while not (file.exists() and file.read_text()):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(sent)
    for process, file, sent in running:
        _, said = process.communicate(timeout=30)
        assert process.returncode == 128 + sent, said
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)
