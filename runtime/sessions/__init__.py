"""Sessions, their state, and session services.

The database services are imported on first use, so that runs in memory do not load SQLAlchemy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import State
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.storage.writing.copy_database import copy_database as copy_of_database
    from runtime.storage.writing.database_session_service import DatabaseSessionService
    from runtime.storage.writing.sqlite_session_service import SqliteSessionService

__all__ = [
    "BaseSessionService",
    "DatabaseSessionService",
    "GetSessionConfig",
    "InMemorySessionService",
    "ListSessionsResponse",
    "Session",
    "SessionKey",
    "SqliteSessionService",
    "State",
    "copy_of_database",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "copy_of_database": "runtime.storage.writing.copy_database:copy_database",
        "DatabaseSessionService": "runtime.storage.writing.database_session_service",
        "SqliteSessionService": "runtime.storage.writing.sqlite_session_service",
    },
)
