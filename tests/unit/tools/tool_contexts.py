"""Tool contexts on a session in memory."""

from __future__ import annotations

from runtime.agents.base_agent import BaseAgent
from runtime.agents.invocation_context import InvocationContext
from runtime.contexts.context import ToolContext
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.sessions import InMemorySessionService, Session


def tool_context(*, tool_confirmation: ToolConfirmation | None = None) -> ToolContext:
    """Return the context of the call `call-1` in a new session."""
    invocation = InvocationContext(
        invocation_id="i",
        agent=BaseAgent(name="agent"),
        session=Session(id="s", app_name="app", user_id="u"),
        session_service=InMemorySessionService(),
    )
    return ToolContext(invocation, function_call_id="call-1", tool_confirmation=tool_confirmation)
