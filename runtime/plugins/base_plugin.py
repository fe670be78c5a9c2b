"""The base class of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool


class BasePlugin:
    """Hooks around every step of every run of an app.

    A hook runs before the agent's own callbacks of that name. If it returns None, nothing changes. Any other value replaces what the
    hook is called for, such as the message or the tool's result, and neither later plugins nor the agent's own callbacks are called.

    Attributes:
        name: unique among an app's plugins.
        only_observes: the plugin changes nothing that its hooks are given. Requests are then not copied for it, which takes the longer the
            conversation is.
    """

    only_observes = False

    def __init__(self, name: str) -> None:
        self.name = name

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Called before the user's message is stored; returned content replaces it."""
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Called before the agent runs; returned content becomes the run's only answer."""
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Called before an event is committed and yielded; a returned event replaces it."""
        return None

    async def on_inner_event_callback(
        self, *, invocation_context: InvocationContext, event: Event, call_ids: tuple[str | None, ...]
    ) -> None:
        """Called after each event, partial ones included, of an agent that runs as a tool (`AgentTool`), which continues afterwards.

        Such events are not part of a stored session; only the tool's response is. The hook, which google-adk does not have, lets a
        debugger show and hold the inner run. It is called on the plugins of the outermost run, regardless of `include_plugins`.

        Args:
            invocation_context: the outermost run's context.
            event: the inner run's event, committed there.
            call_ids: the ids of the nested function calls, outermost first.
        """

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Called after the last event of a run."""

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Called before an agent runs; returned content becomes its answer, and the agent does not run."""
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Called after an agent ran; returned content becomes an additional answer."""
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Called before the model is called; may change the request. A returned response replaces the model's."""
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """Called after each response, complete or partial; a returned response replaces it."""
        return None

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Called when the model call raised; a returned response replaces the error."""
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """Called before a tool is called; may change the arguments. A returned dict replaces the tool's result."""
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Called after a tool returned; a returned dict replaces its result."""
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Called when a tool raised; a returned dict replaces the error.

        A call that is cancelled is reported too, with its `asyncio.CancelledError`: every plugin is called, and answers are ignored.
        """
        return None

    async def on_agent_error_callback(self, *, agent: BaseAgent, callback_context: CallbackContext, error: Exception) -> None:
        """Called when an agent raised, once for each agent that the error passes; the error is raised in any case."""

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Called when a run ends with an error, instead of `after_run_callback`; the error is raised in any case."""

    async def close(self) -> None:
        """Release the plugin's resources; called when its Runner closes."""
