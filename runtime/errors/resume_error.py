"""An invocation cannot be run or resumed as it was asked for."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class ResumeError(KnownError, ValueError):
    """The invocation cannot be resumed; the text says why (a `ValueError` too, as in google-adk)."""
