"""google-adk's import path of `ReadonlyContext`."""

from runtime.contexts.readonly_context import ReadonlyContext

__all__ = ["ReadonlyContext"]
