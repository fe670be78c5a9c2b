"""Storing of imported sessions in a database."""

from __future__ import annotations

from collections.abc import Callable, Collection

from inspector_app.exchange.imported_sessions import Imported
from inspector_app.presentation.values import counted
from runtime.errors import AlreadyExistsError, StorageError
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session_key import SessionKey


def check_new(imported: Imported, existing: Collection[SessionKey], name: str) -> None:
    """Refuse an import if the database has one of the sessions.

    Args:
        imported: what is to be stored.
        existing: the database's sessions.
        name: the database, for the message.

    Raises:
        AlreadyExistsError: the database has one.
    """
    for key in imported.sessions:
        if key in existing:
            owner = f"{key.app_name!r}, user {key.user_id!r}"
            raise AlreadyExistsError(f"{name} already has the session {key.session_id!r} of {owner}. Nothing was imported.")


async def store(service: BaseSessionService, imported: Imported, progress: Callable[[int], None] | None = None) -> None:
    """Store sessions, each in a transaction of its own.

    Args:
        service: the database's service.
        imported: the sessions.
        progress: receives the number of stored sessions after each.

    Raises:
        StorageError: one could not be stored; the message says how many were stored before.
    """
    for stored, (key, copy) in enumerate(imported.sessions.items()):
        try:
            await service.store_copy(key, copy)
            for name, end in imported.ends.get(key, {}).items():
                await service.record_end(key, name, end)
        except StorageError as error:
            if stored == 0:
                raise
            sessions = counted(stored, "session")
            raise StorageError(f"{error} {sessions} of {len(imported.sessions):,} had been imported before.") from error
        if progress is not None:
            progress(stored + 1)
