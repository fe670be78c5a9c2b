"""google-adk's import path of `ToolContext`."""

from runtime.contexts.context import ToolContext

__all__ = ["ToolContext"]
