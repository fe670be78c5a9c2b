"""The confirmation of a tool call by the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


def ask_for_confirmation(name: str, tool_context: ToolContext) -> str | None:
    """Return why a call that needs confirmation must not run, after requesting it if necessary; None if the user approved it."""
    if tool_context.tool_confirmation is None:
        tool_context.request_confirmation(
            hint=f"Please approve or reject the tool call {name}() by responding with a FunctionResponse with an expected"
            " ToolConfirmation payload."
        )
        tool_context.actions.skip_summarization = True
        return "This tool call requires confirmation, please approve or reject."
    return None if tool_context.tool_confirmation.confirmed else "This tool call is rejected."
