"""Errors for requests of something that does not exist."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class NotFoundError(KnownError):
    """Raised when the requested object does not exist."""


class InvocationNotFoundError(NotFoundError, ValueError):
    """Raised when the session has no such invocation, or it was rewound. Also a `ValueError`, as in google-adk."""


class SessionNotFoundError(NotFoundError, ValueError):
    """Raised when the session does not exist. Also a `ValueError`, as in google-adk."""
