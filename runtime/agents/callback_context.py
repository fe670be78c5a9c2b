"""google-adk's import path of `CallbackContext` and `ServiceMissingError`."""

from runtime.contexts.callback_context import CallbackContext, ServiceMissingError

__all__ = ["CallbackContext", "ServiceMissingError"]
