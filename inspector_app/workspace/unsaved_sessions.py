"""The sessions that are in no database of the user's, and their way into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.storage.recordings.recording import recording_beside
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.workspace import saved_sessions
else:  # loads google-genai's types
    saved_sessions = lazy_module("inspector_app.workspace.saved_sessions")


MOST_OPENED = 20  # databases that earlier windows left, at the start: each takes 0.1 s of a processor


class UnsavedSessions:
    """This window's own sessions, and those that earlier windows left.

    Args:
        cursor: the selected session.
        databases: where they are.
        catalog: lists them.
        current: displays a saved session.
        run: the run in progress, whose session is listed with its events only at its end.
        kept: their files.
    """

    def __init__(
        self,
        cursor: Cursor,
        databases: OpenDatabases,
        catalog: SessionCatalog,
        current: CurrentSession,
        run: CurrentRun,
        kept: KeptSessions,
    ) -> None:
        self._cursor = cursor
        self._databases = databases
        self._catalog = catalog
        self._current = current
        self._run = run
        self._kept = kept

    async def list_left(self) -> tuple[list[Source], list[Path]]:
        """List the newest sessions that earlier windows left.

        Returns:
            Their sources, the latest first; and the databases that are not opened, because they are older and many.
        """
        found: list[Source] = []
        left = await run_in_thread(self._kept.take_over)
        for number, (file, written) in enumerate(left):
            if len(found) == MOST_OPENED:
                return found, [older for older, _ in left[number:]]
            try:
                source = await self._databases.open_left(file, written)
            except StorageError as error:
                self._kept.report(error)
                continue
            if source is not None:
                found.append(source)
        return found, []

    def count(self, *, lost: bool = False) -> int:
        """Return how many sessions with events are in no database of the user's; 0 if none of them is a person's work.

        Runs of the bundled samples and of evals are repeated at any time: they count only if a person noted something on one of them.

        Args:
            lost: count only those that are deleted with this window: those that the program does not keep in a file.
        """
        found = [
            (source, summary.key)
            for source in self._own()
            if not (lost and source.is_kept)
            for summary in self._catalog.sessions(source.target)
            if summary.event_count != 0 or self._is_run(SessionAddress(source.target, summary.key))
        ]
        return len(found) if any(key not in source.repeatable for source, key in found) else 0

    def to_save(self) -> list[Source]:
        """Return what *Save as* stores: the selected session's source if it is unsaved, else this window's own, else what is left."""
        selected = self._databases.source(self._cursor.session.database) if self._cursor.session is not None else None
        if selected is not None and selected.is_unsaved:
            return [selected]
        return self._own() or [source for source in self._databases.sources if source.is_left]

    async def save(self, file: Path, sources: Sequence[Source] | None = None) -> list[Path]:
        """Store sessions with their notes, recordings and files in a new database; google-adk's in its own layout, to be continued by it.

        Args:
            file: of the database.
            sources: whose sessions; None: this window's own.

        Returns:
            The written files: one for each source.

        Raises:
            StorageError: a file exists, or cannot be written.
        """
        sources = self._own() if sources is None else sources
        files = [file, *(file.with_name(f"{file.stem}-{number}{file.suffix}") for number in range(2, len(sources) + 1))]
        for place in (*files, *map(recording_beside, files)):
            if await run_in_thread(place.exists):
                raise StorageError(f"{place} already exists. Name a file that does not exist.")
        for source, place in zip(sources, files, strict=False):
            if isinstance(source, DatabaseSource):
                await saved_sessions.save_file(source, place)
            else:
                await saved_sessions.save_memory(source, place)
        return files

    async def save_as(self, file: Path) -> tuple[list[Path], str]:
        """Store the sessions of `to_save` and continue them there.

        Args:
            file: of the new database.

        Returns:
            The written files, and a sentence that says what was done.

        Raises:
            KnownError: nothing is unsaved.
            StorageError: see `save`.
        """
        sources = self.to_save()
        if not sources:
            raise KnownError("All sessions are in databases already.")
        selected = self._cursor.session
        files = await self.save(file, sources)
        for source, written in zip(sources, files, strict=True):
            opened = await self._databases.open_database(str(written))
            if opened is None or self._is_run_in(source):
                continue
            self._databases.unsaved_moved.emit(source.target, opened.target)
            if selected is not None and selected == self._cursor.session and selected.database == source.target:
                self._cursor.select_session(SessionAddress(opened.target, selected.key))
                await self._current.wait_until_loaded()
            await self._databases.forget_unsaved(source)
        names = ", ".join(map(str, files))
        if any(self._is_run_in(source) for source in sources):
            return files, f"Saved what is committed so far in {names}. The run in progress stays unsaved: save again when it has ended."
        return files, f"Saved in {names}. The sessions continue there."

    def _is_run_in(self, source: Source) -> bool:
        return any(
            address is not None and address.database == source.target
            for address in (self._run.quiet, self._run.address if self._run.phase != "idle" else None)
        )

    def _is_run(self, address: SessionAddress) -> bool:
        return self._run.phase != "idle" and self._run.address == address

    def _own(self) -> list[Source]:
        return [source for source in self._databases.unsaved if self._catalog.sessions(source.target)]
