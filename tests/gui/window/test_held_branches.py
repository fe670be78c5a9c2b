"""Parallel branches, a blocking tool and a blocked event loop under the debugger."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver

FAN = """
from google.genai import types
from runtime.agents import LlmAgent, ParallelAgent
from runtime.apps import App, ResumabilityConfig
from runtime.models.llm_response import LlmResponse
from runtime.models.base_llm import BaseLlm


class Echo(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="hello")]))


def branch(name):
    return LlmAgent(name=name, model=Echo(model="echo"), instruction="Say hello.")


root_agent = ParallelAgent(name="fan", sub_agents=[branch("left"), branch("right")])
app = App(name="fan", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
"""

BLOCKING = '''
import threading
from google.genai import types
from runtime.agents import LlmAgent
from runtime.apps import App
from runtime.models.llm_response import LlmResponse
from runtime.models.base_llm import BaseLlm

STARTED, LET_GO = threading.Event(), threading.Event()


class Caller(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        call = types.FunctionCall(name="block", args={})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def block() -> dict:
    """Wait until the test releases it."""
    STARTED.set()
    LET_GO.wait(30)
    return {"done": True}


root_agent = LlmAgent(name="blocker", model=Caller(model="caller"), tools=[block])
app = App(name="blocking", root_agent=root_agent)
'''


def test_the_held_branch_and_the_running_branches_are_shown(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    fan = agent("fan", FAN)
    driver.breakpoints.add('author == "left"', "before model")
    held = fan.window.parts.held
    told: list[str] = []
    fan.run.beside_changed.connect(lambda: told.append(held.beside + fan.window.run_bar.explained))
    driver.composer.send("hello")
    driver.run_until_held()
    assert held.text.startswith("Held before the model call of left")
    qtbot.waitUntil(lambda: any(event.author == "right" for event in driver.stream.events()), timeout=10_000)
    assert any(text.count("fan.left is held · running: right (fan.right)") == 2 for text in told), told
    assert fan.run.phase == "paused", "the other branch continued"
    with qtbot.waitSignal(fan.run.run_ended, timeout=10_000) as ended:
        fan.window.commands.run.trigger()
    assert ended.args[0].error is None
    assert {"left", "right"} <= {event.author for event in driver.stream.events()}


def test_stopping_a_blocking_tool_logs_that_it_cannot_be_stopped(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    blocking = agent("blocking", BLOCKING)
    assert blocking.agents.loaded is not None
    tool = blocking.agents.loaded.app.root_agent.tools[0]  # type: ignore[attr-defined]
    started: threading.Event = tool.__globals__["STARTED"]
    driver.composer.send("block")
    qtbot.waitUntil(started.is_set, timeout=10_000)
    try:
        with qtbot.waitSignal(blocking.run.run_ended, timeout=10_000) as ended:
            blocking.window.commands.stop.trigger()
    finally:
        tool.__globals__["LET_GO"].set()
    assert ended.args[0].stopped and ended.args[0].error is None
    assert "cancelled" in driver.stream.results("block")[0]["error"]
    assert "block had not returned" in driver.log_text() and "cannot be stopped" in driver.log_text()
    assert "The error callbacks of a stopped call of block are not called" in driver.log_text()


@pytest.mark.rule("R3")
def test_the_run_after_a_blocked_one_loads_the_agent_again(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    blocking = agent("blocking", BLOCKING)
    first = blocking.agents.loaded
    assert first is not None
    names: dict[str, threading.Event] = first.app.root_agent.tools[0].__globals__  # type: ignore[attr-defined]
    driver.composer.send("block")
    qtbot.waitUntil(names["STARTED"].is_set, timeout=10_000)
    try:
        with qtbot.waitSignal(blocking.run.run_ended, timeout=10_000):
            blocking.window.commands.stop.trigger()
        driver.run_until_idle()
        driver.composer.send("again")
        qtbot.waitUntil(lambda: blocking.agents.loaded is not first, timeout=10_000)
        again = blocking.agents.loaded
        assert again is not None and not names["LET_GO"].is_set()
        new_names: dict[str, threading.Event] = again.app.root_agent.tools[0].__globals__  # type: ignore[attr-defined]
        qtbot.waitUntil(new_names["STARTED"].is_set, timeout=10_000)
        new_names["LET_GO"].set()
        assert "blocking was loaded again and runs on a new thread" in driver.log_text()
        with qtbot.waitSignal(blocking.run.run_ended, timeout=10_000):
            blocking.window.commands.stop.trigger()
        driver.run_until_idle()
        assert not again.is_blocked
    finally:
        names["LET_GO"].set()


BUSY = BLOCKING.replace("def block() -> dict:", "async def block() -> dict:").replace("LET_GO.wait(30)", "LET_GO.wait(0.6)")


def test_code_that_blocks_the_event_loop_is_named_in_the_log(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    busy = agent("busy", BUSY.replace('name="blocking"', 'name="busy"'))
    driver.breakpoints.add('response == "block"')
    driver.composer.send("block")
    driver.run_until_held()
    qtbot.waitUntil(lambda: "The window did not answer for" in driver.log_text(), timeout=10_000)
    told = [line for line in driver.log_text().splitlines() if "block (agent.py, line " in line]
    assert len(told) == 1 and "watchdog" not in driver.log_text(), "reported once, without internals"
    watchdog = busy.run._watchdog
    assert watchdog is not None and watchdog._timer is None, "an idle window is not woken"
    driver.breakpoints.add('call == "block"')
    busy.window.commands.run.trigger()
    assert watchdog._timer is not None, "it is watched again"
    driver.run_until_held()
    with qtbot.waitSignal(busy.run.run_ended, timeout=10_000):
        busy.window.commands.stop.trigger()
