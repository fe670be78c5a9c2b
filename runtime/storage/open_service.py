"""A session service for a database of any layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime import sessions
from runtime.errors.storage_error import EmptyDatabaseError, StorageError
from runtime.storage.connections.database_url import named_file
from runtime.storage.layouts.json_formats import SQLITE, V1
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.file_names import unusable_name

if TYPE_CHECKING:
    from runtime.sessions.base_session_service import BaseSessionService


def open_session_service(target: str) -> BaseSessionService:
    """Return the service that continues a database in its own layout.

    This call writes nothing. The first write to a database that another program created makes a backup beside it.

    Args:
        target: a file path, an SQLAlchemy URL, or `agentengine://` and an engine's name for sessions in Google Cloud. A missing file, or
            one without sessions that has not all its tables, becomes a new database, in google-adk's v1 layout if it has no table yet.

    Raises:
        NotASessionDatabaseError: the target is not a session database.
        StorageError: the database is read-only or cannot be read.
    """
    if target.startswith("agentengine://"):
        return sessions.VertexAiSessionService.of_uri(target.partition("?")[0])  # after it, how sessions are displayed
    file = named_file(target)
    if file is not None and (reason := unusable_name(file)):
        raise StorageError(f"{target} {reason}.")
    if file is None or not file.exists():
        return sessions.DatabaseSessionService(target)
    try:
        with StoredDatabase.open(target) as stored:
            layout = stored.layout.format
    except EmptyDatabaseError as empty:
        layout = SQLITE if empty.layout == "sqlite" else V1
    if layout.writer is None:
        raise StorageError(layout.refusal(target))
    # The package loads the services lazily: a window that only reads does not need SQLAlchemy.
    service: BaseSessionService = getattr(sessions, layout.writer)(target)
    return service


async def make_database(target: str) -> None:
    """Create a session database without sessions, or the tables that one lacks.

    Args:
        target: a path where no file exists yet, or one for which `StoredDatabase.open` raises an EmptyDatabaseError.

    Raises:
        StorageError: the file cannot be written.
    """
    service = open_session_service(target)
    assert isinstance(service, (sessions.DatabaseSessionService, sessions.SqliteSessionService))
    async with service:
        await service.prepare()
