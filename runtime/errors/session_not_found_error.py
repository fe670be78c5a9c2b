"""google-adk's import path of `SessionNotFoundError`."""

from runtime.errors.not_found_error import SessionNotFoundError

__all__ = ["SessionNotFoundError"]
