"""An agent whose model follows the user's message, with tools of every kind. Its code is written for google-adk."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
import time
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext

from .scripted import ScriptedLlm


def weather(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Return the weather of a city."""
    print(f"looking up {city}")
    tool_context.state["city"] = city
    tool_context.state["temp:key"] = "not stored"
    return {"sky": f"blue over {city}"}


def note(path: str, text: str) -> dict[str, Any]:
    """Append a line to a file."""
    with open(path, "a") as file:
        file.write(text + "\n")
    return {"written": text}


def broken(number: int) -> dict[str, Any]:
    """Raise an exception."""
    raise ValueError(f"no {number} here")


async def slow(path: str) -> dict[str, Any]:
    """Wait for ever, and say when that ends."""
    note(path, "began")
    try:
        await asyncio.sleep(3600)
    finally:
        note(path, "cleaned up")
    return {}


def block(path: str) -> dict[str, Any]:
    """Block the thread for ever."""
    note(path, "began")
    time.sleep(3600)
    return {}


def wait_for(path: str) -> dict[str, Any]:
    """Block the thread until a file exists beside `path`."""
    note(path, "began")
    while not os.path.exists(path + ".go"):
        time.sleep(0.005)
    return {}


def block_in_c(path: str) -> dict[str, Any]:
    """Block the whole process, in C, with the interpreter's lock held."""
    note(path, "began")
    ctypes.PyDLL(None).sleep(3600)
    return {}


def crash() -> dict[str, Any]:
    """End the process by a segmentation fault."""
    print("about to crash", file=sys.stderr)
    ctypes.string_at(0)
    return {}


def flood(lines: int) -> dict[str, Any]:
    """Write many lines, and one long one."""
    text = "x" * 99 + "\n"
    for _ in range(lines // 1000):
        sys.stdout.write(text * 1000)
    print("y" * 100_000)
    return {"lines": lines}


def leave_processes(path: str) -> dict[str, Any]:
    """Start processes that outlive the call, one of them in a session of its own."""
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    started = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
    note(path, " ".join(str(one.pid) for one in started) + f" {os.getpid()}")
    return {"started": len(started)}


def order(item: str) -> dict[str, Any]:
    """Place an order that takes days."""
    return {"status": "pending", "item": item}


def delete(name: str) -> dict[str, Any]:
    """Delete something, after a confirmation."""
    return {"deleted": name}


helper = LlmAgent(name="helper", model=ScriptedLlm(), description="Helps.", tools=[weather])

root_agent = LlmAgent(
    name="steps",
    model=ScriptedLlm(),
    description="Follows a script.",
    tools=[
        weather,
        note,
        broken,
        slow,
        block,
        wait_for,
        block_in_c,
        crash,
        flood,
        leave_processes,
        LongRunningFunctionTool(func=order),
        FunctionTool(delete, require_confirmation=True),
        AgentTool(agent=helper),
    ],
)

app = App(name="steps_app", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
