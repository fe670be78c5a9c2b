"""google-adk's import path of `CallbackContext` and `ServiceMissingError`; agents of version 1 take `ReadonlyContext` from it too."""

from runtime.contexts.context import CallbackContext, ServiceMissingError
from runtime.contexts.readonly_context import ReadonlyContext

__all__ = ["CallbackContext", "ReadonlyContext", "ServiceMissingError"]
