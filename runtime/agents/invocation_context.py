"""google-adk's import path of `InvocationContext` and `LlmCallsLimitExceededError`."""

from runtime.contexts.invocation_context import InvocationContext, LlmCallsLimitExceededError

__all__ = ["InvocationContext", "LlmCallsLimitExceededError"]
