"""The error of a tool's service, which the model can react to."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class ToolError(KnownError):
    """A tool's service failed. Unless an error callback answers instead, the model receives the message as the call's result."""
