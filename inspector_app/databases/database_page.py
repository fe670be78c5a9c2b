"""The contents of a database other than sessions: user and app state, and raw tables. Read-only."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from inspector_app.databases.raw_tables_pane import RawTablesPane
from inspector_app.databases.shared_state_pane import SharedStatePane
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named

_LEAST_WIDTH = 130  # pixels: the hint of its tables would make the window wider than a small screen


class DatabasePage(QWidget):
    """A page that replaces the event stream.

    Attributes:
        tabs: the tabs with the two panes.
        state: user and app state.
        tables: raw rows.

    Signals:
        left: the user closed the page.
        tables_wanted: the *Tables* tab was shown.
    """

    left = Signal()
    tables_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("database_page")
        self.setMinimumWidth(_LEAST_WIDTH)
        self.state = SharedStatePane()
        self.tables = RawTablesPane()
        self.tabs = named(QTabWidget(documentMode=True), "database_tabs", "Contents of the database")
        for pane in (self.state, self.tables):
            pane.setContentsMargins(0, 6, 0, 0)
        self.tabs.addTab(self.state, "User && app state")
        self.tabs.addTab(self.tables, "Tables")
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self._title = named(ElidedLabel(), "database_page_title")
        self._title.setProperty("role", "title")
        close = push_button("Back to the events", "database_page_close", icon=theme.icon("xmark"))
        close.setToolTip("Back to the events (Esc)")
        close.clicked.connect(self.left)
        back = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        back.activated.connect(self.left)
        head = laid_out(
            QHBoxLayout(), IconLabel(13, self, name="database", role="dim"), (self._title, 1), close, margins=(4, 0, 0, 0), spacing=8
        )
        laid_out(QVBoxLayout(self), head, (self.tabs, 1), margins=0, spacing=4)

    @property
    def title(self) -> str:
        """The name and kind of the database, as displayed."""
        return self._title.text()

    def show_database(self, title: str) -> None:
        """Set the title.

        Args:
            title: name and kind of the database.
        """
        self._title.setText(visible(title))

    def show_tab(self, pane: QWidget) -> None:
        """Bring `state` or `tables` to the front."""
        self.tabs.setCurrentWidget(pane)

    def _on_tab_changed(self, _number: int) -> None:
        if self.tabs.currentWidget() is self.tables:
            self.tables_wanted.emit()
