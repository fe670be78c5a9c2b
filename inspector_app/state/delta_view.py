"""The changes of the selected event: key, before, after."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QVBoxLayout, QWidget

from inspector_app.state.delta import DeltaModel
from inspector_app.state.delta_delegate import DeltaDelegate
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import add_copy_action, as_json, as_python
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.filter_actions import add_filter_actions
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.row_menu import RowMenu, passing_menu
from inspector_app.widgets.value_delegate import ROW_HEIGHT
from runtime.sessions.state import Change, same_value

_KEYS_SHARE = 0.34  # maximum share of the width for the keys
_MEASURED = 100  # rows whose texts are measured for the columns' widths
_LEAST = 40  # minimum width of a column, pixels
_DOT = 30  # pixels before a key
_MOST_HIGH = 40  # rows shown without a scroll bar


class DeltaView(QWidget):
    """A view of a `DeltaModel` that is as high as its rows, or a text if nothing changed. A bar above names the compared event.

    Attributes:
        model: the changes.
        table: the view of the changes.
        changed: number of written keys.
        same: how many of them were written with the value that they had.
        is_comparing: whether they are the differences to another event's state.

    Signals:
        comparing_ended: the user stopped comparing.
        filter_requested (str): the user chose a filter expression.
    """

    comparing_ended = Signal()
    filter_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("delta_view")
        self.model = DeltaModel(self)
        self.table = named(QTableView(), "delta_table", "What the selected event changed")
        self.table.setProperty("bare", "true")
        self.table.setModel(self.model)
        self.table.setItemDelegate(DeltaDelegate(self.table))
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.setCornerButtonEnabled(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        RowMenu(self.table, lambda index: self.context_menu(index.row()))
        self.table.clicked.connect(self._on_clicked)
        for key in ("Return", "Enter"):
            shortcut = QShortcut(QKeySequence(key), self.table, context=Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda: self._on_clicked(self.table.currentIndex()))
        rows = self.table.verticalHeader()
        rows.setVisible(False)
        theme.keep_row_height(self.table, ROW_HEIGHT)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns = self.table.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setSectionsClickable(False)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        columns.setMinimumSectionSize(_LEAST)
        columns.setResizeContentsPrecision(_MEASURED)
        self.table.viewport().installEventFilter(self)
        self._empty = EmptyState("No key changed")
        self._empty.setProperty("card", "false")
        self._comparing = HintBar("comparing")
        self._comparing.accepted.connect(self.comparing_ended)
        self.is_comparing = False
        self.changed = self.same = 0
        theme.current().changed.connect(self._fit)
        laid_out(QVBoxLayout(self), self._comparing, self._empty, self.table, margins=0, spacing=0)

    def show_comparing(self, text: str | None) -> None:
        """Show what the state is compared with and a button to stop; None hides the bar."""
        self.is_comparing = text is not None
        if text is None:
            self._comparing.hide()
        else:
            self._comparing.suggest(text, "Stop comparing", "code-compare", "accent", closable=False)

    def set_changes(self, changes: Sequence[Change], title: str = "Delta", *, unread: bool = False) -> None:
        """Replace the changes.

        Args:
            changes, title, unread: as in `DeltaModel.set_changes`.
        """
        self.model.set_changes(changes, title, unread=unread)
        self.changed = len(changes)
        self.same = sum(change.kind == "changed" and same_value(change.before, change.after) for change in changes)
        self.table.setVisible(bool(changes))
        self._empty.setVisible(not changes)
        self._fit()

    def _fit(self) -> None:
        rows = min(self.model.rowCount(), _MOST_HIGH)
        height = self.table.horizontalHeader().sizeHint().height() + rows * theme.row_px(ROW_HEIGHT) + 6
        self.table.setFixedHeight(height)
        self._fit_columns()

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.isValid() and self.model.row(index.row()).offers_all:
            self.model.show_all()
            self._fit()

    def eventFilter(self, _viewport: QObject, event: QEvent) -> bool:
        """Distribute a new width of the table, which keeps its old size while the text is displayed in its place."""
        if event.type() == QEvent.Type.Resize:
            self._fit_columns()
        return False

    def _fit_columns(self) -> None:
        """Give the keys their width up to a share; the values share the rest, and a short value leaves its space to the long one."""
        width, header = self.table.viewport().width(), self.table.horizontalHeader()
        keys, before, after = (max(self.table.sizeHintForColumn(column), header.sectionSizeHint(column)) for column in range(3))
        keys = max(min(keys + _DOT, max(int(width * _KEYS_SHARE), width - before - after)), 100)
        rest = width - keys
        half = rest // 2
        if before < half < after:
            half = max(before, rest - after)
        elif after < half < before:
            half = min(before, rest - after)
        self.table.setColumnWidth(0, keys)
        self.table.setColumnWidth(1, half)

    def set_empty_text(self, title: str, hint: str = "") -> None:
        """Set the text shown without changes."""
        self._empty.set_text(title, hint)

    def context_menu(self, row: int) -> QMenu | None:
        """Return the menu of a row, or None if there is no such row."""
        if row < 0 or self.model.row(row).offers_all:
            return None
        change = self.model.change(row)
        menu = passing_menu(self)
        delta = {change.key: {"before": change.before, "after": change.after, "kind": change.kind}}
        add_copy_action(menu, "Copy change as JSON", as_json(delta))
        add_copy_action(menu, "Copy change as Python", as_python(as_json(delta)))
        add_copy_action(menu, "Copy value before", as_json(change.before))
        add_copy_action(menu, "Copy value after", as_json(change.after))
        add_copy_action(menu, "Copy path", f"state[{change.key!r}]")
        menu.addSeparator()
        add_filter_actions(menu, self.model.filters_at(row), self.filter_requested.emit)
        return menu
