"""Rows of a database table as they stand there, one page of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme

Index = QModelIndex | QPersistentModelIndex


class Value(Protocol):
    """A value of a row, long ones cut."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> Any: ...  # noqa: D102
    @property
    def length(self) -> int | None: ...  # noqa: D102
    @property
    def is_cut(self) -> bool: ...  # noqa: D102


class RawRowsModel(QAbstractTableModel):
    """One page of a table; nothing in it is interpreted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns: Sequence[tuple[str, str]] = ()
        self._numbers: Sequence[int] = ()
        self._rows: Sequence[Sequence[Value]] = ()

    def set_rows(self, columns: Sequence[tuple[str, str]], numbers: Sequence[int], rows: Sequence[Sequence[Value]]) -> None:
        """Show another page.

        Args:
            columns: name and declared type of each.
            numbers: of the rows.
            rows: the values by column.
        """
        self.beginResetModel()
        self._columns, self._numbers, self._rows = columns, numbers, rows
        self.endResetModel()

    def value(self, index: Index) -> Value | None:
        """Return what stands behind an index."""
        return self._rows[index.row()][index.column()] if index.isValid() else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many rows the page has."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many columns are shown."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's name and type, or a row's number."""
        if orientation == Qt.Orientation.Vertical:
            return f"{self._numbers[section]:,}" if role == Qt.ItemDataRole.DisplayRole else None
        name, declared = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(name[:60])
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(f"{visible(name)} {visible(declared)}".strip())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(self._rows[0][section] if self._rows else None)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a value as text, its colour, side, or a tooltip with more of it."""
        value = self.value(index)
        if value is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return shown(value)
        if role == Qt.ItemDataRole.ForegroundRole:
            return None if value.kind == "text" else _colour(value.kind)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(value)
        if role == Qt.ItemDataRole.ToolTipRole:
            more = f"\n{length_of(value)}; Enter opens it whole." if value.is_cut else ""
            return plain_tooltip(f"{shown(value)}{more}")
        return None


def _side(value: Value | None) -> int:
    """Return where a value stands in its cell, and the name above it."""
    side = Qt.AlignmentFlag.AlignRight if value is not None and value.kind in ("integer", "real") else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _colour(kind: str) -> QColor:
    return theme.color("dim" if kind in ("null", "blob") else "author1")


def shown(value: Value) -> str:
    """Return a value in one line; a BLOB by its length and its first bytes."""
    if value.kind == "null":
        return "NULL"
    if value.kind == "blob":
        return f"{length_of(value)}: {value.value.hex(' ')}{'…' if value.is_cut else ''}"
    if value.kind == "text":
        return visible(value.value) + ("…" if value.is_cut else "")
    return str(value.value)


def length_of(value: Value) -> str:
    """Return how long a text or BLOB is, in words."""
    unit = "byte" if value.kind == "blob" else "character"
    return f"{value.length or 0:,} {unit}{'' if value.length == 1 else 's'}"
