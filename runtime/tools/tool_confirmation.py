"""google-adk's import path of `ToolConfirmation`."""

from runtime.events.tool_confirmation import ToolConfirmation

__all__ = ["ToolConfirmation"]
