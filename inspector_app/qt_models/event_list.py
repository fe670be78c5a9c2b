"""The event stream as a flat table: headers of invocations, their events, texts that are still growing, what is waited for.

Flat with rows of one height, folded in the model and not by hiding rows: trees and hidden rows stall on long sessions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from inspector_app.qt_models.event_rows import AuthorColours, GrowingText, InvocationGroup, StreamRow, event_row, header_row
from inspector_app.values import full_time, plain_tooltip, visible
from runtime.events import Event

Index = QModelIndex | QPersistentModelIndex
_ROW_CACHE_SIZE = 4096


class Column(IntEnum):
    """The columns of the stream."""

    GUTTER = 0
    NUMBER = 1
    TIME = 2
    AUTHOR = 3
    EVENT = 4
    DELTA = 5
    TOKENS = 6


HEADINGS = ("", "#", "time", "author", "event", "Δ", "tokens")


class EventListModel(QAbstractTableModel):
    """A session's events, stored or live, in commit order.

    An *index* is an event's place in the session, from 0; a *row* is a line of the table.

    Attributes:
        total_tokens: counted by the model for all events.

    Signals:
        events_appended (int): that many events were added at the end.
    """

    events_appended = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clear()

    def _clear(self) -> None:
        self._events: list[Event] = []
        self._index_by_id: dict[str, int] = {}
        self._groups: list[InvocationGroup] = []
        self._starts: list[int] = []
        self._group_rows = 0
        self._invocations: set[str] = set()
        self._colours = AuthorColours()
        self._growing: dict[tuple[str, str, str | None], GrowingText] = {}
        self._waiting: StreamRow | None = None
        self._held: str | None = None
        self._statuses: dict[str, str] = {}
        self._temp_counts: dict[str, int] = {}
        self._cache: dict[int, StreamRow] = {}
        self.total_tokens = 0

    # what is in it

    @property
    def event_count(self) -> int:
        """How many committed events there are."""
        return len(self._events)

    @property
    def authors(self) -> list[str]:
        """Everyone who spoke, in the order they first did; the user left out."""
        return self._colours.authors

    def committed(self, index: int) -> Event:
        """Return the event at an index."""
        return self._events[index]

    def index_of(self, event_id: str) -> int | None:
        """Return the index of the event with this id, or None."""
        return self._index_by_id.get(event_id)

    def event_at(self, row: int) -> Event | None:
        """Return the event in a row (a growing text as one partial event), or None for headers and the waiting row."""
        index = self.index_at(row)
        if index is not None:
            return self._events[index]
        number = row - self._group_rows
        if 0 <= number < len(self._growing):
            return list(self._growing.values())[number].event()
        return None

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        if not 0 <= row < self._group_rows:
            return None
        group, offset = self._locate(row)
        return None if offset == 0 else self._groups[group].first + offset - 1

    def row_of(self, event_id: str) -> int | None:
        """Return the row of an event, or None where there is none or its group is folded."""
        index = self._index_by_id.get(event_id)
        return None if index is None else self.row_of_index(index)

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, or None where its group is folded."""
        group = self._group_of(index)
        if self._groups[group].folded:
            return None
        return self._starts[group] + 1 + index - self._groups[group].first

    def header_row_of_index(self, index: int) -> int:
        """Return the row of the header that the event at an index stands under."""
        return self._starts[self._group_of(index)]

    def is_header(self, row: int) -> bool:
        """Return whether a row is an invocation's header."""
        return 0 <= row < self._group_rows and self._locate(row)[1] == 0

    def stream_row(self, row: int) -> StreamRow:
        """Return a row ready to paint."""
        if row < self._group_rows:
            group_number, offset = self._locate(row)
            group = self._groups[group_number]
            if offset == 0:
                return header_row(group, self._statuses.get(group.invocation_id, ""))
            return self._event_row(group.first + offset - 1)
        number = row - self._group_rows
        for position, (key, growing) in enumerate(self._growing.items()):
            if position == number:
                return growing.row(self._colours.role(key[1]))
        assert self._waiting is not None
        return self._waiting

    def _event_row(self, index: int) -> StreamRow:
        made = self._cache.get(index)
        if made is None:
            if len(self._cache) >= _ROW_CACHE_SIZE:
                self._cache.clear()
            event = self._events[index]
            temp_keys = self._temp_counts.get(event.id, 0)
            made = event_row(event, index, self._colours.role(event.author), event.id == self._held, temp_keys)
            self._cache[index] = made
        return made

    def _locate(self, row: int) -> tuple[int, int]:
        """Return the group that a row belongs to and the row's place in it, 0 for the header."""
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def _group_of(self, index: int) -> int:
        return bisect_right(self._groups, index, key=lambda group: group.first) - 1

    # filling it

    def set_events(self, events: Sequence[Event]) -> None:
        """Show another session: everything before is forgotten, held row and statuses included.

        Args:
            events: committed, in commit order.
        """
        self.beginResetModel()
        self._clear()
        for event in events:
            self._add(event)
        self._place_groups(0)
        self.endResetModel()

    def append_events(self, events: Sequence[Event]) -> None:
        """Add events at the end; a final event takes the place of the text that its author was streaming.

        Args:
            events: in commit order; partial ones are handed to `show_partial`.
        """
        batch: list[Event] = []
        for event in events:
            if event.partial:
                self._append_committed(batch)
                batch = []
                self.show_partial(event)
            else:
                batch.append(event)
        self._append_committed(batch)

    def _append_committed(self, events: list[Event]) -> None:
        if not events:
            return
        rest = events[1:] if self._replace_first_growing(events[0]) else events
        for event in rest:
            self._drop_growing(_stream_key(event))
        self._insert(rest)
        self.events_appended.emit(len(events))

    def _replace_first_growing(self, event: Event) -> bool:
        """Turn the growing row right below the events into this event without moving a row; return False where that cannot be done."""
        last = self._groups[-1] if self._groups else None
        first_growing = next(iter(self._growing), None)
        if last is None or last.folded or last.invocation_id != event.invocation_id or first_growing != _stream_key(event):
            return False
        del self._growing[first_growing]
        row = self._group_rows
        self._add(event)
        self._group_rows += 1
        self._changed(row, row)
        self._changed(self._starts[-1], self._starts[-1])
        return True

    def _insert(self, events: list[Event]) -> None:
        """Add events and their rows: first those that continue the last group, then all new groups at once."""
        if not events:
            return
        continuing = 0
        if self._groups:
            last = self._groups[-1].invocation_id
            continuing = next((number for number, event in enumerate(events) if event.invocation_id != last), len(events))
        if continuing:
            folded = self._groups[-1].folded
            if not folded:
                self.beginInsertRows(QModelIndex(), self._group_rows, self._group_rows + continuing - 1)
            for event in events[:continuing]:
                self._add(event)
            if not folded:
                self._group_rows += continuing
                self.endInsertRows()
            self._changed(self._starts[-1], self._starts[-1])
        opening = events[continuing:]
        if opening:
            headers = sum(1 for before, event in zip([None, *opening], opening, strict=False) if _opens_group(before, event))
            self.beginInsertRows(QModelIndex(), self._group_rows, self._group_rows + len(opening) + headers - 1)
            known = len(self._groups)
            for event in opening:
                self._add(event)
            self._place_groups(known)
            self.endInsertRows()

    def _add(self, event: Event) -> None:
        if not self._groups or self._groups[-1].invocation_id != event.invocation_id:
            continued = event.invocation_id in self._invocations
            self._groups.append(InvocationGroup(event.invocation_id, len(self._events), continued))
            self._invocations.add(event.invocation_id)
        before = self._groups[-1].tokens
        self._groups[-1].add(event)
        self.total_tokens += self._groups[-1].tokens - before
        self._colours.role(event.author)
        self._index_by_id[event.id] = len(self._events)
        self._events.append(event)

    def _place_groups(self, first: int) -> None:
        """Compute where the groups from `first` on begin."""
        del self._starts[first:]
        row = self._starts[-1] + self._groups[first - 1].rows if first else 0
        for group in self._groups[first:]:
            self._starts.append(row)
            row += group.rows
        self._group_rows = row

    # streamed text and the waiting row

    def show_partial(self, event: Event) -> None:
        """Let the author's growing row grow, or begin one at the end."""
        key = _stream_key(event)
        growing = self._growing.get(key)
        if growing is not None:
            growing.add(event)
            row = self._group_rows + list(self._growing).index(key)
            self._changed(row, row)
            return
        row = self._group_rows + len(self._growing)
        self._colours.role(event.author)
        self.beginInsertRows(QModelIndex(), row, row)
        growing = self._growing[key] = GrowingText()
        growing.add(event)
        self.endInsertRows()

    def clear_partials(self) -> None:
        """Take the growing rows away, because their run ended before their text did."""
        for key in list(self._growing):
            self._drop_growing(key)

    def _drop_growing(self, key: tuple[str, str, str | None]) -> None:
        if key in self._growing:
            row = self._group_rows + list(self._growing).index(key)
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._growing[key]
            self.endRemoveRows()

    def set_waiting(self, text: str | None, author: str = "") -> None:
        """Say in a last row what is being waited for.

        Args:
            text: one line, such as `waiting: held before pay`; None takes the row away.
            author: the agent that waits.
        """
        row = self._group_rows + len(self._growing)
        if text is None:
            if self._waiting is not None:
                self.beginRemoveRows(QModelIndex(), row, row)
                self._waiting = None
                self.endRemoveRows()
            return
        role = self._colours.role(author) if author else "dim"
        shown = StreamRow(
            "waiting", visible(text), author=visible(author), icon="ellipsis", role="warn", author_role=role, event_kind="waiting"
        )
        if self._waiting is not None:
            self._waiting = shown
            self._changed(row, row)
            return
        self.beginInsertRows(QModelIndex(), row, row)
        self._waiting = shown
        self.endInsertRows()

    # marks

    def set_held(self, event_id: str | None) -> None:
        """Mark the event at which the agent is held; None: at none."""
        before, self._held = self._held, event_id
        for marked in {before, event_id} - {None}:
            self._refresh(str(marked))

    def set_temp_counts(self, counts: Mapping[str, int]) -> None:
        """Tell how many `temp:` keys events set, by event id, for the Δ column: stored events do not carry them."""
        self._temp_counts.update(counts)
        for event_id in counts:
            self._refresh(event_id)

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """Set how invocations ended, by invocation id: `running`, `finished`, `paused`, `interrupted` or `rewound`."""
        self._statuses.update(statuses)
        for group, row in zip(self._groups, self._starts, strict=True):
            if group.invocation_id in statuses:
                self._changed(row, row)

    def set_folded(self, row: int, folded: bool) -> None:
        """Fold or unfold the group whose header is in `row`; other rows are left alone."""
        if not self.is_header(row):
            return
        number = self._locate(row)[0]
        group = self._groups[number]
        if group.folded == folded:
            return
        change = (QModelIndex(), row + 1, row + group.count)
        if folded:
            self.beginRemoveRows(*change)
        else:
            self.beginInsertRows(*change)
        group.folded = folded
        self._place_groups(number)
        if folded:
            self.endRemoveRows()
        else:
            self.endInsertRows()
        self._changed(row, row)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every group."""
        self.beginResetModel()
        for group in self._groups:
            group.folded = folded
        self._place_groups(0)
        self.endResetModel()

    def _refresh(self, event_id: str) -> None:
        index = self._index_by_id.get(event_id)
        if index is None:
            return
        self._cache.pop(index, None)
        row = self.row_of_index(index)
        if row is not None:
            self._changed(row, row)

    def _changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(Column) - 1))

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows, folded ones left out."""
        if parent.isValid():
            return 0
        return self._group_rows + len(self._growing) + (self._waiting is not None)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading and how it is aligned."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_alignment(section))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that events and headers can be selected, growing and waiting rows not."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsSelectable if index.row() < self._group_rows else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, alignment, tooltip or, for screen readers, its row in words."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(self.stream_row(index.row()), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_alignment(index.column()))
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(index)
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == Column.EVENT:
            row = self.stream_row(index.row())
            return " ".join(filter(None, ["held here:" if row.held else "", row.author, row.event_kind, row.summary]))
        return None

    def _text(self, row: StreamRow, column: int) -> str:
        if row.kind == "invocation":
            return "   ".join(filter(None, [row.summary, row.event_kind, row.tokens])) if column == Column.EVENT else ""
        texts = ("", row.number, row.time, row.author, row.summary, row.delta, row.tokens)
        return texts[column]

    def _tooltip(self, index: Index) -> str | None:
        row = self.stream_row(index.row())
        if row.kind == "invocation":
            return plain_tooltip(f"invocation {self._groups[self._locate(index.row())[0]].invocation_id}")
        if row.kind != "event":
            return None
        if index.column() == Column.TIME:
            event = self.event_at(index.row())
            return plain_tooltip(full_time(event.timestamp)) if event else None
        if index.column() == Column.EVENT:
            return plain_tooltip(f"{row.event_kind}: {row.summary}")
        if index.column() == Column.GUTTER and row.held:
            return plain_tooltip("The agent is held here: this event is committed, and the agent has not moved on.")
        if index.column() == Column.AUTHOR:
            return plain_tooltip(row.author)
        return None


def _stream_key(event: Event) -> tuple[str, str, str | None]:
    return event.invocation_id, event.author, event.branch


def _opens_group(before: Event | None, event: Event) -> bool:
    return before is None or before.invocation_id != event.invocation_id


def _alignment(column: int) -> Qt.AlignmentFlag:
    right = column in (Column.NUMBER, Column.TOKENS)
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
