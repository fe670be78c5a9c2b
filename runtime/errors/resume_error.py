"""The error for an invocation that cannot be run or resumed as requested."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class ResumeError(KnownError, ValueError):
    """Raised when an invocation cannot be resumed; the message says why. Also a `ValueError`, as in google-adk."""
