"""A plugin that prints each step of a run, for trying things out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.events.transcript import transcript, write_lines
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.tool_failures import ToolFailures, ToolResultClassifier
from runtime.support.texts import error_text, text_of

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool


class LoggingPlugin(BasePlugin):
    """Prints a line for each step of a run to the standard output; changes nothing.

    Args:
        name: the prefix of each line.
        tool_result_classifier: tells which results of tools are failures.

    Raises:
        ValueError: the classifier cannot be called as a `ToolResultClassifier`.
    """

    def __init__(self, name: str = "logging_plugin", *, tool_result_classifier: ToolResultClassifier | None = None) -> None:
        super().__init__(name)
        self._failures = ToolFailures(tool_result_classifier)

    def _say(self, *lines: str) -> None:
        write_lines(f"[{self.name}] {line}" for line in lines)

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Print the message."""
        texts = [part.text for part in user_message.parts or [] if part.text]
        session = invocation_context.session
        self._say(f"message to app {session.app_name}, user {session.user_id}, session {session.id}: {' '.join(texts)}")
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Print the invocation's id."""
        self._say(f"run {invocation_context.invocation_id} begins")
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Print the event's content and the keys it sets."""
        changes = f", sets {', '.join(sorted(event.actions.state_delta))}" if event.actions.state_delta else ""
        self._say(f"event {event.id} by {event.author}{changes}", *transcript(event, verbose=True))
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Print the end of the run."""
        self._say(f"run {invocation_context.invocation_id} ends")

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Print the agent's name."""
        self._say(f"agent {agent.name} begins")
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Print the agent's name."""
        self._say(f"agent {agent.name} ends")
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Print a summary of the request."""
        tools = f", tools {', '.join(llm_request.tools_dict)}" if llm_request.tools_dict else ""
        self._say(f"agent {callback_context.agent_name} asks {llm_request.model} with {len(llm_request.contents)} contents{tools}")
        return None

    async def on_agent_error_callback(self, *, agent: BaseAgent, callback_context: CallbackContext, error: Exception) -> None:
        """Print the error."""
        self._say(f"agent {agent.name} failed: {error_text(error)}")

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Print the error."""
        self._say(f"run {invocation_context.invocation_id} failed: {error_text(error)}")

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Print the error."""
        self._say(f"{llm_request.model} failed: {error_text(error)}")
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """Print the call."""
        self._say(f"tool {tool.name} is called ({tool_context.function_call_id}) with {text_of(tool_args)}")
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Print the result, or the error that it reports."""
        if self._failures.take_raised(tool_context):
            return None
        error = self._failures.error_in(tool, tool_args, tool_context, result)
        returned = f"returned {text_of(result)}"
        self._say(f"tool {tool.name} {returned}" if error is None else f"tool {tool.name} failed: {text_of(error)} (it {returned})")
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Print the error."""
        self._failures.note_raised(tool_context)
        self._say(f"tool {tool.name} failed: {error_text(error)}")
        return None
