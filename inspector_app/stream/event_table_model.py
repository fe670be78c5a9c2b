"""The event stream as Qt sees it: a flat table with rows of one height, made ready to paint when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from inspector_app.documents.invocation_groups import InvocationGroup
from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.event_summary import tokens_of
from inspector_app.stream.event_cells import HEADINGS, Column, alignment, cell_text, cell_tooltip, row_text
from inspector_app.stream.row_layout import RowLayout
from inspector_app.stream.stream_row import (
    StreamingText,
    StreamRow,
    event_row,
    header_row,
    tool_agent_event_row,
    tool_agent_header_row,
    unread_row,
)
from runtime.events import Event
from runtime.events.marks import begins_resumed_run
from runtime.history.key_writers import are_parallel

Index = QModelIndex | QPersistentModelIndex
_ROW_CACHE_SIZE = 4096
_LONGEST_COUNTED = 64
"""Events of a group that are looked at for its header."""
_MOST_BETWEEN = 32
"""Events of parallel branches between two that followed each other."""

# Put together once: Qt's enums are slow, and views ask for each cell.
_ENABLED = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_SELECTABLE = _ENABLED | Qt.ItemFlag.ItemIsSelectable


class EventTable(QAbstractTableModel):
    """A session's events, and what is marked on them. What fills it is in `EventListModel`.

    Args:
        colours: the authors' colours, shared with other views; its own if None.

    Attributes:
        total_tokens: counted by the model for all events; of a long session only for those that came since it was opened.
        most_tokens: of one event that has been seen.

    Signals:
        refreshed: an author, or a larger count of tokens, was seen for the first time.
    """

    refreshed = Signal()

    def __init__(self, parent: QObject | None = None, *, colours: AuthorColours | None = None) -> None:
        super().__init__(parent)
        self._colours = colours or AuthorColours()
        self._breakpoint_mark: Callable[[Event], str] | None = None
        self._temp_keys_of: Callable[[str], Collection[str]] | None = None
        # Not while a row is painted.
        self._columns_changed = QTimer(self)
        self._columns_changed.setSingleShot(True)
        self._columns_changed.timeout.connect(self.refreshed)
        self._clear()

    def _clear(self) -> None:
        self._places = RowLayout()
        self._colours.clear()
        self._growing: dict[tuple[str, str, str | None], StreamingText] = {}
        self._waiting: StreamRow | None = None
        self._held: str | None = None
        self._cache: dict[int, StreamRow] = {}
        self.total_tokens = self.most_tokens = 0

    # what is in it

    @property
    def event_count(self) -> int:
        """How many committed events there are."""
        return len(self._places.events)

    @property
    def authors(self) -> list[str]:
        """Everyone who spoke, in the order they first did; the user left out."""
        return self._colours.authors

    def role_of(self, author: str) -> str:
        """Return the colour role of somebody who spoke."""
        return self._colours.role(author)

    def committed(self, index: int) -> Event:
        """Return the event at an index.

        Raises:
            LookupError: it is not read yet.
        """
        return self._places.events[index]

    def committed_since(self, index: int) -> Sequence[Event]:
        """Return the events from an index on.

        Raises:
            LookupError: one of them is not read yet.
        """
        return self._places.events[index:]

    def index_of(self, event_id: str) -> int | None:
        """Return the index of the event with this id, or None."""
        return self._places.events.index_of(event_id)

    def event_at(self, row: int) -> Event | None:
        """Return the event in a row (a growing text as one partial event), or None for headers and the waiting row."""
        index = self.index_at(row)
        if index is not None:
            return self._places.events.cached(index)
        inside = self.tool_agent_event_at(row)
        if inside is not None:
            return inside
        number = row - self._places.rows
        if 0 <= number < len(self._growing):
            return list(self._growing.values())[number].event()
        return None

    def row_of(self, event_id: str) -> int | None:
        """Return the row of an event, or None where there is none, or it is folded away or filtered out."""
        index = self._places.events.index_of(event_id)
        return None if index is None else self.row_of_index(index)

    def stream_row(self, row: int) -> StreamRow:
        """Return a row ready to paint."""
        if row < self._places.rows:
            group, place = self._places.at(row)
            if place is None:
                self._count(group)
                return header_row(group, self._places.status_of(group.invocation_id))
            return self._event_row(self._places.index_of_position(place)) if isinstance(place, int) else self._tool_agent_row(*place)
        number = row - self._places.rows
        for position, (key, growing) in enumerate(self._growing.items()):
            if position == number:
                return growing.row(self._colours.role(key[1]), self._colours.sign(key[1]))
        assert self._waiting is not None
        return self._waiting

    def _event_row(self, index: int) -> StreamRow:
        made = self._cache.get(index)
        if made is None:
            if len(self._cache) >= _ROW_CACHE_SIZE:
                self._cache.clear()
            event = self._places.events.cached(index)
            if event is None:
                return unread_row(index)
            temp_keys = self._temp_keys_of(event.id) if self._temp_keys_of is not None else ()
            mark = self._breakpoint_mark(event) if self._breakpoint_mark is not None else ""
            if self._meet(event):
                self._columns_changed.start()
            role, sign = self._colours.role(event.author), self._colours.sign(event.author)
            made = event_row(event, index, role, event.id == self._held, temp_keys, sign, mark, self._took(event, index))
            self._cache[index] = made
        return made

    def _took(self, event: Event, index: int) -> float | None:
        """Return the seconds since the event that this one followed: the last of its invocation that is on no other, parallel branch."""
        if begins_resumed_run(event):
            return None  # before it nothing was done
        for place in range(index - 1, max(index - 1 - _MOST_BETWEEN, -1), -1):
            before = self._places.events.cached(place, request=False)
            if before is None or before.invocation_id != event.invocation_id:
                return None
            if not are_parallel(before.branch, event.branch):
                return event.timestamp - before.timestamp
        return None

    def _tool_agent_row(self, run: ToolAgentRun, number: int) -> StreamRow:
        if number == 0:
            return tool_agent_header_row(run, self._colours.role(run.agent))
        event, depth = run.events[number - 1]
        mark = self._breakpoint_mark(event) if self._breakpoint_mark is not None else ""
        role, sign = self._colours.role(event.author), self._colours.sign(event.author)
        return tool_agent_event_row(event, depth, role, event.id == self._held, sign, mark)

    def _count(self, group: InvocationGroup) -> None:
        """Find out a group's times and tokens, if its events are here."""
        if group.counted or group.unread or group.count > _LONGEST_COUNTED or self._places.groups is not self._places.all_groups:
            return
        events = [self._places.events.cached(index, request=False) for index in range(group.first, group.end)]
        known = [event for event in events if event is not None]
        if len(known) == len(events):
            group.count_events(known)

    def _meet(self, event: Event) -> bool:
        """Take in what a column's width depends on; return whether that is something new."""
        tokens = tokens_of(event)
        new = tokens > self.most_tokens or not self._colours.knows(event.author)
        if new:
            self._colours.role(event.author)
            self.most_tokens = max(self.most_tokens, tokens)
        return new

    # where it stands

    @property
    def shown_count(self) -> int:
        """How many events meet the filter; all of them where there is none."""
        return self._places.shown_count

    @property
    def is_filtered(self) -> bool:
        """Whether only events that meet a filter are shown."""
        return self._places.shown is not None

    def shown_after(self, index: int) -> int | None:
        """Return the next event after an index that is shown."""
        return self._places.shown_after(index)

    def shown_before(self, index: int) -> int | None:
        """Return the last event before an index that is shown."""
        return self._places.shown_before(index)

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        return self._places.index_at(row)

    def position_at(self, row: int) -> int:
        """Return the place, among the events that are shown, of the first one at or below a row."""
        return self._places.position_at(row)

    def position_of_index(self, index: int) -> int | None:
        """Return the place of an event among those that are shown, None where the filter leaves it out."""
        return self._places.position_of_index(index)

    def tool_agent_event_at(self, row: int) -> Event | None:
        """Return the event in a row if it is one of an agent that ran as a tool, or None."""
        return self._places.tool_agent_event_at(row)

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, or None where its group is folded or the filter leaves it out."""
        return self._places.row_of_index(index)

    def row_of_tool_agent_event(self, event_id: str) -> int | None:
        """Return the row of an event of an agent that ran as a tool, or None where there is none, or it is not on show."""
        return self._places.row_of_tool_agent_event(event_id)

    def header_row_of_index(self, index: int) -> int | None:
        """Return the row of the header that the event at an index stands under, None where the filter leaves it out."""
        return self._places.header_row_of_index(index)

    def is_header(self, row: int) -> bool:
        """Return whether a row can be folded: an invocation's header, or that of an agent called as a tool."""
        return self._places.is_header(row)

    # marks

    def set_held(self, event_id: str | None) -> None:
        """Mark the event at which the agent is held; None: at none."""
        before, self._held = self._held, event_id
        for marked in {before, event_id} - {None}:
            self._refresh(str(marked))

    def set_breakpoint_marks(self, mark: Callable[[Event], str]) -> None:
        """Tell how to find out where breakpoints stop.

        Args:
            mark: event → `on`, `off` or an empty text, see `StreamRow.breakpoint`; asked for the rows that are painted.
        """
        self._breakpoint_mark = mark

    def refresh_rows(self) -> None:
        """Ask again what is asked for each row, where breakpoints stop and what was set in `temp:`: something else is known by now."""
        self._cache.clear()
        if self.rowCount():
            self._changed(0, self.rowCount() - 1)

    def set_temp_keys(self, keys_of: Callable[[str], Collection[str]]) -> None:
        """Tell how to find out which `temp:` keys an event set, which stored events do not carry.

        Args:
            keys_of: event id → the keys, as far as they are known; asked for the rows that are painted.
        """
        self._temp_keys_of = keys_of

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """Set how invocations ended, by invocation id: `running`, `finished`, `paused`, `interrupted` or `rewound`."""
        if all(self._places.status_of(name) == status for name, status in statuses.items()):
            return
        self._places.set_statuses(statuses)
        if self._places.rows:
            self._changed(0, self._places.rows - 1)  # a view repaints what it shows of them

    def _refresh(self, event_id: str) -> None:
        index = self._places.events.index_of(event_id)
        if index is not None:
            self._cache.pop(index, None)
        row = self.row_of_index(index) if index is not None else self.row_of_tool_agent_event(event_id)
        if row is not None:
            self._changed(row, row)

    def _changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(Column) - 1))

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows, folded ones left out."""
        if parent.isValid():
            return 0
        return self._places.rows + len(self._growing) + (self._waiting is not None)

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
            return int(alignment(section))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that events and headers can be selected, growing and waiting rows not."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _SELECTABLE if index.row() < self._places.rows else _ENABLED

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, alignment, tooltip or, for screen readers, its row in words."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return cell_text(self.stream_row(index.row()), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(alignment(index.column()))
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(index.row(), index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == Column.EVENT:
            return row_text(self.stream_row(index.row()))
        return None

    def _tooltip(self, row: int, column: int) -> str | None:
        if row >= self._places.rows:
            return None
        event = self.event_at(row)
        invocation_id = self._places.groups.invocations[self._places.locate(row)[0]]
        return cell_tooltip(self.stream_row(row), column, invocation_id, event.timestamp if event is not None else None)
