"""Stopping runs and closing the window at random moments leaves no task, runs every `finally` block, and exits with status 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT
from tests.gui.window.window_processes import complaints
from tests.sweep import count

DRIVER = Path(__file__).with_name("stops_at_random.py")
STOPS = 19  # per process; closing the window ends one more run

RESTLESS = '''
import asyncio, threading, time
from typing import ClassVar
from google.genai import types
from runtime.agents import BaseAgent, LlmAgent, ParallelAgent, SequentialAgent
from runtime.events import Event
from runtime.models import LlmResponse
from runtime.models.base_llm import BaseLlm
from runtime.tools import AgentTool

JOURNAL = []


class Talking(BaseAgent):
    """Yields events endlessly; writes its name to the journal when it starts and when it ends."""

    async def _run_async_impl(self, ctx):
        JOURNAL.append(self.name)
        try:
            for number in range(10_000):
                yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text=f"{number}")]))
                await asyncio.sleep(0.004)
        finally:
            JOURNAL.append(self.name)


class Calling(BaseLlm):
    tool: str

    async def generate_content_async(self, llm_request, stream=False):
        for piece in ("one ", "two "):
            if stream:
                yield LlmResponse(partial=True, content=types.Content(role="model", parts=[types.Part(text=piece)]))
                await asyncio.sleep(0.002)
        call = types.FunctionCall(name=self.tool, args={"request": "x"} if self.tool == "helper" else {})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def block() -> dict:
    """Block a thread for longer than the test waits."""
    time.sleep(60)
    return {}


async def wait() -> dict:
    """Wait for longer than the test does."""
    JOURNAL.append("wait")
    try:
        await asyncio.sleep(60)
        return {}
    finally:
        JOURNAL.append("wait")


def caller(name, tool):
    called = tool.name if isinstance(tool, AgentTool) else tool.__name__
    return LlmAgent(name=name, model=Calling(model="calling", tool=called), tools=[tool])


KINDS = {
    "slow": Talking(name="slow"),
    "tool": caller("tool", block),
    "fan": ParallelAgent(name="fan", sub_agents=[Talking(name="left"), Talking(name="right"), caller("waiting", wait)]),
    "inner": caller("inner", AgentTool(Talking(name="helper"))),
    "mixed": ParallelAgent(name="mixed", sub_agents=[caller("blocked", block), Talking(name="beside")]),
}


class Restless(BaseAgent):
    journal: ClassVar[list] = JOURNAL

    async def _run_async_impl(self, ctx):
        kind = ctx.user_content.parts[0].text
        async for event in KINDS[kind].run_async(ctx):
            yield event


root_agent = Restless(name="restless", sub_agents=list(KINDS.values()))
'''


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(count(1, 50)))
def test_stopping_at_random_moments_leaves_no_task(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "restless"
    folder.mkdir()
    (folder / "agent.py").write_text(RESTLESS)
    env = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
    }
    command = [sys.executable, "-X", "dev", "-W", "error", str(DRIVER), str(folder), str(seed), str(STOPS)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    # On a busy machine, asyncio's debug mode logs steps that "took 0.2 seconds".
    assert [line for line in complaints(done.stderr) if " took " not in line] == []
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["left"] == []
