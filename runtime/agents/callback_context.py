"""google-adk's import path of `CallbackContext` and `ServiceMissingError`."""

from runtime.contexts.context import CallbackContext, ServiceMissingError

__all__ = ["CallbackContext", "ServiceMissingError"]
