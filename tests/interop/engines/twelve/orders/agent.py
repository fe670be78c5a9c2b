"""A long-running tool in a resumable app."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.tools import LongRunningFunctionTool, ToolContext


def order(item: str, tool_context: ToolContext) -> dict:
    """Order something; it takes days."""
    tool_context.state["ordered"] = item
    return {"status": "pending", "item": item}


root_agent = LlmAgent(
    name="orders", model=told([("order", {"item": "tea"})], "It has arrived."), tools=[LongRunningFunctionTool(func=order)]
)

app = App(name="orders", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
