"""Tools that ask for a confirmation: always, and for what they are called with."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.tools import FunctionTool, ToolContext


def delete(name: str) -> dict:
    """Delete a file."""
    return {"deleted": name}


def spend(cents: int, tool_context: ToolContext) -> dict:
    """Spend money; much of it only after a confirmation."""
    if cents > 1000 and not tool_context.tool_confirmation:
        tool_context.request_confirmation(hint=f"{cents} cents?", payload={"limit": 0})
        return {"status": "waiting"}
    limit = tool_context.tool_confirmation.payload if tool_context.tool_confirmation else None
    return {"spent": cents, "limit": limit}


root_agent = LlmAgent(
    name="cleaner",
    model=told([("delete", {"name": "x"})], [("spend", {"cents": 10})], [("spend", {"cents": 2000})], "All is done."),
    tools=[FunctionTool(delete, require_confirmation=True), spend],
)

app = App(name="cleaner", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
