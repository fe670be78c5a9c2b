"""The writers of a state key: every write, oldest first, with the model requests that read it. A click goes to the event."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.values import clock, full_time, plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

_ROW = Qt.ItemDataRole.UserRole
_EVENT, _TIME, _WHERE = 1, 2, 3
_ROOM_FOR_ALL = 560  # pixels; a narrower list has no column of times, nor one that says the same of all writes
_MOST_HIGH = 9  # rows shown without a scroll bar
_NUMBER = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ICONS = {"write": ("pen", "text"), "parallel": ("code-fork", "warn"), "reading": ("eye", "dim")}

_COLUMNS = ((140, 0.3), (60, 0.1), (80, 0.1), (110, 0.2))  # all but the last: minimum width in pixels, maximum share of the width


@dataclass(frozen=True, slots=True)
class WriterRow:
    """A write of a key, or a model request that read it.

    Attributes:
        kind: `write`, `parallel` (parallel agents overwrote each other's value) or `reading`.
        address: the session.
        event_id: the event; None for the creation of the session.
        place: the event's number as displayed; empty if unknown.
        timestamp: epoch seconds; 0.0 if there is none.
        who: the agent and the part of it that wrote or read.
        where: branch and session.
        change: the change of the value.
        note: details for the tooltip.
    """

    kind: str
    address: SessionAddress
    event_id: str | None
    place: str
    timestamp: float
    who: str
    where: str
    change: str
    note: str


class WritersCard(QFrame):
    """A list of `WriterRow`s; each read is listed below the write whose value it saw. Hidden until it is filled, and once it is closed.

    Attributes:
        tree: the list.

    Signals:
        event_requested (SessionAddress, str): the user chose an event.
        closed: the user closed the card.
    """

    event_requested = Signal(object, str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("writers_card")
        self.setProperty("card", "true")
        self._rows: list[WriterRow] = []
        self._title = plain_label(name="writers_title", role="secondary", wraps=True, parent=self)
        self.tree = self._make_tree()
        close = named(QToolButton(self), "writers_close", "Close who wrote this key")
        close.setProperty("small", "true")
        close.setIcon(theme.icon("xmark", "dim"))
        theme.keep_icon_size(close, 16)
        set_tooltip(close, "Close (Escape)")
        close.clicked.connect(self.close_card)
        QShortcut(QKeySequence("Escape"), self.tree, context=Qt.ShortcutContext.WidgetShortcut).activated.connect(self.close_card)
        head = laid_out(QHBoxLayout(), (self._title, 1), (close, 0, Qt.AlignmentFlag.AlignTop), margins=(8, 0, 0, 0))
        laid_out(QVBoxLayout(self), head, (self.tree, 1), margins=(1, 3, 1, 1), spacing=2)
        self.hide()

    def close_card(self) -> None:
        """Hide the card."""
        self.clear()
        self.closed.emit()

    @property
    def rows(self) -> list[WriterRow]:
        """The displayed rows."""
        return list(self._rows)

    @property
    def title(self) -> str:
        """The key, and what is not recorded about it."""
        return self._title.text()

    def show_writers(self, title: str, rows: Sequence[WriterRow], in_force: int | None = None) -> None:
        """Show the writers of a key.

        Args:
            title: the key, and what is not recorded about it.
            rows: in order.
            in_force: number of the row to select: the write that set the displayed value; None for the last write.
        """
        self._title.setText(visible(title))
        self._rows = list(rows)
        self.tree.places = {row.where for row in rows}
        self.tree.blockSignals(True)
        self.tree.clear()
        last_write = selected = None
        for number, row in enumerate(rows):
            item = self._item(row)
            if row.kind == "reading" and last_write is not None:
                last_write.addChild(item)
            else:
                self.tree.addTopLevelItem(item)
                last_write = item if row.kind != "reading" else last_write
            if in_force in (number, None):
                selected = last_write
        self.tree.expandAll()
        self.tree.fit_columns()
        if selected is not None:
            self.tree.setCurrentItem(selected)
        self.tree.blockSignals(False)
        self._fit_height(min(len(rows), _MOST_HIGH))
        self.show()

    def _fit_height(self, rows: int) -> None:
        title = self._title.heightForWidth(max(self.width() - 50, 200))
        row = max(self.tree.sizeHintForRow(0), theme.row_px(22))
        self.setMaximumHeight(title + self.tree.header().sizeHint().height() + rows * row + 22)

    def clear(self) -> None:
        """Remove all rows and hide the card."""
        self._rows = []
        self.tree.clear()
        self._title.clear()
        self.hide()

    def _make_tree(self) -> _Writes:
        tree = named(_Writes(self), "writers_list", "Who wrote this key")
        tree.setHeaderLabels(["Written by", "Event", "Time", "Branch · session", "Value"])
        theme.keep_icon_size(tree, 13)
        tree.setUniformRowHeights(True)
        tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = tree.header()
        header.setStretchLastSection(True)
        tree.headerItem().setTextAlignment(_EVENT, _NUMBER)
        for column in range(len(_COLUMNS)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        tree.itemClicked.connect(self._on_chosen)
        tree.itemActivated.connect(self._on_chosen)
        return tree

    def _item(self, row: WriterRow) -> QTreeWidgetItem:
        time = clock(row.timestamp) if row.timestamp else ""
        item = QTreeWidgetItem([visible(text) for text in (row.who, row.place, time, row.where, row.change)])
        item.setIcon(0, theme.icon(*_ICONS[row.kind]))
        item.setTextAlignment(_EVENT, _NUMBER)
        item.setData(0, _ROW, row)
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{row.kind}: {visible(row.who)}")
        if row.kind == "parallel":
            item.setForeground(0, theme.color("warn"))
        tooltip = "\n".join(filter(None, (full_time(row.timestamp) if row.timestamp else "", row.where, row.note)))
        for column in range(5):
            item.setToolTip(column, plain_tooltip(tooltip))
        return item

    def _on_chosen(self, item: QTreeWidgetItem, _column: int) -> None:
        row: WriterRow = item.data(0, _ROW)
        if row.event_id is not None:
            self.event_requested.emit(row.address, row.event_id)


class _Writes(QTreeWidget):
    """The list. Each column gets the width it needs up to a share; the value column gets the rest.

    Attributes:
        places: where the listed keys were written.
    """

    places: Set[str] = frozenset()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Distribute the width."""
        width = self.viewport().width()
        is_narrow = width < theme.px(_ROOM_FOR_ALL)
        self.setColumnHidden(_TIME, is_narrow)  # the tooltip has it
        self.setColumnHidden(_WHERE, is_narrow and len(self.places) < 2)
        for column, (least, share) in enumerate(_COLUMNS):
            wanted = max(self.sizeHintForColumn(column), self.header().sectionSizeHint(column)) + 8
            self.header().resizeSection(column, max(least, min(wanted, int(width * share))))
