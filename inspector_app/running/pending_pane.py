"""The pending items: confirmations, long-running calls, credentials and interrupted invocations, each with a form to answer it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.signs import REQUESTS, SIGNS
from inspector_app.presentation.values import ago, full_time, plain_tooltip, visible
from inspector_app.running.pending_form import PendingForm
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named

if TYPE_CHECKING:
    from runtime.history.invocations import PendingItem

_ROW = Qt.ItemDataRole.UserRole
_LEAST_ITEM = 130  # pixels at a scale of 100 %, of an item's text
_LEAST_LIST = 260  # pixels, beside a form with long buttons
# Pixels: minimum width of the session column at a scale of 100 %, and the width that columns need beyond their hints.
_LEAST_SESSION, _SLACK = 90, 8
_TAKES_ROOM = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
_TAKES_NO_ROOM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # a hidden page adds to the height of a stack


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A pending item and its session.

    Attributes:
        address: the session.
        item: the pending item.
        database: title of the database.
        session: the session's title.
    """

    address: SessionAddress
    item: PendingItem
    database: str = ""
    session: str = ""


class PendingPane(QWidget):
    """The list of pending items, and the form of the selected one.

    Attributes:
        form: answers the selected item.

    Signals:
        answered (PendingItem, dict): the user answered with this function response.
        progress_given (PendingItem, dict): the user reported progress of a long-running call, which stays open.
        resume_requested (PendingItem): the user asked to resume the invocation.
        session_requested (SessionAddress): the user selected an item of this session.
    """

    answered = Signal(object, object)
    progress_given = Signal(object, object)
    resume_requested = Signal(object)
    session_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pending_pane")
        self._rows: list[PendingRow] = []
        self._schema_of: Callable[[SessionAddress, PendingItem], Mapping[str, Any] | None] = lambda address, item: None
        self._list = _UnfinishedList(self)
        self._list.currentItemChanged.connect(self._on_current_changed)
        self._list.itemClicked.connect(self._on_current_changed)  # a click on the selected item also returns to its session
        self.form = PendingForm(self)
        self.form.answered.connect(self.answered)
        self.form.progress_given.connect(self.progress_given)
        self.form.resume_requested.connect(self.resume_requested)
        for keys, slot in (
            ("Ctrl+Return", self.form.accept),
            ("Ctrl+Backspace", self.form.reject),
            ("Ctrl+Shift+Return", self.form.report_progress),
        ):
            QShortcut(QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut).activated.connect(slot)
        self._split = split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self._list)
        split.addWidget(self.form)
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 1)
        split.setSizes([2_000, 2_200])  # about equal shares; the form's size hint alone would make it too narrow
        split.setChildrenCollapsible(False)
        self._list.setMinimumWidth(_LEAST_LIST)
        split.setSizePolicy(_TAKES_NO_ROOM)
        self._stack = QStackedWidget(self)
        self._nothing = EmptyState("No pending items", "Confirmations, long-running calls and interrupted invocations appear here.")
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(split)
        laid_out(QVBoxLayout(self), self._stack, margins=0)

    @property
    def rows(self) -> list[PendingRow]:
        """The displayed items."""
        return list(self._rows)

    @property
    def selected_session(self) -> SessionAddress | None:
        """The session of the selected item; None if none is selected."""
        row = self._list.selected()
        return row.address if row is not None else None

    @property
    def invocation_id(self) -> str | None:
        """The invocation of the selected item; None if none is selected."""
        row = self._list.selected()
        return row.item.invocation_id if row is not None else None

    def set_rows(self, rows: list[PendingRow], session: SessionAddress | None) -> None:
        """Replace the items. The selection and an unfinished answer are kept if their item remains.

        Args:
            rows: all pending items.
            session: the displayed session; an item of this session is selected if there is one.
        """
        selected = self._list.selected()
        here = [number for number, row in enumerate(rows) if row.address == session]
        if rows == self._rows and selected is not None and (selected.address == session or not here):
            return
        self._rows = list(rows)
        self._list.fill(rows)
        self._split.setSizePolicy(_TAKES_ROOM if rows else _TAKES_NO_ROOM)
        self._stack.setCurrentIndex(1 if rows else 0)
        names = [_identity(row) for row in rows]
        kept = names.index(_identity(selected)) if selected is not None and _identity(selected) in names else None
        chosen = kept if kept is not None and (kept in here or not here) else here[0] if here else 0 if rows else -1
        self._list.blockSignals(True)  # only the user may switch the window to another session
        self._list.select(chosen)
        self._list.blockSignals(False)
        self._show_form(rows[chosen] if chosen >= 0 else None)

    def select(self, item: PendingItem) -> None:
        """Select an item and focus its form."""
        for index, row in enumerate(self._rows):
            if row.item == item:
                self._list.select(index)
                self.form.focus()

    def focus(self) -> None:
        """Focus the form of the selected item, else the list; without items, the empty state."""
        if not self._rows:
            self._nothing.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        self._list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.form.focus()

    def set_schemas(self, schema_of: Callable[[SessionAddress, PendingItem], Mapping[str, Any] | None]) -> None:
        """Set the function that returns the JSON schema of the answer to a long-running call, or None."""
        self._schema_of = schema_of

    def refresh_form(self, *_: object) -> None:
        """Rebuild the form of the selected item, because its schema may be known now."""
        self._show_form(self._list.selected())

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """Disable answering and resuming, each for a reason; None enables it."""
        self.form.set_blocked(answering, resuming)

    def _on_current_changed(self, *_: object) -> None:
        row = self._list.selected()
        self._show_form(row)
        if row:
            self.session_requested.emit(row.address)

    def _show_form(self, row: PendingRow | None) -> None:
        self.form.show_item(row.item if row else None, self._schema_of(row.address, row.item) if row else None)
        self.form.setVisible(row is not None)


