"""The owner of the open databases."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence, Set
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.sources import AttachedSource, DatabaseSource, MemorySource, Source, UnsavedFile
from inspector_app.engines.protocol import Store
from inspector_app.support.data_folder import unsaved_folder
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.scanning import Scanner, newest
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime import sessions
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import Invocation, PendingItem, present
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import is_remote
from runtime.storage.open_service import make_database
from runtime.storage.reading.reader import SessionSummary
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.documents import remote_source
else:
    remote_source = lazy_module("inspector_app.documents.remote_source")

MAX_TRIED = 20  # newest sessions examined for pending items before one is displayed: opening must feel immediate
MAX_TRIED_EVENTS = 2_000  # a longer session ends the examination, for the same reason


class OpenDatabases(QObject):
    """Every open database, and the sessions that are in none of the user's.

    Attributes:
        traces: where the calls are recorded that arrive as traces; None if they are not kept.
        trusted_hosts: returns the hosts on other machines whose servers may be opened.

    Signals:
        database_listed(Source, list[SessionSummary]): a database was opened or listed again.
        database_failed(str, Exception): a database could not be opened.
        database_counted(Source, list[SessionSummary]): the counts that listing left out are known; the whole list again.
        database_closed(str): a database was closed.
        titles_found(Source, dict[SessionKey, str]): the titles of all sessions of a database were read.
        unfinished_found(Source, set[SessionKey]): `Source.unfinished` is known for all sessions; these were reported before.
        unsaved_moved(str, str): unsaved sessions of one target were saved to another, where they continue.
        writing_allowed(Source): the user allowed runs to write into a database.

    Args:
        catalog: receives the sessions and pending items found.
        tasks: runs the scans.
        kept: where unsaved sessions are.
    """

    # Declared as `list`, each argument would be copied by Qt for every slot: 10 ms for 100,000 sessions.
    database_listed = Signal(object, object)
    database_failed = Signal(str, object)
    database_counted = Signal(object, object)
    database_closed = Signal(str)
    titles_found = Signal(object, object)
    unfinished_found = Signal(object, object)
    writing_allowed = Signal(object)
    unsaved_moved = Signal(str, str)

    def __init__(self, catalog: SessionCatalog, tasks: Tasks, kept: KeptSessions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._catalog = catalog
        self._tasks = tasks
        self.traces: Path | None = None
        self.trusted_hosts: Callable[[], Sequence[str]] = tuple
        self._sources: dict[str, Source] = {}
        self._kept = kept
        self._unsaved: dict[tuple[bool, bool], Source] = {}  # of new sessions, by whether their agents need a file, and whether it is kept
        self._number = 0
        self._folder: TemporaryDirectory[str] | None = None
        self._before_full_scan: Callable[[], Awaitable[None]] = _nothing
        self._scanner = Scanner(lambda source: source.target in self._sources, self)
        self._scanner.titled.connect(self.titles_found)
        self._scanner.counted.connect(self._on_counted)
        self._scanner.pending_found.connect(self._on_pending_found)
        self._scanner.unfinished_found.connect(self._on_unfinished_found)

    @property
    def sources(self) -> list[Source]:
        """All open databases, in the order they were opened."""
        return list(self._sources.values())

    def source(self, target: str) -> Source | None:
        """Return the database that was opened as `target`."""
        return self._sources.get(target)

    async def open_database(self, target: str, *, scan: bool = True) -> Source | None:
        """Open a database, or list it again if it is open.

        Args:
            target: a path or URL.
            scan: see `scan`; with False the caller scans later, once a session is displayed.

        Returns:
            The database; None if it could not be opened, which is reported.
        """
        source = self._sources.get(target)
        try:
            if source is None:
                opened = await (
                    remote_source.RemoteSource.open(target, self.trusted_hosts()) if is_remote(target) else DatabaseSource.open(target)
                )
                source = self._sources.setdefault(opened.target, opened)
                if source is not opened:  # the same server under another spelling of its address
                    await opened.close()
                source.traces = self.traces
            listed = await source.listing()
        except Exception as error:
            self.database_failed.emit(target, error)
            return None
        self._list(source, listed)
        if scan:
            self.scan(source)
        return source

    def scan(self, source: Source) -> None:
        """Find in the background what listing a database left out: long sessions' counts, and pending items."""
        scan = self._scanner.scan(source, self._catalog.sessions(source.target), self._wait_before_full_scan)
        self._tasks.spawn(scan, f"Looking for pending work in {source.title}", background=True)

    def before_full_scan(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Make full scans wait, so that the displayed session is read first.

        Args:
            wait: awaited before a scan reads all events of a database.
        """
        self._before_full_scan = wait

    async def memory(self, app_name: str) -> MemorySource:
        """Return the sessions that are only in this window's memory, listing those of `app_name`."""
        source = self._sources.get(MemorySource.target)
        if not isinstance(source, MemorySource):
            source = MemorySource()
            source.traces = self.traces
            self._sources[source.target] = source
        source.add_app(app_name)
        await self.relist(source)
        return source

    async def attached(self, pid: int, name: str) -> AttachedSource:
        """Return the sessions of a running app that the window attaches to; those that it has reported before stay.

        Args:
            pid: the app's process.
            name: its name.
        """
        source = self._sources.get(f"attached:{pid}")
        if not isinstance(source, AttachedSource):
            source = AttachedSource(pid, name)
            source.traces = self.traces
            self._sources[source.target] = source
        await self.relist(source)
        return source

    @property
    def window_folder(self) -> Path:
        """The folder for what is deleted when the window is closed, created when it is first asked for."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="agent-inspector-", ignore_cleanup_errors=True)
        return Path(self._folder.name)

    @property
    def unsaved(self) -> list[Source]:
        """The sources of this window's own sessions that are in no database of the user's."""
        return [source for source in self.sources if source.is_unsaved and not source.is_left]

    async def unsaved_place(self, app_name: str, *, needs_file: bool) -> Store:
        """Return where to create a session that is in no database of the user's; `unsaved_source` is then its source.

        Args:
            app_name: its app.
            needs_file: whether the agent is in another process.
        """
        before = self._unsaved.get((needs_file, self._kept.keeps))
        if before is not None and before.target in self._sources:
            return before
        self._number += 1
        name = f"sessions-{self._number}.db"
        file = await run_in_thread(self._kept.new_file, name)
        if needs_file:
            return UnsavedFile(file or self.window_folder / name)
        try:
            if file is not None:
                await make_database(str(file))
                return await self._open_unsaved(file)
        except StorageError as error:
            self._kept.give_up(str(error))
        return await self.memory(app_name)

    async def new_unsaved(self) -> Source:
        """Return a new database of this window's own, without sessions: a file that survives the window if sessions are kept.

        Raises:
            StorageError: it cannot be written.
        """
        self._number += 1
        name = f"sessions-{self._number}.db"
        file = await run_in_thread(self._kept.new_file, name) or self.window_folder / name
        await make_database(str(file))
        return await self._open_unsaved(file)

    def stop_keeping(self, place: Store, error: StorageError) -> bool:
        """Put new sessions into memory only, as a file of our own cannot be written, such as on a full disk.

        Args:
            place: where a session was to be created.
            error: why it was not.

        Returns:
            Whether that helps: the place is a file of our own.
        """
        if unsaved_folder(place.target) is None or not self._kept.keeps:
            return False
        self._kept.give_up(str(error))
        return True

    async def unsaved_source(self, place: Store, *, needs_file: bool) -> Source:
        """Return the source of a place that has its first session now, listed again.

        Raises:
            StorageError: it cannot be read.
        """
        source = self._sources.get(place.target) or await self._open_unsaved(Path(place.target))
        await self.relist(source)
        self._unsaved[needs_file, source.is_kept] = source
        return source

    async def open_left(self, file: Path, written: float) -> Source | None:
        """List the sessions that an earlier window left.

        Args:
            file: its database; deleted if it has no session with events.
            written: when it was last written, epoch seconds.

        Raises:
            StorageError: it cannot be read.
        """
        source = await self._open_unsaved(file, written)
        listed = await source.sessions()
        if not any(summary.event_count for summary in listed):
            await self.forget_unsaved(source)
            return None
        self._list(source, listed)
        self.scan(source)
        return source

    async def forget_unsaved(self, source: Source) -> None:
        """Close a database of unsaved sessions, and delete it."""
        await self.close_database(source.target)
        if isinstance(source, DatabaseSource):
            await run_in_thread(self._kept.forget, Path(source.target))

    async def _open_unsaved(self, file: Path, left_at: float | None = None) -> Source:
        await run_in_thread(lambda: sessions.add_our_tables(file))  # there its module is imported, too
        source = (await DatabaseSource.open(str(file))).as_unsaved(left_at)
        source.traces = self.traces
        return self._sources.setdefault(source.target, source)

    async def relist(self, source: Source) -> None:
        """List an open database's sessions again."""
        self._list(source, await source.sessions())

    async def reload(self) -> None:
        """List all open databases again."""
        for target in list(self._sources):
            if isinstance(self._sources.get(target), DatabaseSource):
                await self.open_database(target)

    async def allow_writing(self, source: Source) -> None:
        """Let runs write into a database.

        Raises:
            StorageError: it can only be read.
        """
        await source.service()  # an obstacle is reported now, not in the middle of a run
        source.writing_allowed = True
        await self.relist(source)
        self.writing_allowed.emit(source)

    async def close_database(self, target: str) -> None:
        """Close what was opened as `target`."""
        source = self._sources.pop(target, None)
        if source is None:
            return
        self._scanner.stop(target)
        self.database_closed.emit(target)
        self._catalog.remove_database(target)
        await source.close()

    async def close(self) -> None:
        """Close every database."""
        sources, self._sources = self.sources, {}
        for source in sources:
            await source.close()
        if self._folder is not None:
            await run_in_thread(self._folder.cleanup)

    async def most_interesting(self, source: Source) -> SessionKey | None:
        """Return the session to display first: the newest one with pending items, else the newest one."""
        newest_first = await run_in_thread(newest, self._catalog.sessions(source.target), MAX_TRIED)
        for summary in newest_first:
            count = summary.event_count
            if count > MAX_TRIED_EVENTS if count is not None else await source.is_longer_than(summary.key, MAX_TRIED_EVENTS):
                break
            with contextlib.suppress(Exception):  # reported when the session is selected
                if present(await source.pending(summary.key)):
                    return summary.key
        return newest_first[0].key if newest_first else None

    def _list(self, source: Source, sessions: list[SessionSummary]) -> None:
        self._catalog.list_database(source, sessions)
        self.database_listed.emit(source, sessions)

    async def _wait_before_full_scan(self) -> None:
        await self._before_full_scan()

    def _on_counted(self, source: Source, scanner: DatabaseSource, sessions: list[SessionSummary]) -> None:
        if isinstance(source, DatabaseSource) and self._sources.get(source.target) is source:
            source.take_counts(scanner)
            self._catalog.count_sessions(source.target, sessions)
            self.database_counted.emit(source, sessions)

    def _on_pending_found(self, source: Source, found: dict[SessionKey, list[PendingItem]]) -> None:
        if source.target in self._sources:
            self._catalog.set_all_pending(source.target, found)

    def _on_unfinished_found(self, source: Source, scanned: Set[SessionKey]) -> None:
        found = {key: pending_of(entries) for key, entries in source.unfinished.items() if key not in scanned}
        self._catalog.set_all_pending(source.target, found)
        self.unfinished_found.emit(source, scanned)


def pending_of(invocations: Sequence[Invocation]) -> list[PendingItem]:
    """Return the pending items of some invocations."""
    return [item for invocation in invocations for item in invocation.pending]


async def _nothing() -> None:
    """Wait for nothing."""
