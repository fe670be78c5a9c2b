"""A database without sessions: what it is, and its tables as raw rows. Read-only."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector_app.databases.raw_tables_pane import RawTablesPane
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out


class ForeignDatabasePage(QWidget):
    """A sentence about the database above its tables.

    Attributes:
        tables: the pane with the tables.

    Signals:
        left: the user closed the page.
    """

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("other_database_page")
        self.tables = RawTablesPane()
        self._text = plain_label(name="other_database_text", wraps=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        close = push_button("Close", "other_database_close", icon=theme.icon("xmark"), does="Close this database")
        close.setToolTip("Close this database (Esc); it was not changed")
        close.clicked.connect(self.left)
        back = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        back.activated.connect(self.left)
        head = laid_out(
            QHBoxLayout(), IconLabel(13, self, name="lock", role="dim"), (self._text, 1), close, margins=(4, 4, 0, 4), spacing=8
        )
        laid_out(QVBoxLayout(self), head, (self.tables, 1), margins=(0, 0, 0, 8), spacing=4)

    @property
    def text(self) -> str:
        """The description as displayed."""
        return self._text.text()

    def show_text(self, text: str) -> None:
        """Set the description of the database."""
        self._text.setText(visible(text))
