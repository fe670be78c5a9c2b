"""The owner of the sessions' figures that take reading their events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.session_figures import EventFigures
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.scanning import newest
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.known_error import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

AT_ONCE = 50  # sessions read before the progress is reported
_FIRST_REPORT = 100  # sessions after which the list is sorted first; then after twice as many, as that takes longer and longer
_SETTLING_MS = 500  # from a change of sessions to reading them again


class SessionSums(QObject):
    """Tokens, costs, durations and errors of all sessions, read once they are wanted.

    Signals:
        changed(str): figures of a database's sessions were read.
        progressed(int, int): how many sessions were read, of how many that were to be read; equal at the end, unless it was stopped.

    Args:
        databases: the open databases.
        catalog: the sessions.
        prices: the prices.
        tasks: reads.
    """

    changed = Signal(str)
    progressed = Signal(int, int)

    def __init__(
        self, databases: OpenDatabases, catalog: SessionCatalog, prices: Prices, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._databases = databases
        self._catalog = catalog
        self._prices = prices
        self._tasks = tasks
        self._known: dict[str, dict[SessionKey, EventFigures]] = {}
        self._is_wanted = self._is_reading = False
        self._again = QTimer(self, singleShot=True, interval=_SETTLING_MS)
        self._again.timeout.connect(self._read_soon)
        catalog.listed.connect(self._on_listed)
        catalog.removed.connect(self._on_removed)
        catalog.sessions_changed.connect(self._on_sessions_changed)

    def of_database(self, target: str) -> Mapping[SessionKey, EventFigures]:
        """Return the known figures of a database's sessions. The mapping changes with them."""
        return self._known.setdefault(target, {})

    def want(self, wanted: bool) -> None:
        """Begin to read the figures of all sessions and keep them up to date, or stop that."""
        self._is_wanted = wanted
        if wanted:
            self._read_soon()

    def price_again(self) -> None:
        """Read everything again, after the prices have changed."""
        for known in self._known.values():
            known.clear()
        if self._is_wanted:
            self._again.start()

    def _read_soon(self) -> None:
        if self._is_wanted and not self._is_reading and self._databases.sources:
            self._is_reading = True
            self._tasks.spawn(self._read(), "Reading the events of sessions", background=True)

    async def _read(self) -> None:
        try:
            missing = {source.target: await self._missing(source) for source in self._databases.sources}
            count, done = sum(map(len, missing.values())), 0
            for target, keys in missing.items():
                source = self._databases.source(target)
                if source is not None and keys:
                    done = await self._read_of(source, keys, done, count)
            if self._is_wanted:
                self.progressed.emit(count, count)
        finally:
            self._is_reading = False

    async def _missing(self, source: Source) -> list[SessionKey]:
        known, listed = set(self.of_database(source.target)), self._catalog.sessions(source.target)
        newest_first = await run_in_thread(newest, listed, len(listed))
        return [summary.key for summary in newest_first if summary.key not in known]

    async def _read_of(self, source: Source, keys: Sequence[SessionKey], done: int, count: int) -> int:
        # On a connection of its own, so that a click does not wait.
        reader = await DatabaseSource.open(source.target) if type(source) is DatabaseSource else source
        report = _FIRST_REPORT
        try:
            for first in range(0, len(keys), AT_ONCE):
                if not self._is_wanted or self._databases.source(source.target) is not source:
                    break
                chunk = keys[first : first + AT_ONCE]
                self._known.setdefault(source.target, {}).update(await reader.event_figures(chunk, self._prices))
                done += len(chunk)
                if self._is_wanted:
                    self.progressed.emit(min(done, count - 1), count)
                if done >= report:
                    report = 2 * done
                    self.changed.emit(source.target)
        except KnownError:  # reported when a session is selected
            pass
        finally:
            if reader is not source:
                await reader.close()
        self.changed.emit(source.target)
        return done

    def _on_listed(self, _source: Source, _sessions: object) -> None:
        if self._is_wanted:
            self._again.start()

    def _on_removed(self, target: str) -> None:
        self._known.pop(target, None)

    def _on_sessions_changed(self, target: str, changed: Sequence[SessionSummary], removed: Collection[SessionKey]) -> None:
        known = self._known.get(target)
        if not known:
            return
        for key in (*removed, *(summary.key for summary in changed)):
            known.pop(key, None)
        if self._is_wanted:
            self._again.start()
