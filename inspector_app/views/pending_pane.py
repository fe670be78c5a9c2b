"""What waits for a person: confirmations, long-running calls, credentials, interrupted invocations; each with its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app import theme
from inspector_app.cursor import SessionAddress
from inspector_app.presentation import short_id
from inspector_app.values import visible
from inspector_app.views.empty_state import EmptyState
from inspector_app.views.pending_form import PendingForm

if TYPE_CHECKING:
    from runtime.history.invocations import PendingItem

_ICONS = {
    "confirmation": ("hand", "warn"),
    "long_running": ("hourglass-half", "accent"),
    "credential": ("key", "warn"),
    "interrupted": ("triangle-exclamation", "bad"),
}
_ROW = Qt.ItemDataRole.UserRole
_TAKES_ROOM = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
_TAKES_NO_ROOM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
"""Of a page that is not on show: a stack is as high as its highest page, shown or not."""


@dataclass(frozen=True, slots=True)
class PendingRow:
    """One thing that waits, and where."""

    address: SessionAddress
    item: PendingItem


class PendingPane(QWidget):
    """The list, and the form of the selected item beside it.

    Signals:
        answered(PendingItem, dict): the call's response was given.
        progress_given(PendingItem, dict): how far a long-running call is was told; it stays open.
        resume_asked(PendingItem): the interrupted invocation shall go on.
        session_asked(SessionAddress): an item of another session was selected.
    """

    answered = Signal(object, object)
    progress_given = Signal(object, object)
    resume_asked = Signal(object)
    session_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pending_pane")
        self._rows: list[PendingRow] = []
        self._schema_of: Callable[[SessionAddress, PendingItem], Mapping[str, Any] | None] = lambda address, item: None
        self._list = QListWidget(self)
        self._list.setObjectName("pending_list")
        self._list.setAccessibleName("Pending")
        self._list.setIconSize(QSize(14, 14))
        self._list.currentItemChanged.connect(self._on_current_changed)
        self._list.itemClicked.connect(self._on_current_changed)  # it may be the selected one already, and another session on show
        self._form = PendingForm(self)
        self._form.answered.connect(self.answered)
        self._form.progress_given.connect(self.progress_given)
        self._form.resume_asked.connect(self.resume_asked)
        for keys, slot in (
            ("Ctrl+Return", self._form.accept),
            ("Ctrl+Backspace", self._form.reject),
            ("Ctrl+Shift+Return", self._form.report_progress),
        ):
            QShortcut(QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut).activated.connect(slot)
        self._split = split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self._list)
        split.addWidget(self._form)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        split.setSizes([2_000, 3_000])  # shares, not pixels: the form's hint alone would leave it a narrow strip
        split.setChildrenCollapsible(False)
        split.setSizePolicy(_TAKES_NO_ROOM)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(
            EmptyState("Nothing waits for you", "Confirmations, long-running calls and interrupted invocations appear here.")
        )
        self._stack.addWidget(split)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    @property
    def rows(self) -> list[PendingRow]:
        """What is shown."""
        return list(self._rows)

    @property
    def selected_session(self) -> SessionAddress | None:
        """Where the selected item waits."""
        current = self._list.currentItem()
        return current.data(_ROW).address if current is not None else None

    def set_rows(self, rows: list[PendingRow]) -> None:
        """Show what waits; the selection and a half-written answer stay where their item does."""
        if rows == self._rows:
            return
        selected = self._list.currentItem()
        kept = _identity(selected.data(_ROW)) if selected is not None else None
        self._rows = list(rows)
        self._list.blockSignals(True)
        self._list.clear()
        for row in rows:
            item = QListWidgetItem(theme.icon(*_ICONS[row.item.kind]), _title(row))
            item.setData(_ROW, row)
            self._list.addItem(item)
        self._list.blockSignals(False)
        self._split.setSizePolicy(_TAKES_ROOM if rows else _TAKES_NO_ROOM)
        self._stack.setCurrentIndex(1 if rows else 0)
        names = [_identity(row) for row in rows]
        self._list.setCurrentRow(names.index(kept) if kept in names else 0)

    def select(self, item: PendingItem) -> None:
        """Select an item, and put the caret into its form."""
        for index, row in enumerate(self._rows):
            if row.item == item:
                self._list.setCurrentRow(index)
                self._form.focus()

    def focus(self) -> None:
        """Put the caret where the selected item is answered."""
        self._form.focus()

    def set_schemas(self, schema_of: Callable[[SessionAddress, PendingItem], Mapping[str, Any] | None]) -> None:
        """Tell who knows what the answers to long-running calls look like, as JSON schemas."""
        self._schema_of = schema_of

    def refresh_form(self, *_: object) -> None:
        """Make the selected item's form again: its schema may be known now."""
        self._show_form(self._list.currentItem())

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """Say why nothing can be answered, or resumed, now; None where it can."""
        self._form.set_blocked(answering, resuming)

    def _on_current_changed(self, current: QListWidgetItem | None) -> None:
        row = self._show_form(current)
        if row:
            self.session_asked.emit(row.address)

    def _show_form(self, current: QListWidgetItem | None) -> PendingRow | None:
        row: PendingRow | None = current.data(_ROW) if current is not None else None
        self._form.show_item(row.item if row else None, self._schema_of(row.address, row.item) if row else None)
        return row


def _identity(row: PendingRow) -> tuple[object, ...]:
    """Return what stays the same of a row while its call reports progress."""
    return row.address, row.item.invocation_id, row.item.kind, row.item.call_id


def _title(row: PendingRow) -> str:
    item = row.item
    what = f"interrupted: {short_id(item.invocation_id)}" if item.kind == "interrupted" else f"{item.kind.replace('_', '-')}  {item.name}"
    return visible(f"{what}   ·   {short_id(row.address.key.session_id)}")
