"""Ending a synchronous run: by Ctrl+C, and at the program's exit."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from runtime.agents import InvocationContext
from runtime.agents.base_agent import BaseAgent
from runtime.events import Event
from tests.agent_specs import message
from tests.seeds.running import runner_for, said, scripted

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no way to send a signal to a thread here")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_busy_agent() -> None:
    ended: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one")
        try:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            await asyncio.wait_for(asyncio.Event().wait(), 20)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    before = set(threading.enumerate())
    texts = []
    with pytest.raises(KeyboardInterrupt):
        for event in runner_for(scripted(body)).run(user_id="u", session_id="s", new_message=message("go")):
            texts.append(event.content and event.content.parts and event.content.parts[0].text)
    assert texts == ["one"]
    assert ended == ["cancelled"]
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "Runner.run"]


LEFT_OPEN = """
from runtime.runners import InMemoryRunner
from runtime.agents import BaseAgent
from runtime.events import Event
from tests.agent_specs import message

class Agent(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author="agent")
        yield Event(author="agent")

runner = InMemoryRunner(agent=Agent(name="agent"))
runner.auto_create_session = True
events = runner.run(user_id="u", session_id="s", new_message=message("go"))
print(next(events).author)
"""


def test_a_program_exits_despite_an_unfinished_run() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "agent\n"
