"""What callbacks, tools and instructions need from plugins."""

from __future__ import annotations


class CallFailure(Exception):  # it carries an error, and is none itself
    """Raised by a plugin's `before_tool_callback` to let the call fail as if the tool had raised.

    Attributes:
        error: what the agent sees.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class NoResult(Exception):  # no error either
    """Raised by a plugin's `before_tool_callback` to say that the call returns nothing, as a long-running tool may."""
