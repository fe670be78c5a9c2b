"""The owner of the sessions' titles."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.event_notes import changed_note
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.presentation.event_summary import short_id
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.scanning import AT_FIRST
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.known_error import KnownError
from runtime.sessions.note import NAME, Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary

SETTLING_MS = 50  # from the first title that is wanted to reading it, so that a page of them is read together
_SHORT = 2_000  # events of a session whose title is read again when there are more: its first message may be new, or rewound


class SessionTitles(QObject):
    """The titles of all sessions in the open databases, see `session_title`.

    Signals:
        changed(str, Collection[SessionKey]): these sessions of a database have another title.

    Args:
        databases: the open databases.
        catalog: reports new and changed sessions.
        tasks: reads and stores.
    """

    changed = Signal(str, object)

    def __init__(self, databases: OpenDatabases, catalog: SessionCatalog, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._databases = databases
        self._tasks = tasks
        self._titles: dict[str, dict[SessionKey, str]] = {}
        self._named: dict[str, frozenset[SessionKey]] = {}
        self._wanted: dict[str, set[SessionKey]] = {}
        self._settling = QTimer(self, singleShot=True, interval=SETTLING_MS)
        self._settling.timeout.connect(self._on_settled)
        catalog.listed.connect(self._on_listed)
        catalog.removed.connect(self._on_removed)
        catalog.sessions_changed.connect(self._on_sessions_changed)
        databases.titles_found.connect(self._on_titles_found)

    def of_database(self, target: str) -> Mapping[SessionKey, str]:
        """Return the known titles of a database's sessions. The mapping grows with them."""
        return self._of(target)

    def _of(self, target: str) -> dict[SessionKey, str]:
        return self._titles.setdefault(target, {})

    def title(self, address: SessionAddress) -> str:
        """Return a session's title; its short id as long as that is not read."""
        return self.of_database(address.database).get(address.key) or short_id(address.key.session_id)

    def want(self, target: str, key: SessionKey) -> None:
        """Read a session's title soon."""
        self._wanted.setdefault(target, set()).add(key)
        if not self._settling.isActive():
            self._settling.start()

    def rename(self, address: SessionAddress, name: str) -> None:
        """Name a session; an empty name removes it.

        Raises:
            NoteError: the name is too long.
        """
        note = changed_note(None, text=name)
        source = self._databases.source(address.database)
        if source is not None:
            self._tasks.spawn(self._rename(source, address, note), "Naming a session")

    def reread(self, target: str) -> None:
        """Read the names in a database again: another window or process changed some."""
        source = self._databases.source(target)
        if source is not None:
            self._tasks.spawn(self._read_names(source), "Reading the names of sessions", background=True)

    async def _read_names(self, source: Source) -> None:
        try:
            named = frozenset(await source.names())
        except KnownError:  # reported when a session is selected
            return
        for key in named | self._named.get(source.target, frozenset()):
            self.want(source.target, key)
        self._named[source.target] = named

    async def _rename(self, source: Source, address: SessionAddress, note: Note) -> None:
        await source.set_note(address.key, NAME, note)
        self.want(address.database, address.key)

    def _on_listed(self, source: Source, sessions: Sequence[SessionSummary]) -> None:
        known = self.of_database(source.target)
        new = [summary for summary in sessions if summary.key not in known] if known else sessions
        for summary in heapq.nlargest(AT_FIRST, new, key=lambda summary: summary.last_update_time):
            self._wanted.setdefault(source.target, set()).add(summary.key)
        self._on_settled()
        self.reread(source.target)

    def _on_removed(self, target: str) -> None:
        self._titles.pop(target, None)
        self._named.pop(target, None)
        self._wanted.pop(target, None)

    def _on_sessions_changed(self, target: str, changed: Sequence[SessionSummary], removed: Collection[SessionKey]) -> None:
        known = self._of(target)
        for key in removed:
            known.pop(key, None)
        if len(changed) > AT_FIRST:  # the counts of a large database are known now
            return
        for summary in changed:
            if summary.key not in known or (summary.event_count or 0) <= _SHORT:
                self.want(target, summary.key)

    def _on_titles_found(self, source: Source, titles: Mapping[SessionKey, str]) -> None:
        known = self._of(source.target)
        new = {key: title for key, title in titles.items() if known.get(key) != title}
        if new:
            known.update(new)
            self.changed.emit(source.target, new.keys())

    def _on_settled(self) -> None:
        wanted, self._wanted = self._wanted, {}
        for target, keys in wanted.items():
            source = self._databases.source(target)
            if source is not None and keys:
                self._tasks.spawn(self._read(source, list(keys)), "Reading the titles of sessions", background=True)

    async def _read(self, source: Source, keys: list[SessionKey]) -> None:
        try:
            titles = await source.titles(keys)
        except KnownError:  # reported when a session is selected
            titles = {key: short_id(key.session_id) for key in keys}
        if self._databases.source(source.target) is source:
            self._on_titles_found(source, titles)
