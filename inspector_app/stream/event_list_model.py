"""The event stream as a flat table: headers of invocations, their events, texts that are still growing, what is waited for.

Flat with rows of one height, folded in the model and not by hiding rows: trees and hidden rows stall on long sessions. Where things stand
is counted in `event_places`, what Qt asks is answered in `event_table`, streamed text is in `growing_rows`; here is what comes in.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QModelIndex, Signal

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.stream.streaming_rows import StreamingRows, stream_key
from runtime.events import Event

MOST_MET = 40
"""Events at a long session's end that the columns' widths are made for at once: about what a window shows."""


class EventListModel(StreamingRows):
    """A session's events, stored or live, in commit order.

    An *index* is an event's place in the session, from 0; a *position* its place among those that the filter lets through; a *row* is a
    line of the table. Of a long session's events only those are here that somebody looks at: the others' rows are filled when they come.

    Signals:
        events_appended (int): that many events were added at the end.
        regrouping, regrouped: rows are about to move, and have moved, while the events stay the same.
        shown_changed: another number of events meets the filter.
    """

    events_appended = Signal(int)
    regrouping = Signal()
    regrouped = Signal()
    shown_changed = Signal()

    def _clear(self) -> None:
        super()._clear()
        self._matches: Callable[[Event], bool] | None = None

    def set_events(self, events: Sequence[Event]) -> None:
        """Show another session: everything before is forgotten, held row and statuses included.

        Args:
            events: committed, in commit order.
        """
        self.beginResetModel()
        self._clear()
        for event in events:
            self._add(event)
        self._places.place_groups(0)
        self.endResetModel()

    def set_long(self, events: SessionEvents, groups: InvocationGroups) -> None:
        """Show a long session, of whose events most are not read.

        Args:
            events: grows by `append_events` of this model only (`SessionEvents.twin`).
            groups: all of its events, in order; the first ones may be `unread`, until `set_groups` tells more.
        """
        self.beginResetModel()
        self._clear()
        self._places.events = events
        for index in range(len(events) - 1, max(len(events) - MOST_MET, 0) - 1, -1):
            event = events.cached(index, request=False)
            if event is None:
                break
            self._meet(event)
        self._places.take_groups(groups)
        self.endResetModel()

    def set_groups(self, groups: InvocationGroups) -> None:
        """Tell which invocations the stored events of a long session belong to.

        Args:
            groups: of the events that `set_long` was given, in order.
        """
        self.regrouping.emit()
        shown = self._places.shown
        since = self._places.events.in_memory
        self.beginResetModel()
        self._places.take_groups(groups)
        for event in since:
            self._places.add(event)
        for run in sorted(self._places.tool_agent_runs, key=lambda run: run.place):
            group = self._places.all_groups[self._places.all_group_of(run.place)]
            group.insert_tool_agent_run(len(group.tool_agent_runs), run)
        self._places.place_groups(0)
        if shown is not None:
            self._places.show_only(shown)
        self.endResetModel()
        self.regrouped.emit()

    def refresh(self, first: int, end: int) -> None:
        """Show events that have come by now.

        Args:
            first, end: their places.
        """
        self._cache.pop(end, None)  # it knows now what it followed
        low, high = self._places.position_after(first - 1), self._places.position_after(end - 1) - 1
        if low <= high:
            top, last = self._places.starts[self._places.group_of(low)], self._places.group_of(high)
            bottom = self._places.starts[last] + self._places.groups[last].rows - 1
            self._changed(top, min(bottom, self._places.rows - 1))

    def let_go(self, events: SessionEvents) -> None:
        """Look at a session's first events from now on where they are stored; nothing that is shown changes.

        Args:
            events: as many as before, fewer of them at hand.
        """
        if self._places.events.is_long:
            self._places.events.evict(len(self._places.events.in_memory) - len(events.in_memory))
        else:
            self._places.events = events.twin()

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
            self._places.shown = None
            self._places.groups = self._places.all_groups
            self._places.place_groups(0)
        else:
            self._places.show_only(array("q"))
        self.endResetModel()
        self.regrouped.emit()
        self.shown_changed.emit()

    def add_hits(self, indices: Sequence[int]) -> None:
        """Show these events, too.

        Args:
            indices: of events that meet the filter, ascending.
        """
        if self._places.shown is None or not indices:
            return
        if self._places.shown and indices[0] <= self._places.shown[-1]:
            # Events that were committed meanwhile are shown already.
            self.regrouping.emit()
            self.beginResetModel()
            self._places.show_only(array("q", sorted({*self._places.shown, *indices})))
            self.endResetModel()
            self.regrouped.emit()
        else:
            self._insert_shown([(index, self._places.invocation_of(index), None) for index in indices])
        self.shown_changed.emit()

    # new events

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
            self._drop_growing(stream_key(event))
        self._insert(rest)
        self.events_appended.emit(len(events))

    def _replace_first_growing(self, event: Event) -> bool:
        """Turn the growing row right below the events into this event without moving a row; return False where that cannot be done."""
        last = self._places.groups[-1] if self._places.groups else None
        first_growing = next(iter(self._growing), None)
        if (
            self._places.shown is not None
            or last is None
            or last.folded
            or last.invocation_id != event.invocation_id
            or first_growing != stream_key(event)
        ):
            return False
        del self._growing[first_growing]
        row = self._places.rows
        self._add(event)
        self._places.rows += 1
        self._changed(row, row)
        self._changed(self._places.starts[-1], self._places.starts[-1])
        return True

    def _insert(self, events: list[Event]) -> None:
        """Add events, and the rows of those that are shown."""
        first = len(self._places.events)
        if self._places.shown is None:
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
        if self._places.groups:
            last = self._places.groups.invocations[-1]
            continuing = next((number for number, (_, name, _) in enumerate(new) if name != last), len(new))
        if continuing:
            folded = self._places.groups[-1].folded
            if not folded:
                self.beginInsertRows(QModelIndex(), self._places.rows, self._places.rows + continuing - 1)
            self._take_in(new[:continuing])
            if not folded:
                self._places.rows += continuing
                self.endInsertRows()
            self._changed(self._places.starts[-1], self._places.starts[-1])
        opening = new[continuing:]
        if opening:
            names = [name for _, name, _ in opening]
            headers = 1 + sum(1 for before, name in pairwise(names) if before != name)
            self.beginInsertRows(QModelIndex(), self._places.rows, self._places.rows + len(opening) + headers - 1)
            known = len(self._places.groups)
            self._take_in(opening)
            self._places.place_groups(known)
            self.endInsertRows()

    def _take_in(self, new: Sequence[tuple[int, str, Event | None]]) -> None:
        for index, invocation_id, event in new:
            if self._places.shown is not None:
                self._places.group_shown(index, invocation_id, event)
            else:
                assert event is not None
                self._add(event)

    def _add(self, event: Event) -> None:
        self.total_tokens += self._places.add(event)
        if self._meet(event):
            self._columns_changed.start()  # where a growing row becomes this event, no row is inserted
        self._places.events.append(event)

    # agents that run as tools

    def add_tool_agent_event(self, event: Event, call_ids: Sequence[str | None]) -> None:
        """Add an event of an agent that runs as a tool under the event that called it; nothing happens if that is not here.

        Args:
            event: a partial one lets the agent's growing row grow.
            call_ids: of the function calls that lead to it, the outermost first.
        """
        call_id = (call_ids[0] if call_ids else None) or ""
        if self._places.tool_agent_runs.find(event.id) is not None:
            return
        if event.partial:
            self.show_partial(event)
            return
        self._drop_growing(stream_key(event))
        run = self._places.tool_agent_runs.of_call(call_id) or self._begin_tool_agent_run(call_id)
        if run is None:
            return
        header = self._places.row_of_run(run)
        if header is None or run.folded:
            self._places.tool_agent_runs.add(run, event, len(call_ids))
        else:
            self._insert_tool_agent_row(
                run, header + 1 + len(run.events), lambda: self._places.tool_agent_runs.add(run, event, len(call_ids))
            )
        if header is not None:
            self._changed(header, header)
        if self._meet(event):
            self._columns_changed.start()

    def _begin_tool_agent_run(self, call_id: str) -> ToolAgentRun | None:
        """Make the header for a call whose event is here."""
        since = self._places.events.in_memory
        first = len(self._places.events) - len(since)
        for offset in range(len(since) - 1, -1, -1):
            name = next((call.name for call in since[offset].get_function_calls() if call.id == call_id), None)
            if name is not None:
                run = ToolAgentRun(call_id, name, first + offset)
                break
        else:
            return None
        self._places.tool_agent_runs.begin(run)
        group = self._places.all_groups[self._places.all_group_of(run.place)]
        number = sum(1 for other in group.tool_agent_runs if other.place <= run.place)
        if self._places.shown is not None or group.folded:
            group.insert_tool_agent_run(number, run)
            return run
        group_row = self._places.starts[self._places.group_of(run.place)]
        row = group_row + 2 + run.place - group.first + sum(other.rows for other in group.tool_agent_runs[:number])
        self._insert_tool_agent_row(run, row, lambda: group.insert_tool_agent_run(number, run))
        return run

    def _insert_tool_agent_row(self, run: ToolAgentRun, row: int, add: Callable[[], None]) -> None:
        self.beginInsertRows(QModelIndex(), row, row)
        add()
        self._places.place_groups(self._places.group_of(run.place))
        self.endInsertRows()

    def unfold_tool_agent_run(self, event_id: str) -> None:
        """Bring the row of an event of an agent that ran as a tool on show, unless a filter is set."""
        found = self._places.tool_agent_runs.find(event_id)
        if found is None or self._places.shown is not None:
            return
        self.set_folded(self._places.starts[self._places.group_of(found[0].place)], False)
        header = self._places.row_of_run(found[0])
        assert header is not None
        self.set_folded(header, False)

    # folding

    def set_folded(self, row: int, folded: bool) -> None:
        """Fold or unfold what stands under the header in `row`; other rows are left alone."""
        if not self.is_header(row):
            return
        group, place = self._places.at(row)
        what = group if place is None else place[0]  # type: ignore[index]  # a header is no event
        if what.folded == folded:
            return
        if folded:
            self.beginRemoveRows(QModelIndex(), row + 1, row + what.rows - 1)
            what.folded = True
        else:
            what.folded = False
            self.beginInsertRows(QModelIndex(), row + 1, row + what.rows - 1)
        self._places.place_groups(self._places.locate(row)[0])
        if folded:
            self.endRemoveRows()
        else:
            self.endInsertRows()
        self._changed(row, row)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every group."""
        self.beginResetModel()
        self._places.groups.fold_all(folded)
        self._places.place_groups(0)
        self.endResetModel()
