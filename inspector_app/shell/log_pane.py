"""The log: messages since the start, the newest last."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.message import Message
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme

MAX_KEPT = 2_000  # messages; older ones are dropped
_ICONS = {"info": ("circle-info", "dim"), "warning": ("triangle-exclamation", "warn"), "error": ("circle-xmark", "bad")}
_MESSAGE = Qt.ItemDataRole.UserRole


class LogPane(QWidget):
    """The list of messages, with the details of the selected one beside it.

    Signals:
        line_chosen(int): the user selected a line that an agent wrote, by its number.
    """

    line_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log_pane")
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(4)
        self._list = QListWidget(self)
        self._list.setObjectName("log_list")
        self._list.setAccessibleName("Log")
        self._list.setUniformItemSizes(True)
        self._list.setMinimumHeight(2 * self._list.fontMetrics().lineSpacing())
        theme.keep_icon_size(self._list, 14)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.currentItemChanged.connect(self._on_current_changed)
        self._details = QPlainTextEdit(self)
        self._details.setObjectName("log_details")
        self._details.setAccessibleName("Details of the message")
        self._details.setReadOnly(True)
        self._details.setMinimumHeight(self._list.minimumHeight())
        theme.use_mono(self._details)
        self._details.hide()
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self._list)
        split.addWidget(self._details)
        rows.addWidget(split, 1)
        rows.addLayout(self._buttons())

    @property
    def count(self) -> int:
        """The number of messages in the log."""
        return self._list.count()

    def add(self, message: Message) -> None:
        """Add a message; drop the oldest above `MAX_KEPT`."""
        at_end = self._list.verticalScrollBar().value() >= self._list.verticalScrollBar().maximum()
        clock = time.strftime("%H:%M:%S", time.localtime(message.time))
        item = QListWidgetItem(theme.icon(*_ICONS[message.severity]), f"{clock}  {visible(message.text)}")
        item.setData(_MESSAGE, message)
        if message.line is not None:
            item.setToolTip("Written by the agent. Select it to go to its event.")
        self._list.addItem(item)
        while self._list.count() > MAX_KEPT:
            self._list.takeItem(0)
        if at_end:
            self._list.scrollToBottom()

    def show_message(self, message: Message | None) -> None:
        """Select a message and show its details, if it still is in the log; None shows the newest."""
        rows = range(self._list.count() - 1, -1, -1)
        found = next((row for row in rows if message is None or self._list.item(row).data(_MESSAGE) is message), None)
        if found is not None:
            self._list.setCurrentRow(found)
            self._list.scrollToItem(self._list.item(found))
            self._list.setFocus()

    def _buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        for text, name, slot in (("Copy", "log_copy", self._on_copy), ("Clear", "log_clear", self._on_clear)):
            button = QToolButton(self)
            button.setObjectName(name)
            button.setText(text)
            button.setProperty("button", "true")
            button.setAccessibleName(f"{text} the log")
            button.clicked.connect(slot)
            line.addWidget(button)
        line.addStretch(1)
        return line

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        message = item.data(_MESSAGE) if item is not None else None
        self._details.setPlainText(message.details if message and message.details else "")
        self._details.setVisible(bool(message and message.details))
        if message is not None and message.line is not None:
            self.line_chosen.emit(message.line)

    def _on_copy(self) -> None:
        items = self._list.selectedItems() or [self._list.item(row) for row in range(self._list.count())]
        texts = ("\n".join(filter(None, (item.text(), item.data(_MESSAGE).details))) for item in items)
        QGuiApplication.clipboard().setText("\n".join(texts))

    def _on_clear(self) -> None:
        self._list.clear()
        self._details.hide()
