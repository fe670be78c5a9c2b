"""The page that lists the agents in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QPushButton, QWidget

from inspector_app.opening.page_card import PageCard
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named

_WIDTH = 760
_SHOWN = 14  # rows visible at once
_PATH = Qt.ItemDataRole.UserRole


class AgentChoicePage(QWidget):
    """A page that asks which of several agents to load.

    Signals:
        chosen(str): the path of the agent to load.
        declined: the user closed the page.
    """

    chosen = Signal(str)
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("agent_choice_page")
        column = PageCard(self, _WIDTH)
        rows = column.rows
        rows.addWidget(IconLabel(32, column, name="robot", role="accent"))
        title = plain_label("Which agent?", role="heading", parent=column)
        rows.addWidget(title)
        self._text = plain_label(name="agent_choice_text", wraps=True, parent=column)
        rows.addWidget(self._text)
        self._list = named(QListWidget(column), "agent_choice_list", "Agents in this folder")
        theme.use_mono(self._list)
        theme.keep_icon_size(self._list, 14)
        self._list.itemDoubleClicked.connect(self._on_item_activated)
        self._list.currentItemChanged.connect(self._on_current_changed)
        self._list.installEventFilter(self)
        rows.addWidget(self._list)
        rows.addLayout(self._buttons(column))

    def ask(self, path: str, names: Sequence[str]) -> None:
        """List agents.

        Args:
            path: the folder, as the user wrote it.
            names: the names of the agents in it.
        """
        self._text.setText(f"{visible(path)} holds {len(names):,} agents. Each is asked about before its code runs.")
        self._list.clear()
        for name in names:
            item = QListWidgetItem(theme.icon("robot", "dim"), visible(name))
            item.setData(_PATH, str(Path(path) / name))
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setFixedHeight(min(max(len(names), 3), _SHOWN) * self._list.sizeHintForRow(0) + 12)

    def focus(self) -> None:
        """Focus the list."""
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the current agent on Enter, wherever the platform would not."""
        if watched is self._list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._on_open()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.declined.emit()
                return True
        return super().eventFilter(watched, event)

    def _buttons(self, parent: QWidget) -> QHBoxLayout:
        self._open = named(QPushButton("Open", parent), "agent_choice_open")
        self._open.setProperty("primary", True)
        self._open.clicked.connect(self._on_open)
        leave = push_button("Close", "agent_choice_close", self.declined, parent=parent)
        return laid_out(QHBoxLayout(), self._open, leave, 1)

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        name = item.text() if item is not None else ""
        self._open.setText(f"Open {name}" if len(name) <= 40 else "Open")
        self._open.setAccessibleName(f"Open {name}")
        self._open.setEnabled(item is not None)

    def _on_open(self) -> None:
        self._on_item_activated(self._list.currentItem())

    def _on_item_activated(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.data(_PATH))
