"""The door of the session list: the sessions of the open databases, their search, export, import and deletion."""

from __future__ import annotations

from inspector_app.sessions.deletion_controller import DeletionController
from inspector_app.sessions.exchange_controller import ExchangeController
from inspector_app.sessions.figures_controller import FiguresController
from inspector_app.sessions.search_controller import SearchController
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_controller import SessionsController
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.widgets.hint_bar import ANSWERS
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Sessions(Feature):
    """The session list.

    Attributes:
        model, pane: the list and its pane.
        search, exchange: the controllers of searching and of files; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.model = SessionTreeModel(self)
        self.pane = SessionsPane(self.model)
        places.pane(Pane("sessions", "Sessions", self.pane, "left", 1, stops=(self.pane.tree,)))
        about = "The sessions of all open databases. A mark says that something waits or was interrupted."
        places.tour_stop(1, "Sessions", about, self.pane)
        add = places.command
        find = add("find_session", "Find a session", "magnifying-glass", "Ctrl+Shift+F", menu="Session", at=11, needs="open")
        find.triggered.connect(self.pane.focus_filter)
        self._search_all = add("search_all", "Search all sessions…", "book-open", "Ctrl+Alt+F", menu="Session", at=12)
        does = "When another process starts a session in this database, show that session"
        self._follow_newest = add("follow_newest", "Follow the newest session", "tower-broadcast", menu="Session", at=14, does=does)
        self._follow_newest.setCheckable(True)
        self._export = add("export_session", "Export the session…", "file-export", menu="Session", at=21)
        self._import = add("import_sessions", "Import sessions…", "file-import", menu="Session", at=23)
        self._deletion_hint = places.hint("deletion_hint", ANSWERS)
        self._exchange_hint = places.hint("exchange_hint", ANSWERS)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        SessionsController(work.cursor, work.catalog, work.titles, work.costs, work.current, self.model, self.pane)
        FiguresController(work.catalog, work.sums, self.model, self.pane)
        DeletionController(work, self.pane, self._deletion_hint)
        self.exchange = exchange = ExchangeController(work, self.pane, self._exchange_hint)
        exchange.workbench_requested.connect(self.places.workbench_requested)
        self._export.triggered.connect(exchange.export_selected)
        self._import.triggered.connect(exchange.ask_for_imports)
        self.search = SearchController(work, self.pane)
        self.places.ready_for_sessions.connect(lambda _title, _hint, said: self.pane.set_empty_text("No sessions yet", said))
        self._search_all.triggered.connect(self.search.ask)
        self.search.hit_opened.connect(self.places.focus_requested)  # gets it when the dialog gives it back
        work.tail.follows_newest = self._follow_newest.isChecked

    def close(self) -> None:
        """Close the search."""
        self.search.close()
