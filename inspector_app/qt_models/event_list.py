"""The event stream as a flat table: headers of invocations, their events, texts that are still growing, what is waited for.

Flat with rows of one height, folded in the model and not by hiding rows: trees and hidden rows stall on long sessions.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from inspector_app.presentation import tokens_of
from inspector_app.qt_models.event_rows import (
    AuthorColours,
    GrowingText,
    InvocationGroup,
    StreamRow,
    event_row,
    header_row,
    inner_event_row,
    inner_header_row,
    unread_row,
)
from inspector_app.qt_models.inner_runs import InnerRun, InnerRuns
from inspector_app.session_events import SessionEvents
from inspector_app.values import full_time, plain_tooltip, visible
from runtime.events import Event

Index = QModelIndex | QPersistentModelIndex
_ROW_CACHE_SIZE = 4096
_LONGEST_COUNTED = 64
"""Events of a group that are looked at for its header."""


# Put together once: Qt's enums are slow, and views ask for each cell.
_ENABLED = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_SELECTABLE = _ENABLED | Qt.ItemFlag.ItemIsSelectable


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

    An *index* is an event's place in the session, from 0; a *position* its place among those that the filter lets through; a *row* is a
    line of the table. Of a long session's events only those are here that somebody looks at: the others' rows are filled when they come.

    Attributes:
        total_tokens: counted by the model for all events; of a long session only for those that came since it was opened.
        most_tokens: of one event that has been seen.

    Signals:
        events_appended (int): that many events were added at the end.
        regrouping, regrouped: rows are about to move, and have moved, while the events stay the same.
        shown_changed: another number of events meets the filter.
        refreshed: an author, or a larger count of tokens, was seen for the first time.
    """

    events_appended = Signal(int)
    regrouping = Signal()
    regrouped = Signal()
    shown_changed = Signal()
    refreshed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._breakpoint_mark: Callable[[Event], str] | None = None
        # Not while a row is painted.
        self._columns_changed = QTimer(self)
        self._columns_changed.setSingleShot(True)
        self._columns_changed.timeout.connect(self.refreshed)
        self._clear()

    def _clear(self) -> None:
        self._events = SessionEvents()
        self._inner = InnerRuns()
        self._all_groups: list[InvocationGroup] = []
        self._groups = self._all_groups
        self._shown: array[int] | None = None
        self._matches: Callable[[Event], bool] | None = None
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
        self.total_tokens = self.most_tokens = 0

    # what is in it

    @property
    def event_count(self) -> int:
        """How many committed events there are."""
        return len(self._events)

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
        return self._events[index]

    @property
    def shown_count(self) -> int:
        """How many events meet the filter; all of them where there is none."""
        return len(self._events) if self._shown is None else len(self._shown)

    @property
    def is_filtered(self) -> bool:
        """Whether only events that meet a filter are shown."""
        return self._shown is not None

    def shown_after(self, index: int) -> int | None:
        """Return the next event after an index that is shown."""
        position = self._position_after(index)
        return self._index_of_position(position) if position < self.shown_count else None

    def shown_before(self, index: int) -> int | None:
        """Return the last event before an index that is shown."""
        position = self._position_after(index - 1) - 1
        return self._index_of_position(position) if position >= 0 else None

    def _position_after(self, index: int) -> int:
        return min(index + 1, len(self._events)) if self._shown is None else bisect_right(self._shown, index)

    def _index_of_position(self, position: int) -> int:
        return position if self._shown is None else self._shown[position]

    def _position_of_index(self, index: int) -> int | None:
        if self._shown is None:
            return index
        position = bisect_left(self._shown, index)
        return position if position < len(self._shown) and self._shown[position] == index else None

    def index_of(self, event_id: str) -> int | None:
        """Return the index of the event with this id, or None."""
        return self._events.index_of(event_id)

    def event_at(self, row: int) -> Event | None:
        """Return the event in a row (a growing text as one partial event), or None for headers and the waiting row."""
        index = self.index_at(row)
        if index is not None:
            return self._events.peek(index)
        inner = self.inner_at(row)
        if inner is not None:
            return inner
        number = row - self._group_rows
        if 0 <= number < len(self._growing):
            return list(self._growing.values())[number].event()
        return None

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        if not 0 <= row < self._group_rows:
            return None
        place = self._at(row)[1]
        return self._index_of_position(place) if isinstance(place, int) else None

    def inner_at(self, row: int) -> Event | None:
        """Return the event in a row if it is one of an agent that ran as a tool, or None."""
        place = self._at(row)[1] if 0 <= row < self._group_rows else None
        return place[0].events[place[1] - 1][0] if isinstance(place, tuple) and place[1] else None

    def row_of(self, event_id: str) -> int | None:
        """Return the row of an event, or None where there is none, or it is folded away or filtered out."""
        index = self._events.index_of(event_id)
        return None if index is None else self.row_of_index(index)

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, or None where its group is folded or the filter leaves it out."""
        position = self._position_of_index(index)
        if position is None:
            return None
        group = self._group_of(position)
        if self._groups[group].folded:
            return None
        return self._starts[group] + self._groups[group].offset_of(position)

    def row_of_inner(self, event_id: str) -> int | None:
        """Return the row of an event of an agent that ran as a tool, or None where there is none, or it is not on show."""
        found = self._inner.find(event_id)
        header = self._row_of_run(found[0]) if found is not None else None
        return None if found is None or header is None or found[0].folded else header + 1 + found[1]

    def _row_of_run(self, run: InnerRun) -> int | None:
        group = self._group_of(run.place)
        if self._shown is not None or self._groups[group].folded:
            return None
        return self._starts[group] + self._groups[group].offset_of_run(run)

    def header_row_of_index(self, index: int) -> int | None:
        """Return the row of the header that the event at an index stands under, None where the filter leaves it out."""
        position = self._position_of_index(index)
        return None if position is None else self._starts[self._group_of(position)]

    def is_header(self, row: int) -> bool:
        """Return whether a row can be folded: an invocation's header, or that of an agent called as a tool."""
        place = self._at(row)[1] if 0 <= row < self._group_rows else 0
        return place is None or (isinstance(place, tuple) and place[1] == 0)

    def stream_row(self, row: int) -> StreamRow:
        """Return a row ready to paint."""
        if row < self._group_rows:
            group, place = self._at(row)
            if place is None:
                self._count(group)
                return header_row(group, self._statuses.get(group.invocation_id, ""))
            return self._event_row(self._index_of_position(place)) if isinstance(place, int) else self._inner_row(*place)
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
            event = self._events.peek(index)
            if event is None:
                return unread_row(index)
            temp_keys = self._temp_counts.get(event.id, 0)
            mark = self._breakpoint_mark(event) if self._breakpoint_mark is not None else ""
            if self._meet(event):
                self._columns_changed.start()
            made = event_row(
                event, index, self._colours.role(event.author), event.id == self._held, temp_keys, self._colours.sign(event.author), mark
            )
            self._cache[index] = made
        return made

    def _inner_row(self, run: InnerRun, number: int) -> StreamRow:
        if number == 0:
            return inner_header_row(run, self._colours.role(run.agent))
        event, depth = run.events[number - 1]
        mark = self._breakpoint_mark(event) if self._breakpoint_mark is not None else ""
        role, sign = self._colours.role(event.author), self._colours.sign(event.author)
        return inner_event_row(event, depth, role, event.id == self._held, sign, mark)

    def _at(self, row: int) -> tuple[InvocationGroup, int | tuple[InnerRun, int] | None]:
        """Return the group that a row belongs to, and what is in it: None for the header, else see `InvocationGroup.at_offset`."""
        number, offset = self._locate(row)
        group = self._groups[number]
        return group, group.at_offset(offset) if offset else None

    def _locate(self, row: int) -> tuple[int, int]:
        """Return the group that a row belongs to and the row's place in it, 0 for the header."""
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def _group_of(self, position: int) -> int:
        return bisect_right(self._groups, position, key=lambda group: group.first) - 1

    def _count(self, group: InvocationGroup) -> None:
        """Find out a group's times and tokens, if its events are here."""
        if group.counted or group.unread or group.count > _LONGEST_COUNTED or self._groups is not self._all_groups:
            return
        events = [self._events.peek(index, ask=False) for index in range(group.first, group.first + group.count)]
        if None in events:
            return
        counted = InvocationGroup(group.invocation_id, group.first, group.continued)
        for event in events:
            assert event is not None
            counted.add(event)
        group.tokens, group.started, group.ended, group.counted = counted.tokens, counted.started, counted.ended, True

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

    def set_long(self, events: SessionEvents, groups: list[InvocationGroup]) -> None:
        """Show a long session, of whose events most are not read.

        Args:
            events: grows by `append_events` of this model only (`SessionEvents.twin`).
            groups: all of its events, in order; the first ones may be `unread`, until `set_groups` tells more.
        """
        self.beginResetModel()
        self._clear()
        self._events = events
        for index in range(len(events) - 1, -1, -1):
            event = events.peek(index, ask=False)
            if event is None:
                break
            self._meet(event)
        self._take_groups(groups)
        self.endResetModel()

    def set_groups(self, groups: list[InvocationGroup]) -> None:
        """Tell which invocations the stored events of a long session belong to.

        Args:
            groups: of the events that `set_long` was given, in order.
        """
        self.regrouping.emit()
        shown = self._shown
        since = self._events.at_hand
        self.beginResetModel()
        self._take_groups(groups)
        for index, event in enumerate(since, len(self._events) - len(since)):
            self._group_in(self._all_groups, event.invocation_id, index).add(event)
        for run in sorted(self._inner, key=lambda run: run.place):
            self._all_groups[self._all_group_of(run.place)].inner.append(run)
        self._place_groups(0)
        if shown is not None:
            self._show_only(shown)
        self.endResetModel()
        self.regrouped.emit()

    def _meet(self, event: Event) -> bool:
        """Take in what a column's width depends on; return whether that is something new."""
        tokens = tokens_of(event)
        new = tokens > self.most_tokens or not self._colours.knows(event.author)
        if new:
            self._colours.role(event.author)
            self.most_tokens = max(self.most_tokens, tokens)
        return new

    def _take_groups(self, groups: list[InvocationGroup]) -> None:
        self._all_groups = self._groups = groups
        self._invocations = {group.invocation_id for group in groups if not group.unread}
        self._place_groups(0)

    def refresh(self, first: int, end: int) -> None:
        """Show events that have come by now.

        Args:
            first, end: their places.
        """
        low, high = self._position_after(first - 1), self._position_after(end - 1) - 1
        if low <= high:
            top, bottom = (
                self._starts[self._group_of(low)],
                self._starts[self._group_of(high)] + self._groups[self._group_of(high)].rows - 1,
            )
            self._changed(top, min(bottom, self._group_rows - 1))

    # filtering

    def set_filter(self, matches: Callable[[Event], bool] | None) -> None:
        """Show only events that meet a filter: those that `add_hits` tells, and new ones for which `matches` is true.

        Args:
            matches: None shows all events again.
        """
        if matches is None and self._matches is None:
            return
        self.regrouping.emit()
        self.beginResetModel()
        self._matches = matches
        if matches is None:
            self._shown = None
            self._groups = self._all_groups
            self._place_groups(0)
        else:
            self._show_only(array("q"))
        self.endResetModel()
        self.regrouped.emit()
        self.shown_changed.emit()

    def add_hits(self, indices: Sequence[int]) -> None:
        """Show these events, too.

        Args:
            indices: of events that meet the filter, ascending.
        """
        if self._shown is None or not indices:
            return
        if self._shown and indices[0] <= self._shown[-1]:
            # Events that were committed meanwhile are shown already.
            self.regrouping.emit()
            self.beginResetModel()
            self._show_only(array("q", sorted({*self._shown, *indices})))
            self.endResetModel()
            self.regrouped.emit()
        else:
            self._insert_shown([(index, self._all_groups[self._all_group_of(index)].invocation_id, None) for index in indices])
        self.shown_changed.emit()

    def _show_only(self, shown: array[int]) -> None:
        self._shown = array("q")
        self._groups = []
        for index in shown:
            self._group_shown(index, self._all_groups[self._all_group_of(index)].invocation_id, None)
        self._place_groups(0)

    def _all_group_of(self, index: int) -> int:
        return bisect_right(self._all_groups, index, key=lambda group: group.first) - 1

    def _group_shown(self, index: int, invocation_id: str, event: Event | None) -> None:
        """Put an event that meets the filter at the end of those that do."""
        assert self._shown is not None
        group = self._group_in(self._groups, invocation_id, len(self._shown))
        self._shown.append(index)
        if event is not None:
            group.add(event)
        else:
            group.counted = False
            group.count += 1

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
        if (
            self._shown is not None
            or last is None
            or last.folded
            or last.invocation_id != event.invocation_id
            or first_growing != _stream_key(event)
        ):
            return False
        del self._growing[first_growing]
        row = self._group_rows
        self._add(event)
        self._group_rows += 1
        self._changed(row, row)
        self._changed(self._starts[-1], self._starts[-1])
        return True

    def _insert(self, events: list[Event]) -> None:
        """Add events, and the rows of those that are shown."""
        first = len(self._events)
        if self._shown is None:
            self._insert_shown([(index, event.invocation_id, event) for index, event in enumerate(events, first)])
            return
        for event in events:
            self._add(event)
        assert self._matches is not None
        shown = [(index, event.invocation_id, event) for index, event in enumerate(events, first) if self._matches(event)]
        self._insert_shown(shown)
        if shown:
            self.shown_changed.emit()

    def _insert_shown(self, new: Sequence[tuple[int, str, Event | None]]) -> None:
        """Add events that are shown, and their rows: first those that continue the last group, then all new groups at once."""
        if not new:
            return
        continuing = 0
        if self._groups:
            last = self._groups[-1].invocation_id
            continuing = next((number for number, (_, name, _) in enumerate(new) if name != last), len(new))
        if continuing:
            folded = self._groups[-1].folded
            if not folded:
                self.beginInsertRows(QModelIndex(), self._group_rows, self._group_rows + continuing - 1)
            self._take_in(new[:continuing])
            if not folded:
                self._group_rows += continuing
                self.endInsertRows()
            self._changed(self._starts[-1], self._starts[-1])
        opening = new[continuing:]
        if opening:
            names = [name for _, name, _ in opening]
            headers = 1 + sum(1 for before, name in pairwise(names) if before != name)
            self.beginInsertRows(QModelIndex(), self._group_rows, self._group_rows + len(opening) + headers - 1)
            known = len(self._groups)
            self._take_in(opening)
            self._place_groups(known)
            self.endInsertRows()

    def _take_in(self, new: Sequence[tuple[int, str, Event | None]]) -> None:
        for index, invocation_id, event in new:
            if self._shown is not None:
                self._group_shown(index, invocation_id, event)
            else:
                assert event is not None
                self._add(event)

    def _add(self, event: Event) -> None:
        group = self._group_in(self._all_groups, event.invocation_id, len(self._events))
        before = group.tokens
        group.add(event)
        self.total_tokens += group.tokens - before
        self._meet(event)
        self._events.append(event)

    def _group_in(self, groups: list[InvocationGroup], invocation_id: str, place: int) -> InvocationGroup:
        """Return the group that the next event belongs to."""
        if not groups or groups[-1].invocation_id != invocation_id or groups[-1].unread:
            continued = invocation_id in self._invocations and groups is self._all_groups
            groups.append(InvocationGroup(invocation_id, place, continued))
            self._invocations.add(invocation_id)
        return groups[-1]

    def _place_groups(self, first: int) -> None:
        """Compute where the groups from `first` on begin."""
        del self._starts[first:]
        row = self._starts[-1] + self._groups[first - 1].rows if first else 0
        for group in self._groups[first:]:
            self._starts.append(row)
            row += group.rows
        self._group_rows = row

    # agents that run as tools

    def add_inner(self, event: Event, call_ids: Sequence[str | None]) -> None:
        """Add an event of an agent that runs as a tool under the event that called it; nothing happens if that is not here.

        Args:
            event: a partial one lets the agent's growing row grow.
            call_ids: of the function calls that lead to it, the outermost first.
        """
        call_id = (call_ids[0] if call_ids else None) or ""
        if self._inner.find(event.id) is not None:
            return
        if event.partial:
            self.show_partial(event)
            return
        self._drop_growing(_stream_key(event))
        run = self._inner.of_call(call_id) or self._begin_inner(call_id)
        if run is None:
            return
        header = self._row_of_run(run)
        if header is None or run.folded:
            self._inner.add(run, event, len(call_ids))
        else:
            self._insert_inner(run, header + 1 + len(run.events), lambda: self._inner.add(run, event, len(call_ids)))
        if header is not None:
            self._changed(header, header)
        if self._meet(event):
            self._columns_changed.start()

    def _begin_inner(self, call_id: str) -> InnerRun | None:
        """Make the header for a call whose event is here."""
        since = self._events.at_hand
        first = len(self._events) - len(since)
        for offset in range(len(since) - 1, -1, -1):
            name = next((call.name for call in since[offset].get_function_calls() if call.id == call_id), None)
            if name is not None:
                run = InnerRun(call_id, name, first + offset)
                break
        else:
            return None
        self._inner.begin(run)
        group = self._all_groups[self._all_group_of(run.place)]
        number = sum(1 for other in group.inner if other.place <= run.place)
        if self._shown is not None or group.folded:
            group.inner.insert(number, run)
            return run
        row = self._starts[self._group_of(run.place)] + 2 + run.place - group.first + sum(other.rows for other in group.inner[:number])
        self._insert_inner(run, row, lambda: group.inner.insert(number, run))
        return run

    def _insert_inner(self, run: InnerRun, row: int, add: Callable[[], None]) -> None:
        self.beginInsertRows(QModelIndex(), row, row)
        add()
        self._place_groups(self._group_of(run.place))
        self.endInsertRows()

    def unfold_inner(self, event_id: str) -> None:
        """Bring the row of an event of an agent that ran as a tool on show, unless a filter is set."""
        found = self._inner.find(event_id)
        if found is None or self._shown is not None:
            return
        self.set_folded(self._starts[self._group_of(found[0].place)], False)
        header = self._row_of_run(found[0])
        assert header is not None
        self.set_folded(header, False)

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

    def set_breakpoint_marks(self, mark: Callable[[Event], str]) -> None:
        """Tell how to find out where breakpoints stop.

        Args:
            mark: event → `on`, `off` or an empty text, see `StreamRow.breakpoint`; asked for the rows that are painted.
        """
        self._breakpoint_mark = mark

    def refresh_breakpoints(self) -> None:
        """Ask again where breakpoints stop: they are others."""
        self._cache.clear()
        if self.rowCount():
            self._changed(0, self.rowCount() - 1)

    def set_temp_counts(self, counts: Mapping[str, int]) -> None:
        """Tell how many `temp:` keys events set, by event id, for the Δ column: stored events do not carry them."""
        self._temp_counts.update(counts)
        for event_id in counts:
            self._refresh(event_id)

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """Set how invocations ended, by invocation id: `running`, `finished`, `paused`, `interrupted` or `rewound`."""
        self._statuses.update(statuses)
        if self._group_rows:
            self._changed(0, self._group_rows - 1)  # a view repaints what it shows of them

    def set_folded(self, row: int, folded: bool) -> None:
        """Fold or unfold what stands under the header in `row`; other rows are left alone."""
        if not self.is_header(row):
            return
        group, place = self._at(row)
        what = group if place is None else place[0]  # type: ignore[index]  # a header is no event
        if what.folded == folded:
            return
        if folded:
            self.beginRemoveRows(QModelIndex(), row + 1, row + what.rows - 1)
            what.folded = True
        else:
            what.folded = False
            self.beginInsertRows(QModelIndex(), row + 1, row + what.rows - 1)
        self._place_groups(self._locate(row)[0])
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
        index = self._events.index_of(event_id)
        if index is not None:
            self._cache.pop(index, None)
        row = self.row_of_index(index) if index is not None else self.row_of_inner(event_id)
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
        return _SELECTABLE if index.row() < self._group_rows else _ENABLED

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
            marks = [
                "held here:" if row.held else "",
                "breakpoint:" if row.breakpoint == "on" else "",
                "edited by hand:" if row.edited else "",
            ]
            return " ".join(filter(None, [*marks, row.author, row.event_kind, row.summary]))
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
        if row.kind == "inner":
            return plain_tooltip(
                f"{row.author} runs as a tool: in a session of its own, which is stored nowhere. Its answer is the tool's result."
            )
        if row.kind not in ("event", "inner event"):
            return None
        if index.column() == Column.TIME:
            event = self.event_at(index.row())
            return plain_tooltip(full_time(event.timestamp)) if event else None
        if index.column() == Column.EVENT:
            edited = "\nChanged by hand: see custom metadata under Content." if row.edited else ""
            return plain_tooltip(f"{row.event_kind}: {row.summary}{edited}")
        if index.column() == Column.GUTTER and row.held:
            return plain_tooltip("The agent is held here: this event is committed, and the agent has not moved on.")
        if index.column() == Column.GUTTER:
            words = {"on": "A breakpoint stops here.", "off": "A breakpoint that is switched off would stop here."}
            return plain_tooltip(words.get(row.breakpoint, "Click to stop at events like this one (F9)."))
        if index.column() == Column.AUTHOR:
            return plain_tooltip(row.author)
        return None


def _stream_key(event: Event) -> tuple[str, str, str | None]:
    return event.invocation_id, event.author, event.branch


def _alignment(column: int) -> Qt.AlignmentFlag:
    right = column in (Column.NUMBER, Column.TOKENS)
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
