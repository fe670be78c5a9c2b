"""A thing that was asked for is not there."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class NotFoundError(KnownError):
    """What was asked for does not exist."""


class SessionNotFoundError(NotFoundError, ValueError):
    """The session does not exist (a `ValueError` too, as in google-adk)."""
