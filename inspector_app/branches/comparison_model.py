"""The table of a comparison: one row for two matching events, or for one without a match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation.event_summary import Presentation, describe
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme

if TYPE_CHECKING:
    from runtime.events import Event

Index = QModelIndex | QPersistentModelIndex

LEFT_NUMBER, LEFT, SIGN, RIGHT_NUMBER, RIGHT = range(5)

_HEADINGS = ("#", "Left", "", "#", "Right")
_SIGNS = {"same": "=", "changed": "≠", "left only": "−", "right only": "+"}
_GROUNDS = {"changed": "raised", "left only": "removed", "right only": "added"}


class PairRow(Protocol):
    """The positions of two matching events; one may be missing."""

    @property
    def left(self) -> int | None: ...  # noqa: D102
    @property
    def right(self) -> int | None: ...  # noqa: D102
    @property
    def same(self) -> bool: ...  # noqa: D102


class ComparisonModel(QAbstractTableModel):
    """The aligned events of two sessions."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[PairRow] = ()
        self._left: Sequence[Event] = ()
        self._right: Sequence[Event] = ()
        self._described: dict[tuple[bool, int], Presentation] = {}

    def set_rows(self, rows: Sequence[PairRow], left: Sequence[Event], right: Sequence[Event]) -> None:
        """Replace the comparison.

        Args:
            rows: the aligned pairs, in order.
            left, right: the events that the rows refer to by position.
        """
        self.beginResetModel()
        self._rows, self._left, self._right = rows, left, right
        self._described.clear()
        self.endResetModel()

    def places(self, row: int) -> tuple[int | None, int | None]:
        """Return the positions of a row's events, left and right."""
        return self._rows[row].left, self._rows[row].right

    def kind(self, row: int) -> str:
        """Return `same`, `changed`, `left only` or `right only` for a row."""
        pair = self._rows[row]
        if pair.left is None:
            return "right only"
        if pair.right is None:
            return "left only"
        return "same" if pair.same else "changed"

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return len(_HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _ALIGNMENTS[section]
        return _HEADINGS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text, colours, alignment or accessible text of a cell."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        kind = self.kind(row)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column, kind)
        if role == Qt.ItemDataRole.BackgroundRole and kind in _GROUNDS:
            is_empty = self.places(row)[column in (RIGHT_NUMBER, RIGHT)] is None and column != SIGN
            return theme.color("raised" if is_empty else _GROUNDS[kind])
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color(self._role(row, column, kind))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _ALIGNMENTS[column]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{kind}: {self._text(row, column, kind)}"
        return None

    def _text(self, row: int, column: int, kind: str) -> str:
        if column == SIGN:
            return _SIGNS[kind]
        is_right = column in (RIGHT_NUMBER, RIGHT)
        place = self.places(row)[is_right]
        if place is None:
            return ""
        if column in (LEFT_NUMBER, RIGHT_NUMBER):
            return f"{place + 1:,}"
        author = visible((self._right if is_right else self._left)[place].author[:40])
        shown = self._describe(is_right, place)
        return f"{author} · {shown.summary or shown.kind}"

    def _role(self, row: int, column: int, kind: str) -> str:
        if column == SIGN:
            return "dim" if kind == "same" else "accent"
        place = self.places(row)[column in (RIGHT_NUMBER, RIGHT)]
        if place is None or column in (LEFT_NUMBER, RIGHT_NUMBER):
            return "dim"
        return self._describe(column == RIGHT, place).role

    def _describe(self, is_right: bool, place: int) -> Presentation:
        found = self._described.get((is_right, place))
        if found is None:
            found = self._described[is_right, place] = describe((self._right if is_right else self._left)[place])
        return found


_ALIGNMENTS = {
    LEFT_NUMBER: Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    LEFT: Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    SIGN: Qt.AlignmentFlag.AlignCenter,
    RIGHT_NUMBER: Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    RIGHT: Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
}
