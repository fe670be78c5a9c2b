"""Sessions, their state, and session services.

Each is imported on first use, so that runs in memory do not load SQLAlchemy, and readers of databases do not load google-genai's types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
    from runtime.sessions.in_memory_session_service import InMemorySessionService
    from runtime.sessions.note import Note
    from runtime.sessions.session import Session
    from runtime.sessions.session_key import SessionKey
    from runtime.sessions.state import State
    from runtime.sessions.vertex_ai_session_service import VertexAiSessionService
    from runtime.storage.writing.copy_database import add_our_tables, record_creation
    from runtime.storage.writing.copy_database import copy_database as copy_of_database
    from runtime.storage.writing.database_session_service import DatabaseSessionService
    from runtime.storage.writing.sqlite_session_service import SqliteSessionService

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.sessions.base_session_service": "BaseSessionService GetSessionConfig ListSessionsResponse",
        "runtime.sessions.in_memory_session_service": "InMemorySessionService",
        "runtime.sessions.note": "Note",
        "runtime.sessions.session": "Session",
        "runtime.sessions.session_key": "SessionKey",
        "runtime.sessions.state": "State",
        "runtime.sessions.vertex_ai_session_service": "VertexAiSessionService",
        "runtime.storage.writing.copy_database": "add_our_tables copy_of_database=copy_database record_creation",
        "runtime.storage.writing.database_session_service": "DatabaseSessionService",
        "runtime.storage.writing.sqlite_session_service": "SqliteSessionService",
    },
)
