"""google-adk's import path of `InvocationContext`, `LlmCallsLimitExceededError` and `new_invocation_context_id`."""

from runtime.contexts.invocation_context import InvocationContext, LlmCallsLimitExceededError
from runtime.support.ids import new_invocation_id as new_invocation_context_id

__all__ = ["InvocationContext", "LlmCallsLimitExceededError", "new_invocation_context_id"]
