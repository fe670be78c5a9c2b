"""google-adk's import path of `ToolContext`."""

from runtime.contexts.tool_context import ToolContext

__all__ = ["ToolContext"]
