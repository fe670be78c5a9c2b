"""An agent that runs another one as a tool, whose state changes become its own."""

from __future__ import annotations

from fake_llm import told
from google.adk.agents import LlmAgent
from google.adk.tools import AgentTool, ToolContext


def measure(what: str, tool_context: ToolContext) -> dict:
    """Measure something."""
    tool_context.state["measured"] = what
    return {"metres": 3}


worker = LlmAgent(name="worker", model=told([("measure", {"what": "wall"})], "Three metres."), description="Measures.", tools=[measure])

root_agent = LlmAgent(
    name="boss",
    model=told([("worker", {"request": "Measure the wall."})], "It is three metres long."),
    tools=[AgentTool(agent=worker)],
)
