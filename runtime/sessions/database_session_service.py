"""google-adk's import path of `DatabaseSessionService`."""

from runtime.storage.writing.database_session_service import DatabaseSessionService

__all__ = ["DatabaseSessionService"]
