"""Calls of one turn of which one fails."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.plugins import BasePlugin
from google.adk.tools import ToolContext

from tests.interop.beside.common import print_result, run, scripted

told: list[list[str]] = []


class Notes(BasePlugin):
    """Notes the errors of tools, and answers cancellations, which changes nothing."""

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: ToolContext, error: Any) -> dict[str, Any] | None:
        told.append(["plugin", tool.name, type(error).__name__])
        return {"answer": "ignored"} if isinstance(error, asyncio.CancelledError) else None


def note(tool: Any, args: Any, tool_context: ToolContext, error: Any) -> None:
    told.append(["agent", tool.name, type(error).__name__])


async def patient() -> None:
    """Wait for a cancellation."""
    await asyncio.Event().wait()


async def stubborn() -> str:
    """Return when it is cancelled."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return "late"


async def fails() -> None:
    """Fail after the others."""
    for _ in range(100):
        await asyncio.sleep(0)
    raise ValueError("broken")


async def quick(tool_context: ToolContext) -> str:
    """Return at once."""
    tool_context.state["quick"] = 1
    return "quick"


async def escalates(tool_context: ToolContext) -> str:
    """End the enclosing loop."""
    tool_context.state["escalated"] = 1
    tool_context.actions.escalate = True
    return "escalated"


async def skips(tool_context: ToolContext) -> str:
    """Skip the summary."""
    tool_context.actions.skip_summarization = True
    return "skipped"


async def main() -> list[Any]:
    """Return what becomes of several turns."""
    found = []
    turns = (["quick", "patient", "fails", "escalates", "skips"], ["stubborn", "fails"], ["patient", "fails"], ["escalates", "fails"])
    for names in turns:
        told.clear()
        tools = [patient, stubborn, fails, quick, escalates, skips]
        model = scripted([(name, {}) for name in names])
        agent = LlmAgent(name="agent", model=model, tools=tools, on_tool_error_callback=note)
        found.append({**await run(agent, plugins=[Notes(name="notes")]), "told": sorted(told)})
    return found


if __name__ == "__main__":
    print_result(main)
