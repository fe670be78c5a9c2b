"""The tool that ends a LoopAgent."""

from __future__ import annotations

from runtime.contexts.context import ToolContext


def exit_loop(tool_context: ToolContext) -> None:
    """End the loop. Call this only when you are told to."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
