"""The tool that asks the user to choose one of several options."""

from __future__ import annotations

from runtime.contexts.context import ToolContext
from runtime.tools.long_running_tool import LongRunningFunctionTool


def get_user_choice(options: list[str], tool_context: ToolContext) -> str | None:
    """Lets the user choose one of several options.

    Args:
        options: what the user may choose from.
    """
    tool_context.actions.skip_summarization = True
    return None


get_user_choice_tool = LongRunningFunctionTool(get_user_choice)