def _identity(row: PendingRow) -> tuple[object, ...]:
    """Return the part of a row that stays the same while its call reports progress."""
    return row.address, row.item.invocation_id, row.item.kind, row.item.call_id


class _UnfinishedList(QTreeWidget):
    """The list: one line per item, with its session, last checkpoint and last event."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "pending_list", "Pending items")
        self.setHeaderLabels(["Pending", "Session", "Last checkpoint", "Last event"])
        theme.keep_icon_size(self, 14)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        for column, mode in enumerate(("Stretch", "Interactive", "ResizeToContents", "ResizeToContents")):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode[mode])
        self._clock = QTimer(self, interval=30_000)
        self._clock.timeout.connect(self._show_times)
        self._clock.start()

    def fill(self, rows: list[PendingRow]) -> None:
        """Replace the lines and clear the selection."""
        self.blockSignals(True)
        self.clear()
        for row in rows:
            self._add(row)
        self._fit_columns()
        self.blockSignals(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give the session its width, and less if the item's text would be elided. Hide the times where they leave the item no room."""
        for column in (2, 3):
            self.setColumnHidden(column, False)  # a hidden heading has no size
        what, where, point, last = (max(self.sizeHintForColumn(column), self.header().sectionSizeHint(column)) for column in range(4))
        width = self.viewport().width() - _SLACK
        session = max(theme.px(_LEAST_SESSION), self.header().sectionSizeHint(1))
        least = min(what, theme.px(_LEAST_ITEM)) + session
        self.setColumnHidden(2, width < least + point + last)
        self.setColumnHidden(3, width < least + last)
        times = sum(size for column, size in ((2, point), (3, last)) if not self.isColumnHidden(column))
        room = width - what - times
        self.header().resizeSection(1, max(min(where, room), session))

    def _add(self, row: PendingRow) -> None:
        checkpoint = row.item.checkpoint
        where = " · ".join(filter(None, (row.session, row.database)))
        item = QTreeWidgetItem([visible(_what(row.item)), visible(where), "", ""])
        item.setIcon(0, theme.icon(*(SIGNS | REQUESTS)[row.item.status if row.item.kind == "interrupted" else row.item.kind][:2]))
        item.setData(0, _ROW, row)
        how = row.item.status if row.item.kind == "interrupted" else "waiting"
        item.setToolTip(0, plain_tooltip(f"Invocation {row.item.invocation_id}\n{how}: {row.item.reason}"))
        item.setToolTip(1, plain_tooltip(f"Session {row.address.key.session_id} of {row.address.key.app_name}\n{row.address.database}"))
        if checkpoint is not None:
            item.setToolTip(2, plain_tooltip(f"{checkpoint.agent}, {full_time(checkpoint.timestamp)}\nevent {checkpoint.event_id}"))
        item.setToolTip(3, plain_tooltip(full_time(row.item.last_time)))
        self.addTopLevelItem(item)
        self._show_time(item)

    def selected(self) -> PendingRow | None:
        """Return the current row, or None."""
        current = self.currentItem()
        row: PendingRow | None = current.data(0, _ROW) if current is not None else None
        return row

    def select(self, number: int) -> None:
        """Select a line; -1 clears the selection."""
        self.setCurrentIndex(self.model().index(number, 0))

    def _show_times(self) -> None:
        for item in self.findItems("", Qt.MatchFlag.MatchContains):
            self._show_time(item)

    def _show_time(self, item: QTreeWidgetItem) -> None:
        shown: PendingItem = item.data(0, _ROW).item
        now = time.time()
        point = shown.checkpoint
        item.setText(2, visible(f"{point.agent} · {ago(point.timestamp, now)}") if point is not None else "none")
        item.setText(3, ago(shown.last_time, now) if shown.last_time else "")


def _what(item: PendingItem) -> str:
    if item.kind == "interrupted":
        return f"{item.status}: {short_id(item.invocation_id)}"
    return f"{item.kind.replace('_', '-')}  {item.name}"
