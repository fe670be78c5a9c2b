"""The hooks a plugin may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.callback_context import CallbackContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.contexts.tool_context import ToolContext
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool


class BasePlugin:
    """Hooks around every step of every run of an app.

    A hook runs before the agent's own callbacks of that name. Returning None leaves things as they are; returning a value replaces what
    the hook stands for, and neither later plugins nor the agent's own callbacks of that name are asked.

    Attributes:
        name: unique among an app's plugins.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Before the user's message is stored; a returned content replaces it."""
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Before the agent runs; a returned content is the run's only answer."""
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Before an event is committed and yielded; a returned event replaces it."""
        return None

    async def on_inner_event_callback(
        self, *, invocation_context: InvocationContext, event: Event, call_ids: tuple[str | None, ...]
    ) -> None:
        """After each event, partial ones too, of an agent that runs as a tool (`AgentTool`); it goes on when this returns.

        Such events are part of no stored session: only the tool's response is. google-adk has no such hook; it is how a debugger sees, and
        may hold, what happens inside a call. It is called on the plugins of the outermost run, whatever `include_plugins` says.

        Args:
            invocation_context: of the outermost run.
            event: of the inner run, committed there.
            call_ids: the function calls that lead to it, the outermost first.
        """

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """After the last event of a run."""

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Before an agent runs; a returned content is its answer, and it does not run."""
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """After an agent ran; a returned content is one more answer of it."""
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Before the model is called; may change the request; a returned response stands in for the model's."""
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """After each response, or piece of one; a returned response replaces it."""
        return None

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """When the model call raised; a returned response stands in for the model's."""
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """Before a tool is called; may change the arguments; a returned dict stands in for its result."""
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """After a tool returned; a returned dict replaces its result."""
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """When a tool raised; a returned dict stands in for its result."""
        return None

    async def close(self) -> None:
        """Let go of what the plugin holds; the Runner that owns it is closing."""
