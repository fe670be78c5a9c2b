"""A plugin that lets tools return parts, such as images, to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from google.genai import types

from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool

PARTS_RETURNED_BY_TOOLS_ID = "temp:PARTS_RETURNED_BY_TOOLS_ID"
# Not `temp:`: these parts are sent in later invocations too.
SESSION_PARTS_RETURNED_BY_TOOLS_ID = "multimodal_tool_results_plugin:PARTS_RETURNED_BY_TOOLS_ID"


class MultimodalToolResultsPlugin(BasePlugin):
    """Sends the parts that a tool returns to the model, after its function response. Other results are unchanged.

    Args:
        name: unique among an app's plugins.
        retention: `next_model_call` sends parts once; `session` sends those of the last turn that had any with every later request too,
            except bytes, which are not stored with the session.

    Raises:
        ValueError: `retention` is something else.
    """

    def __init__(
        self, name: str = "multimodal_tool_results_plugin", *, retention: Literal["next_model_call", "session"] = "next_model_call"
    ) -> None:
        super().__init__(name)
        if retention not in ("next_model_call", "session"):
            raise ValueError(f"retention must be 'next_model_call' or 'session', not {retention!r}.")
        self._stays = retention == "session"
        self._turns: dict[str, str] = {}  # session id → the invocation that kept parts last

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Keep the parts in a result for the next request."""
        parts = _parts_in(result)
        if not parts:
            return result  # as google-adk: no later plugin or callback sees the result
        state = tool_context.state
        state[PARTS_RETURNED_BY_TOOLS_ID] = [*state.get(PARTS_RETURNED_BY_TOOLS_ID, []), *parts]
        kept = [part.model_dump(mode="json", exclude_none=True) for part in parts if part.inline_data is None]
        if self._stays and kept:
            session, invocation = tool_context.session.id, tool_context.invocation_id
            earlier = state.get(SESSION_PARTS_RETURNED_BY_TOOLS_ID, []) if self._turns.get(session) == invocation else []
            self._turns[session] = invocation
            state[SESSION_PARTS_RETURNED_BY_TOOLS_ID] = [*earlier, *kept]
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Add the kept parts to the last content of a request."""
        state = callback_context.state
        new: list[types.Part] = state.get(PARTS_RETURNED_BY_TOOLS_ID) or []
        stored = state.get(SESSION_PARTS_RETURNED_BY_TOOLS_ID) or [] if self._stays else []
        earlier = [part for part in map(types.Part.model_validate, stored) if part not in new]
        if not llm_request.contents or not (new or earlier):
            return None
        last = llm_request.contents[-1]
        llm_request.contents[-1] = types.Content(role=last.role, parts=[*(last.parts or []), *earlier, *new])
        if new:
            state[PARTS_RETURNED_BY_TOOLS_ID] = []
        return None


def _parts_in(result: Any) -> list[types.Part]:
    if isinstance(result, types.Part):
        return [result]
    if isinstance(result, list) and result and all(isinstance(part, types.Part) for part in result):
        return result
    return []
