"""A session service for a database of any layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime import sessions
from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import named_file
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.file_names import unusable_name

if TYPE_CHECKING:
    from runtime.sessions.base_session_service import BaseSessionService


def open_session_service(target: str) -> BaseSessionService:
    """Return the service that continues a database in its own layout.

    This call writes nothing. The first write to a database that another program created makes a backup beside it.

    Args:
        target: a file path, an SQLAlchemy URL, or `agentengine://` and an engine's name for sessions in Google Cloud. A missing or empty
            file becomes a new database in google-adk's v1 layout.

    Raises:
        NotASessionDatabaseError: the target is not a session database.
        StorageError: the database is read-only or cannot be read.
    """
    if target.startswith("agentengine://"):
        return sessions.VertexAiSessionService.of_uri(target.partition("?")[0])  # after it, how sessions are displayed
    file = named_file(target)
    if file is not None and (reason := unusable_name(file)):
        raise StorageError(f"{target} {reason}.")
    if file is None or not file.exists() or (file.is_file() and file.stat().st_size == 0):
        return sessions.DatabaseSessionService(target)
    with StoredDatabase.open(target) as stored:
        layout = stored.layout.format
    if layout.writer is None:
        raise StorageError(layout.refusal(target))
    # The package loads the services lazily: a window that only reads does not need SQLAlchemy.
    service: BaseSessionService = getattr(sessions, layout.writer)(target)
    return service


async def make_database(target: str) -> None:
    """Create an empty session database in google-adk's v1 layout.

    Args:
        target: a path where no file exists yet.

    Raises:
        StorageError: the file cannot be written.
    """
    service = sessions.DatabaseSessionService(target)
    async with service:
        await service.prepare()
