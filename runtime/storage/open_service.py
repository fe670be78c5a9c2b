"""A session service for whatever database there is."""

from __future__ import annotations

from runtime import sessions
from runtime.errors.storage_error import StorageError
from runtime.sessions.base_session_service import BaseSessionService
from runtime.storage.connections.database_url import named_file
from runtime.storage.reading.reader import StoredDatabase


def open_session_service(target: str) -> BaseSessionService:
    """Return the service that continues a database in its own layout.

    Nothing is written yet. The first write into a database that is not ours makes a backup beside it.

    Args:
        target: a file path or an SQLAlchemy URL; a file that does not exist, or is empty, becomes a new database in google-adk's v1 layout.

    Raises:
        NotASessionDatabaseError: it is not a session database.
        StorageError: it can only be read, or not even that.
    """
    file = named_file(target)
    if file is None or not file.exists() or (file.is_file() and file.stat().st_size == 0):
        return sessions.DatabaseSessionService(target)
    with StoredDatabase.open(str(file)) as stored:
        layout = stored.layout.format
    if layout.writer is None:
        raise StorageError(
            f"{file} has the older layout with pickled actions, which is only read."
            " Convert it into a new file: agent-inspector convert OLD NEW."
        )
    # Named through the package, which loads them now: a window that only reads needs no SQLAlchemy.
    service: BaseSessionService = getattr(sessions, layout.writer)(target)
    return service


async def make_database(target: str) -> None:
    """Make a new session database without sessions, in google-adk's v1 layout.

    Args:
        target: a file path; nothing is there yet.

    Raises:
        StorageError: it cannot be written there.
    """
    service = sessions.DatabaseSessionService(target)
    async with service:
        await service.prepare()
