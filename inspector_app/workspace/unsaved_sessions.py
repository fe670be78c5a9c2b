"""The sessions that are deleted with the window, and their way into databases of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.documents.session_address import MEMORY, SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.storage_error import StorageError
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.workspace import saved_sessions
else:  # loads google-genai's types
    saved_sessions = lazy_module("inspector_app.workspace.saved_sessions")


class UnsavedSessions:
    """This window's own sessions, which have no database.

    Args:
        databases: where they are.
        catalog: lists them.
        run: the run in progress, whose session is listed with its events only at its end.
    """

    def __init__(self, databases: OpenDatabases, catalog: SessionCatalog, run: CurrentRun) -> None:
        self._databases = databases
        self._catalog = catalog
        self._run = run

    def count(self) -> int:
        """Return how many sessions with events would be deleted; 0 if none of them is a person's work.

        Runs of the bundled samples and of evals are repeated at any time: they count only if a person noted something on one of them.
        """
        found = [
            (source, summary.key)
            for source in self._sources()
            for summary in self._catalog.sessions(source.target)
            if summary.event_count != 0 or self._is_run(SessionAddress(source.target, summary.key))
        ]
        return len(found) if any(key not in source.repeatable for source, key in found) else 0

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
            await (saved_sessions.save_memory if source.target == MEMORY else saved_sessions.save_file)(source, place)
        return [place for _, place in places]

    def _is_run(self, address: SessionAddress) -> bool:
        return self._run.phase != "idle" and self._run.address == address

    def _sources(self) -> list[Source]:
        return [source for source in self._databases.sources if source.is_unsaved and self._catalog.sessions(source.target)]
