"""A plugin that lets a model try again after a failed answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from google.genai import types

from runtime.models.llm_response import LlmResponse
from runtime.plugins.base_plugin import BasePlugin
from runtime.plugins.reflect_retry_tool_plugin import GLOBAL_SCOPE_KEY, REFLECT_AND_RETRY_RESPONSE_TYPE, TrackingScope
from runtime.tools.function_tool import FunctionTool
from runtime.utils.content_utils import SKIP_THOUGHT_SIGNATURE_VALIDATOR

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.models.llm_request import LlmRequest

RESERVED_TOOL_CALL_ERROR_TYPE = "RESERVED_TOOL_CALL"


class ReflectAndRetryModelPlugin(BasePlugin):
    """Answers a failed response of a model with advice, as the result of a call that the model did not make, so that it is called again.

    Args:
        name: unique among an app's plugins.
        max_retries: number of retries after consecutive failures of a model; 0 allows none.
        throw_exception_if_retry_exceeded: fail the run when the retries are used up; otherwise the failed response is the answer.
        tracking_scope: count failures per invocation or globally.
        on_model_errors: the reasons for an end that count as failures; None means a malformed function call.

    Raises:
        ValueError: `max_retries` is below 0, or something in `on_model_errors` is no `types.FinishReason`.
    """

    def __init__(
        self,
        name: str = "reflect_retry_model_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
        tracking_scope: TrackingScope = TrackingScope.INVOCATION,
        on_model_errors: list[types.FinishReason] | None = None,
    ) -> None:
        super().__init__(name)
        if max_retries < 0:
            raise ValueError("max_retries must be 0 or more.")
        reasons = [types.FinishReason.MALFORMED_FUNCTION_CALL] if on_model_errors is None else on_model_errors
        for reason in reasons:
            if not isinstance(reason, types.FinishReason):
                raise ValueError(f"on_model_errors must hold FinishReasons; {reason!r} is none.")
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded
        self.scope = tracking_scope
        self.on_model_errors = reasons
        self._failures: Counter[tuple[str, str]] = Counter()

    def adk_handle_model_error(
        self, *, response_type: str, error_type: str | None, error_details: str | None, finish_reason: str | None, retry_count: int
    ) -> dict[str, str]:
        """Explain a failed answer. Only the plugin calls this; do not call it."""
        advice = (
            f"Your last answer failed, and nothing of it was used. This is retry {retry_count} of {self.max_retries}. Find out from the"
            " error what was wrong with the answer or its arguments, and do not give the same one again. Make a new plan: a corrected"
            " call, or another way."
        )
        return {"reflection_guidance": advice}

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Make the tool callable that gives the advice; it is not declared to the model."""
        llm_request.tools_dict[_TOOL] = FunctionTool(self.adk_handle_model_error)
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """Replace a failed response, or one that calls the plugin's own tool; reset the count after a good one."""
        if any(call.name == _TOOL for call in llm_response.get_function_calls()):
            said = f"The model called {_TOOL}, which only the framework may call."
            retry = self._retry(callback_context, RESERVED_TOOL_CALL_ERROR_TYPE, said, types.FinishReason.OTHER)
            return retry or LlmResponse(error_code=RESERVED_TOOL_CALL_ERROR_TYPE, error_message=f"{said} The retries are used up.")
        if llm_response.error_code and llm_response.finish_reason in self.on_model_errors:
            error_code, message = llm_response.error_code, llm_response.error_message
            return self._retry(callback_context, error_code, message, llm_response.finish_reason)
        if not llm_response.partial:
            self._failures.pop(self._key(callback_context), None)
        return None

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Remove the counts of a finished invocation."""
        for key in [key for key in self._failures if key[0] == invocation_context.invocation_id]:
            del self._failures[key]

    def _key(self, context: CallbackContext) -> tuple[str, str]:
        model: str = context._invocation_context.agent.canonical_model.model
        return (GLOBAL_SCOPE_KEY if self.scope is TrackingScope.GLOBAL else context.invocation_id, model)

    def _retry(
        self, context: CallbackContext, error_type: str, error_details: str | None, finish_reason: types.FinishReason | None
    ) -> LlmResponse | None:
        """Return the call that leads to another request; None if there have been too many."""
        key = self._key(context)
        self._failures[key] += 1
        if self._failures[key] > self.max_retries:
            if self.throw_exception_if_retry_exceeded:
                raise RuntimeError(
                    f"{key[1]} failed {self._failures[key]} times in a row, and the retry limit ({self.max_retries}) has been exceeded: "
                    f"{error_type}{f': {error_details}' if error_details else ''}"
                )
            return None
        arguments = {
            "response_type": REFLECT_AND_RETRY_RESPONSE_TYPE,
            "error_type": error_type,
            "error_details": error_details,
            "finish_reason": finish_reason.value if finish_reason else None,
            "retry_count": self._failures[key],
        }
        call = types.FunctionCall(id=f"{_TOOL}_{uuid4()}", name=_TOOL, args=arguments)
        part = types.Part(function_call=call, thought_signature=SKIP_THOUGHT_SIGNATURE_VALIDATOR)
        return LlmResponse(content=types.Content(role="model", parts=[part]))


_TOOL = ReflectAndRetryModelPlugin.adk_handle_model_error.__name__
