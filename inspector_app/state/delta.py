"""The changes of one event: one row per key, with the values before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation import value_differences as places
from inspector_app.presentation.value_differences import Difference, MarkedText, differences, marked
from inspector_app.presentation.value_filters import filters_of_value, state_root
from inspector_app.presentation.values import plain_tooltip, preview, shown_key, visible
from runtime.sessions.state import SCOPES, Change, same_value

Index = QModelIndex | QPersistentModelIndex

MOST_SHOWN = 1_000  # changed keys shown until the user asks for all

CHANGE_ROLE = Qt.ItemDataRole.UserRole + 1  # the `Change` of a row
DIFFERENCE_ROLE = Qt.ItemDataRole.UserRole + 2  # the `MarkedText` of a cell whose text changed in part, or None
NOTHING = "–"  # shown where a value is absent
READING = "reading…"  # shown for earlier values that are not read yet
NOT_RECORDED = "not recorded"  # shown for earlier values that a foreign database did not store


@dataclass(frozen=True, slots=True)
class Row:
    """A changed key, or one place inside its value.

    Attributes:
        change: the key's change.
        place: the place; None for the row of the key.
        more: whether this row states that further places are not shown.
        offers_all: whether this row offers the changes that are not shown yet.
    """

    change: Change
    place: Difference | None = None
    more: bool = False
    offers_all: bool = False


def ground(row: Row, column: int) -> str:
    """Return the background role of a cell: `removed` before, `added` after; empty without a value or a change."""
    change, place = row.change, row.place
    if row.more or row.offers_all:
        return ""
    if place is not None:
        if column == 0:
            return ""
        return ("" if place.before is places.NOTHING else "removed") if column == 1 else "" if place.after is places.NOTHING else "added"
    if column == 0 or (change.kind == "changed" and same_value(change.before, change.after)):
        return ""
    if column == 1:
        return "removed" if change.kind in ("changed", "removed") else ""
    return "" if change.kind == "removed" else "added"


class DeltaModel(QAbstractTableModel):
    """A table of an event's changes, sorted by scope; below a changed dict or list, the places that differ."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._rest: list[Change] = []
        self._title = "Delta"
        self._unknown = NOT_RECORDED

    def set_changes(self, changes: Sequence[Change], title: str = "Delta", *, unread: bool = False) -> None:
        """Replace the changes.

        Args:
            changes: in any order; the order within a scope is kept.
            title: title of the key column, such as `Delta of 142`.
            unread: the earlier values of written keys are being read.
        """
        self.beginResetModel()
        ordered = sorted(changes, key=lambda change: SCOPES.index(change.scope)) if len(changes) > 1 else list(changes)
        shown = len(ordered) if len(ordered) <= MOST_SHOWN + 1 else MOST_SHOWN
        self._rest = ordered[shown:]
        self._rows = [row for change in ordered[:shown] for row in _rows(change)]
        if self._rest:
            place = Difference(f"Show all {len(ordered):,} keys", places.NOTHING, places.NOTHING)
            self._rows.append(Row(self._rest[0], place, offers_all=True))
        self._title = title
        self._unknown = READING if unread else NOT_RECORDED
        self.endResetModel()

    def show_all(self) -> None:
        """Replace the last row, which offers it, by the changes that are not shown yet."""
        last = len(self._rows) - 1
        self.beginRemoveRows(QModelIndex(), last, last)
        self._rows.pop()
        self.endRemoveRows()
        rows = [row for change in self._rest for row in _rows(change)]
        self._rest = []
        self.beginInsertRows(QModelIndex(), last, last + len(rows) - 1)
        self._rows += rows
        self.endInsertRows()

    def change(self, row: int) -> Change:
        """Return the change in a row."""
        return self._rows[row].change

    def row(self, row: int) -> Row:
        """Return the content of a row."""
        return self._rows[row]

    def filters_at(self, row: int) -> list[tuple[str, str]]:
        """Return filters that match events with the same change, as pairs of label and filter expression."""
        shown = self._rows[row]
        path, value = state_root(shown.change.key), shown.change.after
        if shown.place is not None:
            path, value = path + shown.place.path, shown.place.after
        return [] if shown.more or shown.offers_all or value is places.NOTHING or "\\" in path else filters_of_value(path, value)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of changed keys and places."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 3: key, before, after."""
        return 0 if parent.isValid() else 3

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self._title, "Before", "After")[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a cell, its change, its marked difference, its tooltip or its accessible text."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        change = row.change
        if role == DIFFERENCE_ROLE:
            return _marked(row, index.column())
        if row.place is not None:
            return _place_data(row.place, row, change, index.column(), role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(change, index.column(), 200)
        if role == CHANGE_ROLE:
            return change
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(
                f"{change.key} ({change.scope}, {change.kind})" if index.column() == 0 else self._text(change, index.column(), 1500)
            )
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 0:
            return f"{change.scope} key {visible(change.key[:200])} {change.kind}"
        return None

    def _text(self, change: Change, column: int, limit: int) -> str:
        if column == 0:
            return shown_key(change.key)
        if column == 1:
            if change.kind == "written":
                return self._unknown
            return NOTHING if change.kind == "added" else preview(change.before, limit)
        if change.kind == "removed":
            return NOTHING
        return "null (cleared)" if change.after is None else preview(change.after, limit)


def _rows(change: Change) -> list[Row]:
    rows = [Row(change)]
    if change.kind == "changed" and isinstance(change.before, (dict, list)) and type(change.before) is type(change.after):
        found, more = differences(change.before, change.after)
        rows += [Row(change, place) for place in found]
        if more:
            rows.append(Row(change, Difference("…", places.NOTHING, places.NOTHING), more=True))
    return rows


def _marked(row: Row, column: int) -> MarkedText | None:
    before, after = (row.place.before, row.place.after) if row.place else (row.change.before, row.change.after)
    if column == 0 or (row.place is None and row.change.kind != "changed"):
        return None
    if not (isinstance(before, str) and isinstance(after, str)) or before == after:
        return None
    return marked(before, after)[column - 1]


def _place_data(place: Difference, row: Row, change: Change, column: int, role: int) -> Any:
    value = (None, place.before, place.after)[column]
    if row.offers_all:
        return place.path if column == 0 and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
    if row.more:
        text = "… more places, see State" if column == 0 else ""
    elif column == 0:
        text = visible(place.path[:200])
    else:
        text = NOTHING if value is places.NOTHING else preview(value, 200)
    if role == Qt.ItemDataRole.DisplayRole:
        return text
    if role == CHANGE_ROLE:
        return change
    if role == Qt.ItemDataRole.ToolTipRole:
        return plain_tooltip(f"{change.key}{place.path}" if column == 0 else text if value is places.NOTHING else preview(value, 1500))
    if role == Qt.ItemDataRole.AccessibleTextRole and column == 0:
        return f"inside {visible(change.key[:200])}: {text}"
    return None
