"""google-adk's import path of `Context`."""

from runtime.contexts.context import Context

__all__ = ["Context"]
