"""A plugin that writes each step of each run to a YAML file."""

from __future__ import annotations

import logging
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from google.genai import types
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from runtime.events.credentials import hide
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.tool_failures import ToolFailures, ToolResultClassifier
from runtime.sessions.state import State
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool

_log = logging.getLogger(__name__)

_NAMED = ("id", "author", "timestamp", "invocation_id")  # in the entry itself
_SETTINGS = ("temperature", "top_p", "top_k", "max_output_tokens", "response_mime_type")


class DebugLoggingPlugin(BasePlugin):
    """Appends a YAML document for each invocation to a file: requests, responses, calls, results, events, errors, and the final state.

    Secrets are replaced, as everywhere in the program, and `temp:` values left out; bytes are named by their number. The file still has
    whole conversations, so only its owner can read it. The steps of an agent that runs as a tool are entries of its caller's document.

    Args:
        name: unique among an app's plugins.
        output_path: the file.
        include_session_state: write the session's state at the end of each run.
        include_system_instruction: write the system instruction of each request, not only its length.
        tool_result_classifier: tells which results of tools are failures, written as `tool_error`.

    Raises:
        ValueError: the classifier cannot be called as a `ToolResultClassifier`.
    """

    def __init__(
        self,
        *,
        name: str = "debug_logging_plugin",
        output_path: str = "adk_debug.yaml",
        include_session_state: bool = True,
        include_system_instruction: bool = True,
        tool_result_classifier: ToolResultClassifier | None = None,
    ) -> None:
        super().__init__(name)
        self._failures = ToolFailures(tool_result_classifier)
        self._file = Path(output_path)
        self._with_state = include_session_state
        self._with_instruction = include_system_instruction
        self._runs: dict[str, list[dict[str, Any]]] = {}  # invocation id → entries

    def _note(self, invocation_id: str, kind: str, agent_name: str | None = None, **data: Any) -> None:
        entry = {"timestamp": _now(), "entry_type": kind, "invocation_id": invocation_id, "agent_name": agent_name, "data": _plain(data)}
        self._runs.setdefault(invocation_id, []).append(_without_none(entry))

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Record the message."""
        self._note(invocation_context.invocation_id, "user_message", content=user_message)
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Record the start of the run."""
        self._note(invocation_context.invocation_id, "invocation_start", invocation_context.agent.name, branch=invocation_context.branch)
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Record the event."""
        told = {name: value for name, value in event if name not in _NAMED}
        told["actions"] = {name: value for name, value in event.actions if value}
        told |= {"event_id": event.id, "is_final_response": event.is_final_response()}
        self._note(invocation_context.invocation_id, "event", event.author, **told)
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Write the run."""
        self._write(invocation_context)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Write the run with its error."""
        self._note(invocation_context.invocation_id, "run_error", **_told_error(error))
        self._write(invocation_context)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Record the agent's start."""
        self._note(callback_context.invocation_id, "agent_start", agent.name, branch=callback_context.branch)
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Record the agent's end."""
        self._note(callback_context.invocation_id, "agent_end", agent.name)
        return None

    async def on_agent_error_callback(self, *, agent: BaseAgent, callback_context: CallbackContext, error: Exception) -> None:
        """Record the agent's error."""
        self._note(callback_context.invocation_id, "agent_error", agent.name, **_told_error(error))

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Record the request."""
        instruction = llm_request.config.system_instruction
        config: dict[str, Any] = {name: getattr(llm_request.config, name) for name in _SETTINGS}
        if self._with_instruction or not isinstance(instruction, str):
            config["system_instruction"] = instruction
        else:
            config["system_instruction_length"] = len(instruction)
        self._note(
            callback_context.invocation_id,
            "llm_request",
            callback_context.agent_name,
            model=llm_request.model,
            content_count=len(llm_request.contents),
            contents=llm_request.contents,
            tools=list(llm_request.tools_dict) or None,
            config=config,
        )
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """Record the response."""
        told = llm_response.model_dump(mode="json", exclude_none=True, exclude={"content", "custom_metadata"})
        self._note(callback_context.invocation_id, "llm_response", callback_context.agent_name, content=llm_response.content, **told)
        return None

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Record the model's error."""
        self._note(callback_context.invocation_id, "llm_error", callback_context.agent_name, model=llm_request.model, **_told_error(error))
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """Record the call."""
        self._note_call("tool_call", tool, tool_context, args=tool_args)
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Record the result, or the error that it reports."""
        if self._failures.take_raised(tool_context):
            return None
        error = self._failures.error_in(tool, tool_args, tool_context, result)
        if error is None:
            self._note_call("tool_response", tool, tool_context, result=result)
        else:
            self._note_call("tool_error", tool, tool_context, args=tool_args, result=result, error_message=error)
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Record the tool's error."""
        self._failures.note_raised(tool_context)
        self._note_call("tool_error", tool, tool_context, args=tool_args, **_told_error(error))
        return None

    def _note_call(self, kind: str, tool: BaseTool, context: ToolContext, **data: Any) -> None:
        self._note(context.invocation_id, kind, context.agent_name, tool_name=tool.name, function_call_id=context.function_call_id, **data)

    def _write(self, ctx: InvocationContext) -> None:
        """Append the run to the file. A failure is logged and fails nothing."""
        if isinstance(ctx.shared.outer, tuple):  # of an agent that runs as a tool; tests of plugins pass mocks
            return
        session = ctx.session
        if self._with_state:
            self._note(ctx.invocation_id, "session_state_snapshot", state=session.state, event_count=len(session.events))
        self._note(ctx.invocation_id, "invocation_end")
        entries = self._runs.pop(ctx.invocation_id)
        names = {"invocation_id": ctx.invocation_id, "session_id": session.id, "app_name": session.app_name, "user_id": session.user_id}
        document = {**names, "start_time": entries[0]["timestamp"], "entries": entries}
        try:
            made = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(made, "a", encoding="utf-8") as file:
                file.write("---\n" + yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=120))
        except (OSError, yaml.YAMLError) as error:
            _log.warning("Invocation %s could not be written to %s: %s", ctx.invocation_id, self._file, error)


def _now() -> str:
    return datetime.now().astimezone().isoformat()


def _told_error(error: Exception) -> dict[str, Any]:
    return {"error_type": type(error).__name__, "error_message": text_of(error)}


def _plain(value: Any) -> Any:
    """Return data as JSON values without secrets."""
    return hide(_without_none(to_jsonable_python(_without_bytes(value), serialize_unknown=True)))


def _without_bytes(value: Any) -> Any:
    """Replace bytes, also in contents, and leave out `temp:` keys, whose values may be any objects."""
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    if isinstance(value, BaseModel):
        return {name: _without_bytes(item) for name, item in value if item is not None}
    if isinstance(value, dict):
        return {key: _without_bytes(item) for key, item in value.items() if not str(key).startswith(State.TEMP_PREFIX)}
    return [_without_bytes(item) for item in value] if isinstance(value, (list, tuple, set)) else value


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
