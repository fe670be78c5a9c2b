"""The sessions that are deleted with the window, and their way into databases of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inspector_app.documents.session_address import MEMORY
from inspector_app.documents.sources import Source
from inspector_app.exchange.imported_sessions import Imported
from inspector_app.exchange.storing import store
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime import sessions
from runtime.errors.storage_error import StorageError
from runtime.events.credentials import without_credentials
from runtime.forks.fork import session_copy
from runtime.storage.open_service import open_session_service
from runtime.support.worker_threads import run_in_thread


class UnsavedSessions:
    """This window's own sessions, which have no database.

    Args:
        databases: where they are.
        catalog: lists them.
    """

    def __init__(self, databases: OpenDatabases, catalog: SessionCatalog) -> None:
        self._databases = databases
        self._catalog = catalog

    def count(self) -> int:
        """Return how many sessions with events would be deleted."""
        return sum(summary.event_count != 0 for source in self._sources() for summary in self._catalog.sessions(source.target))

    async def save(self, file: Path) -> list[Path]:
        """Store the sessions and their notes in a new database; google-adk's in its own layout, so that it can continue them.

        Args:
            file: of the database.

        Returns:
            The written files: a second one, if an agent of another engine has had sessions too.

        Raises:
            StorageError: a file exists, or cannot be written.
        """
        files = [file, file.with_name(f"{file.stem}-2{file.suffix}")]
        places = list(zip(self._sources(), files, strict=False))
        for _, place in places:
            if await run_in_thread(place.exists):
                raise StorageError(f"{place} already exists. Name a file that does not exist.")
        for source, place in places:
            await (_save_memory if source.target == MEMORY else _save_file)(source, place)
        return [place for _, place in places]

    def _sources(self) -> list[Source]:
        return [source for source in self._databases.sources if source.is_unsaved and self._catalog.sessions(source.target)]


async def _save_memory(source: Source, file: Path) -> None:
    keys = [summary.key for summary in await source.sessions()]
    lineages = await source.lineages()
    copies = {}
    for key in keys:
        copy = session_copy(await source.history(key), await source.created(key), lineages.get(key))
        copies[key] = replace(copy, events=[without_credentials(event) for event in copy.events], notes=await source.notes(key))
    async with await run_in_thread(open_session_service, str(file)) as service:
        await store(service, Imported(copies, {key: await source.ends(key) for key in keys}))


async def _save_file(source: Source, file: Path) -> None:
    await run_in_thread(sessions.copy_of_database, source.target, file)
    if source.unsaved_notes:
        async with await run_in_thread(open_session_service, str(file)) as service:
            for key, notes in source.unsaved_notes.items():
                for event_id, note in notes.items():
                    await service.set_note(key, event_id, note)
