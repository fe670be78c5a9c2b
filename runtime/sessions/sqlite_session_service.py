"""google-adk's import path of `SqliteSessionService`."""

from runtime.storage.writing.sqlite_session_service import SqliteSessionService

__all__ = ["SqliteSessionService"]
