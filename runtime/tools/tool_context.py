"""google-adk's import path of `ToolContext`."""

from runtime.agents.tool_context import ToolContext

__all__ = ["ToolContext"]
