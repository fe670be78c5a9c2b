"""The session list: shows the catalog, and selects sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source, database_info
from inspector_app.presentation.costs import cost_text
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_costs import SessionCosts
from inspector_app.workspace.session_titles import SessionTitles
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary


class SessionsController(QObject):
    """A controller that applies the catalog's changes to the list's model.

    Args:
        cursor: the selected session.
        catalog: the sessions.
        titles: their titles.
        costs: what the displayed session costs.
        current: reports which session is being displayed.
        model: the model behind the list.
        pane: the list.
    """

    def __init__(
        self,
        cursor: Cursor,
        catalog: SessionCatalog,
        titles: SessionTitles,
        costs: SessionCosts,
        current: CurrentSession,
        model: SessionTreeModel,
        pane: SessionsPane,
    ) -> None:
        super().__init__(pane)
        self._cursor = cursor
        self._catalog = catalog
        self._titles = titles
        self._costs = costs
        self._model = model
        self._pane = pane
        catalog.listed.connect(self._on_listed)
        catalog.removed.connect(model.remove_database)
        catalog.sessions_changed.connect(model.update_sessions)
        catalog.forks_changed.connect(self._on_forks_changed)
        catalog.marks_changed.connect(self._on_marks_changed)
        titles.changed.connect(self._on_titles_changed)
        costs.changed.connect(self._on_costs_changed)
        model.title_wanted.connect(titles.want)
        model.renamed.connect(self._on_renamed)
        current.session_loading.connect(self._on_session_loading)
        pane.session_selected.connect(self._on_session_selected)

    def _on_listed(self, source: Source, sessions: Sequence[SessionSummary]) -> None:
        self._model.set_database(source.target, database_info(source), sessions)
        self._model.set_titles(source.target, self._titles.of_database(source.target))
        self._model.set_marks(source.target, self._catalog.marks(source.target))
        if not sessions:
            self._pane.set_empty_text("No sessions", "Send a message to an agent to start one.")

    def _on_forks_changed(self, target: str) -> None:
        self._model.set_forks(target, self._catalog.forks(target))

    def _on_marks_changed(self, target: str, keys: Collection[SessionKey]) -> None:
        for key in keys:
            address = SessionAddress(target, key)
            self._model.set_earlier(target, key, self._catalog.earlier(address))
            self._model.set_waiting(target, key, *self._catalog.waits_for(address))
            self._model.set_mark(target, key, self._catalog.mark(address))

    def _on_titles_changed(self, target: str, keys: Collection[SessionKey]) -> None:
        self._model.set_titles(target, self._titles.of_database(target), keys)

    def _on_costs_changed(self) -> None:
        address, total = self._cursor.session, self._costs.total
        if address is not None and total is not None and total.unpriced < total.calls:
            self._model.set_cost(address.database, address.key, cost_text(total))

    def _on_renamed(self, target: str, key: SessionKey, name: str) -> None:
        self._titles.rename(SessionAddress(target, key), name)

    def _on_session_loading(self, address: SessionAddress | None) -> None:
        if address is None:
            self._pane.select_none()
        else:
            self._pane.select_session(address.database, address.key)

    def _on_session_selected(self, database: str, key: SessionKey) -> None:
        self._cursor.select_session(SessionAddress(database, key))
