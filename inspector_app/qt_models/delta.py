"""What one event changed: a row a key, before and after, by scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.values import plain_tooltip, preview, visible
from runtime.sessions.state import SCOPES, Change, same_value

Index = QModelIndex | QPersistentModelIndex

CHANGE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `Change` behind a row."""

NOTHING = "–"
"""Stands for a value that there was not, or is not any more."""

NOT_RECORDED = "not recorded"
"""Stands for a value that nobody kept (databases that others wrote)."""


def ground(change: Change, column: int) -> str:
    """Return what ground a cell stands on: `removed` before, `added` after; none where there is no value or nothing changed."""
    if column == 0 or (change.kind == "changed" and same_value(change.before, change.after)):
        return ""
    if column == 1:
        return "removed" if change.kind in ("changed", "removed") else ""
    return "" if change.kind == "removed" else "added"


class DeltaModel(QAbstractTableModel):
    """The changes of one event, sorted by scope."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._changes: list[Change] = []
        self._title = "delta"

    def set_changes(self, changes: Sequence[Change], title: str = "delta") -> None:
        """Show another event's changes.

        Args:
            changes: in any order; within a scope the order is kept.
            title: heading of the key column, such as `delta of 142`.
        """
        self.beginResetModel()
        self._changes = sorted(changes, key=lambda change: SCOPES.index(change.scope))
        self._title = title
        self.endResetModel()

    def change(self, row: int) -> Change:
        """Return the change in a row."""
        return self._changes[row]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of changed keys."""
        return 0 if parent.isValid() else len(self._changes)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 3: key, before, after."""
        return 0 if parent.isValid() else 3

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self._title, "before", "after")[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, its change, or a tooltip with more of the value."""
        if not index.isValid():
            return None
        change = self._changes[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(change, index.column(), 200)
        if role == CHANGE_ROLE:
            return change
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(
                f"{change.key} ({change.scope}, {change.kind})" if index.column() == 0 else _text(change, index.column(), 1500)
            )
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 0:
            return f"{change.scope} key {visible(change.key[:200])} {change.kind}"
        return None


def _text(change: Change, column: int, limit: int) -> str:
    if column == 0:
        return visible(change.key[:200])
    if column == 1:
        if change.kind == "written":
            return NOT_RECORDED
        return NOTHING if change.kind == "added" else preview(change.before, limit)
    if change.kind == "removed":
        return NOTHING
    return "null (cleared)" if change.after is None else preview(change.after, limit)
