"""A thing that was asked for is not there."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class NotFoundError(KnownError):
    """What was asked for does not exist."""


class InvocationNotFoundError(NotFoundError, ValueError):
    """The session has no such invocation, or it was taken back (a `ValueError` too, as in google-adk)."""


class SessionNotFoundError(NotFoundError, ValueError):
    """The session does not exist (a `ValueError` too, as in google-adk)."""
