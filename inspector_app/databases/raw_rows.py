"""A page of uninterpreted rows of a database table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from inspector_app.presentation.values import counted, plain_tooltip, visible
from inspector_app.widgets import theme

Index = QModelIndex | QPersistentModelIndex


class Value(Protocol):
    """A value of a row; long values are cut."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> Any: ...  # noqa: D102
    @property
    def length(self) -> int | None: ...  # noqa: D102
    @property
    def is_cut(self) -> bool: ...  # noqa: D102


class RawRowsModel(QAbstractTableModel):
    """A table of one page of rows. Values are not interpreted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns: Sequence[tuple[str, str]] = ()
        self._numbers: Sequence[int] = ()
        self._rows: Sequence[Sequence[Value]] = ()

    def set_rows(self, columns: Sequence[tuple[str, str]], numbers: Sequence[int], rows: Sequence[Sequence[Value]]) -> None:
        """Replace the page.

        Args:
            columns: name and declared type of each column.
            numbers: numbers of the rows.
            rows: values of each row, in the order of the columns.
        """
        self.beginResetModel()
        self._columns, self._numbers, self._rows = columns, numbers, rows
        self.endResetModel()

    def value(self, index: Index) -> Value | None:
        """Return the value at an index, or None."""
        return self._rows[index.row()][index.column()] if index.isValid() else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows on the page."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's name, type and alignment, or a row's number."""
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
        """Return a value's text, colour, alignment or tooltip."""
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
            more = f"\n{length_of(value)}; press Enter to open it in full." if value.is_cut else ""
            return plain_tooltip(f"{shown(value)}{more}")
        return None


def _side(value: Value | None) -> int:
    """Return the alignment of a value and of its column's name."""
    side = Qt.AlignmentFlag.AlignRight if value is not None and value.kind in ("integer", "real") else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _colour(kind: str) -> QColor:
    return theme.color("dim" if kind in ("null", "blob") else "author1")


def shown(value: Value) -> str:
    """Return a value in one line; for a BLOB, its length and first bytes."""
    if value.kind == "null":
        return "NULL"
    if value.kind == "blob":
        return f"{length_of(value)}: {value.value.hex(' ')}{'…' if value.is_cut else ''}"
    if value.kind == "text":
        return visible(value.value) + ("…" if value.is_cut else "")
    return str(value.value)


def length_of(value: Value) -> str:
    """Return the length of a text or BLOB with its unit."""
    unit = "byte" if value.kind == "blob" else "character"
    return counted(value.length or 0, unit)
