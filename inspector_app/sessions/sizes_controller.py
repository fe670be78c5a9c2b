"""Sizes of databases and of the visible sessions, measured on worker threads."""

from __future__ import annotations

import contextlib
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.presentation.values import size
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.errors.known_error import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

AT_ONCE = 10  # sessions measured in one read; a click waits for no more than these
SETTLING_MS = 300  # from a session's first display to measuring it, so that scrolling measures nothing

_COMPANIONS = ("", "-wal")


class SizesController(QObject):
    """A controller that measures the databases and sessions that the session list displays.

    Args:
        databases: the open databases.
        tasks: runs the measuring.
        sessions: the model behind the list.
    """

    def __init__(self, databases: OpenDatabases, tasks: Tasks, sessions: SessionTreeModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sessions = sessions
        self._tasks = tasks
        self._databases = databases
        self._measuring = False
        self._settling = QTimer(self, singleShot=True, interval=SETTLING_MS)
        self._settling.timeout.connect(self._on_settled)
        sessions.sizes_wanted.connect(self._on_wanted)
        databases.database_listed.connect(self._on_database_listed)

    def _on_wanted(self) -> None:
        if not (self._measuring or self._settling.isActive()):
            self._settling.start()

    def _on_settled(self) -> None:
        if self._databases.sources:  # the window may be closing
            self._tasks.spawn(self._measure(), "Measuring sessions", background=True)

    async def _measure(self) -> None:
        self._measuring = True
        try:
            while (batch := self._sessions.take_wanted(AT_ONCE)) != ("", []):
                await self._measure_some(*batch)
        finally:
            self._measuring = False

    async def _measure_some(self, target: str, counts: list[tuple[SessionKey, int]]) -> None:
        source = self._databases.source(target)
        found = {}
        with contextlib.suppress(KnownError):  # reported when the session is selected
            if isinstance(source, DatabaseSource):
                found = await source.sizes(counts)
        words = {key: ("" if known.is_exact else "≈ ") + size(known.bytes) for key, known in found.items()}
        self._sessions.set_sizes(target, {key: (count, words.get(key, "")) for key, count in counts})
        if source is not None:
            await self._measure_file(source)

    def _on_database_listed(self, source: Source, _sessions: list[SessionSummary]) -> None:
        self._tasks.spawn(self._measure_file(source), f"Measuring {source.title}", background=True)

    async def _measure_file(self, source: Source) -> None:
        if isinstance(source, DatabaseSource) and "://" not in source.target:
            self._sessions.set_database_size(source.target, await run_in_thread(_size_of, Path(source.target)))


def _size_of(file: Path) -> int:
    """Return the size of a database file and its write-ahead log in bytes; 0 if it was deleted."""
    total = 0
    for companion in _COMPANIONS:
        try:
            total += file.with_name(file.name + companion).stat().st_size
        except OSError:
            continue
    return total
