"""The contents of a database besides its sessions: user and app state, and its tables as plain rows."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.databases.database_page import DatabasePage
from inspector_app.databases.raw_tables_controller import RawTablesController
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.documents.tail_thread import TailUpdate
from inspector_app.presentation.values import counted, since
from inspector_app.workspace.live_tail import LiveTail
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.storage.reading.shared_state import SharedScope, SharedState

SETTLING_MS = 300  # from another process's commit to reading the displayed state again; commits come in bursts


class DatabasePageController(QObject):
    """A controller that fills the page of the database or app that was chosen in the session list.

    Signals:
        opened: the page should be displayed.
        closed: the events should be displayed again.
        left: the user closed the page; the events should be displayed again.

    Args:
        work: the owners.
        page: the page to fill.
    """

    opened = Signal()
    closed = Signal()
    left = Signal()

    def __init__(self, work: Workspace, page: DatabasePage) -> None:
        super().__init__(page)
        self._work = work
        self._page = page
        self._source: Source | None = None
        self._scope: SharedScope | None = None
        self._tables = RawTablesController(self._page.tables, self._work.messages, self._work.tasks, self)
        self._settling = QTimer(self, singleShot=True, interval=SETTLING_MS)
        self._settling.timeout.connect(self.read_again)
        self._connect_signals(work.tail)

    def _connect_signals(self, tail: LiveTail) -> None:
        self._page.left.connect(self.left)
        self._page.tables_wanted.connect(self._on_tables_wanted)
        self._page.state.scope_chosen.connect(self._on_scope_chosen)
        self._work.databases.database_closed.connect(self._on_database_closed)
        tail.told.connect(self._on_told)

    def close(self) -> None:
        """Release the database."""
        self._settling.stop()
        self._source = None
        self._tables.close()

    def show_row(self, target: str, path: tuple[str, ...]) -> None:
        """Show the database, app or user of a row of the session list. A session's row closes the page.

        Args:
            target: the database.
            path: the names of app, user and session that the row has.
        """
        source = self._work.databases.source(target)
        if len(path) > 2 or source is None:
            self.closed.emit()
        else:
            self._show(source, SharedScope(*path) if path else None)

    def inspect(self) -> None:
        """Show the state and the tables of the selected session's database."""
        selected = self._work.cursor.session
        source = self._work.databases.source(selected.database) if selected is not None else next(iter(self._work.databases.sources), None)
        if source is None:
            self._work.messages.info("Open a database first to inspect its contents.")
            return
        self._show(source, SharedScope(selected.key.app_name, selected.key.user_id) if selected is not None else None)
        self._page.state.scopes.setFocus()

    def _show(self, source: Source, scope: SharedScope | None) -> None:
        page, other = self._page, source is not self._source
        self._source = source
        page.show_database(" · ".join(filter(None, (source.title, source.badge))))
        if other:
            page.state.set_scopes([])
            page.state.say("Reading…")
            self._tables.set_file(Path(source.target) if isinstance(source, DatabaseSource) and "://" not in source.target else None)
        if scope is not None:
            self._scope = scope
            page.show_tab(page.state)
        elif other:
            self._scope = None
        self.opened.emit()
        if page.tabs.currentWidget() is page.tables:
            self._on_tables_wanted()
        self._work.tasks.spawn(self._read_scopes(source), "Reading user and app state")

    async def _read_scopes(self, source: Source) -> None:
        state = self._page.state
        try:
            scopes = await source.shared_scopes()
        except KnownError as error:
            if source is self._source:
                state.say("The state could not be read", str(error))
            return
        if source is not self._source:
            return
        state.set_scopes(_with_asked_for(scopes, self._scope))
        if self._scope is None and scopes:
            self._scope = scopes[0]
        if self._scope is not None:
            state.choose(self._scope)
            await self._read_state(source, self._scope)
        else:
            state.say("No user or app state is stored here", "Agents write it with keys that begin with user: or app:.")

    async def _read_state(self, source: Source, scope: SharedScope) -> None:
        try:
            found = await source.shared_state(scope)
        except KnownError as error:
            if (source, scope) == (self._source, self._scope):
                self._page.state.say("The state could not be read", str(error))
            return
        if (source, scope) == (self._source, self._scope):
            self._page.state.show_state(scope, found.values, _facts(found))

    def _on_scope_chosen(self, scope: SharedScope) -> None:
        self._scope = scope
        self._read_again()

    def _read_again(self) -> None:
        if self._source is not None and self._scope is not None:
            self._work.tasks.spawn(self._read_state(self._source, self._scope), "Reading user and app state")

    def _on_tables_wanted(self) -> None:
        self._tables.show()

    def _on_told(self, told: TailUpdate) -> None:
        if self._source is not None and told.target == self._source.target and told.changes and self._page.state.isVisible():
            self._settling.start()

    def read_again(self) -> None:
        """Read again what the page displays."""
        if self._page.state.isVisible():
            self._read_again()
        elif self._page.tables.isVisible():
            self._tables.read_again()

    def _on_database_closed(self, target: str) -> None:
        if self._source is not None and target == self._source.target:
            self.closed.emit()
            self._source = None
            self._tables.set_file(None)


def _with_asked_for(scopes: list[SharedScope], asked: SharedScope | None) -> list[SharedScope]:
    """Return apps and users with state, and the one that was asked for even if it has none: what is shown is selected in the list."""
    if not scopes or asked is None:
        return scopes
    missing = {SharedScope(asked.app_name), asked}.difference(scopes)
    return sorted([*scopes, *missing], key=SharedScope.place) if missing else scopes


def _facts(found: SharedState) -> str:
    keys = counted(len(found.values), "key")
    return f"{keys} · last written {since(found.update_time, time.time())}" if found.update_time else keys if found.values else ""
