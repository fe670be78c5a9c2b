"""The event stream as Qt sees it: a flat table of invocations' headers, events and streaming texts.

The table is flat, its rows have one height, and folding happens in the model: trees and hidden rows stall on long sessions.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.tool_agent_runs import ToolAgentRun
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.stream.dragged_event import DRAGGED_AS, DraggedEvent
from inspector_app.stream.event_cells import HEADINGS, Column, alignment, cell_text, cell_tooltip, row_text
from inspector_app.stream.row_factory import RowFactory
from inspector_app.stream.row_layout import RowLayout
from inspector_app.stream.stream_row import StreamRow
from inspector_app.stream.streaming_rows import StreamingRows, StreamKey, stream_key

if TYPE_CHECKING:
    from runtime.events import Event
    from runtime.sessions.recorded_facts import RecordedInnerEvent

Index = QModelIndex | QPersistentModelIndex

MOST_NOTED = 40  # events at a long session's end that the columns are fitted to at once: about what a window shows

# Put together once: Qt's enums are slow, and views ask for each cell.
_ENABLED = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_SELECTABLE = _ENABLED | Qt.ItemFlag.ItemIsSelectable
_DRAGGABLE = _SELECTABLE | Qt.ItemFlag.ItemIsDragEnabled


class EventTableModel(QAbstractTableModel):
    """Adapts a session document to Qt. The document notifies the model, which tells Qt which rows come, change and go.

    An *index* is an event's place in the session, from 0; a *position* its place among those that pass the filter; a *row* is a line of
    the table. Of a long session, only events that are displayed are read; the others' rows are filled when their page arrives.

    Args:
        colours: the authors' colours, shared with other views; its own if None.

    Attributes:
        make: makes the rows; what it asks for each row is set by the owners of it.

    Signals:
        events_appending (int), events_appended (int): that many events are about to be, and have been, added at the end.
        regrouping, regrouped: rows are about to move, and have moved, while the events stay the same.
        shown_changed: another number of events passes the filter.
        refreshed: an author, or a larger count of tokens, was seen for the first time.
        page_read: a page of stored events was read, and its rows are filled.
    """

    events_appending = Signal(int)
    events_appended = Signal(int)
    regrouping = Signal()
    regrouped = Signal()
    shown_changed = Signal()
    refreshed = Signal()
    page_read = Signal()

    def __init__(self, parent: QObject | None = None, *, colours: AuthorColours | None = None) -> None:
        super().__init__(parent)
        # A single shot: no width changes while a row is painted.
        self._columns_changed = QTimer(self, singleShot=True)
        self._columns_changed.timeout.connect(self.refreshed)
        self.make = RowFactory(colours or AuthorColours(), self._columns_changed.start)
        self._document: SessionDocument | None = None
        self._dragged: DraggedEvent | None = None  # file managers copy its file after the drop
        self._clear()

    def _clear(self) -> None:
        document = self._document
        self._events = document.events if document is not None else SessionEvents()
        self._layout = RowLayout(document.groups if document is not None else None, len(self._events))
        self._streaming = StreamingRows()
        self._matches: Callable[[Event], bool] | None = None
        self.make.reset(self._events)

    # the document

    @property
    def document(self) -> SessionDocument | None:
        """The displayed session."""
        return self._document

    def set_document(self, document: SessionDocument | None) -> None:
        """Display another session, without filter, streaming rows or held row; None displays nothing."""
        self.beginResetModel()
        if self._document is not None:
            self._document.appended.remove(self._on_appended)
            self._document.updated.remove(self._on_updated)
            self._document.regrouped.remove(self._on_regrouped)
            self._document.statuses_changed.remove(self._on_statuses_changed)
        self._document = document
        self._clear()
        if document is not None:
            self._note_last(document.events)
            for event in document.events.in_memory[-1:]:
                self._streaming.end(event)
            document.appended.add(self._on_appended)
            document.updated.add(self._on_updated)
            document.regrouped.add(self._on_regrouped)
            document.statuses_changed.add(self._on_statuses_changed)
        self.endResetModel()

    def _note_last(self, events: SessionEvents) -> None:
        if not events.is_long:
            self.make.note_all(events.in_memory)
            return
        for index in range(len(events) - 1, max(len(events) - MOST_NOTED, 0) - 1, -1):
            last = events.cached(index, request=False)
            if last is None:
                break
            self.make.note(last)

    def _on_appended(self, first: int, events: Sequence[Event]) -> None:
        """Add the rows of new events; a final event replaces the text that its author was streaming."""
        self.events_appending.emit(len(events))
        if self.make.note_all(events):
            self._columns_changed.start()  # where a text becomes this event, no row is inserted
        for event in events:
            self._streaming.end(event)
        replaces = self._replace_first_text(events[0], first)
        if self._streaming.keys:
            for event in events[replaces:]:
                self._drop_text(stream_key(event))
        end = first + len(events)
        if self._matches is None:
            self._insert_grown(end)
        else:
            hits = [(index, event) for index, event in enumerate(events, first) if self._matches(event)]
            for index, event in hits:
                self._layout.add_hit(index, event)
            self._insert_grown(end)
            if hits:
                self.shown_changed.emit()
        self.events_appended.emit(len(events))

    def _replace_first_text(self, event: Event, index: int) -> bool:
        """Turn the text right below the events into this event without moving a row; return False where that cannot be done."""
        layout, key = self._layout, stream_key(event)
        last = len(layout.starts) - 1
        if layout.is_filtered or last < 0 or layout.groups[last].folded or layout.group_of(index) != last:
            return False
        if self._streaming.keys[:1] != [key]:
            return False
        self._streaming.remove(key)
        row = layout.place_next()
        self._changed(row, row)
        self._changed(layout.starts[last], layout.starts[last])
        return True

    def _insert_grown(self, count: int) -> None:
        """Insert the rows by which the displayed groups have grown.

        Args:
            count: number of events now.
        """
        layout = self._layout
        last = len(layout.starts) - 1
        rows = layout.grown_rows()
        if rows > layout.rows:
            self.beginInsertRows(QModelIndex(), layout.rows, rows - 1)
            layout.count = count
            layout.place_new_groups()
            self.endInsertRows()
        else:
            layout.count = count
        if last >= 0:
            self._changed(layout.starts[last], layout.starts[last])

    def _on_updated(self, first: int, end: int) -> None:
        """Fill the rows of a page that was read."""
        layout = self._layout
        self.make.forget(end)  # the event that it followed is known now
        low, high = layout.position_after(first - 1), layout.position_after(end - 1) - 1
        if low <= high:
            top, last = layout.starts[layout.group_of(low)], layout.group_of(high)
            self._changed(top, min(layout.starts[last] + layout.groups[last].rows, layout.rows) - 1)
        self.page_read.emit()

    def _on_regrouped(self) -> None:
        document = self._document
        assert document is not None
        self.regrouping.emit()
        shown = self._layout.shown
        self.beginResetModel()
        self._layout.set_groups(document.groups)
        self.make.forget_groups()
        if shown is not None:
            self._layout.show_only(shown)
        self.endResetModel()
        self.regrouped.emit()

    def _on_statuses_changed(self) -> None:
        if self._layout.rows:
            self._changed(0, self._layout.rows - 1)  # a view repaints the headers in it

    # filtering

    def set_filter(self, matches: Callable[[Event], bool] | None) -> None:
        """Display only events that pass a filter: those passed to `add_hits`, and new ones for which `matches` is true.

        Args:
            matches: None displays all events again.
        """
        if matches is None and self._matches is None:
            return
        self.regrouping.emit()
        self.beginResetModel()
        self._matches = matches
        if matches is None:
            self._layout.show_all()
        else:
            self._layout.show_only(array("q"))
        self.endResetModel()
        self.regrouped.emit()
        self.shown_changed.emit()

    def add_hits(self, indices: Sequence[int]) -> None:
        """Display these events, too.

        Args:
            indices: of events that pass the filter, ascending.
        """
        shown = self._layout.shown
        if shown is None or not indices:
            return
        if shown and indices[0] <= shown[-1]:
            # Events that were committed meanwhile are displayed already.
            self.regrouping.emit()
            self.beginResetModel()
            self._layout.show_only(array("q", sorted({*shown, *indices})))
            self.endResetModel()
            self.regrouped.emit()
        else:
            for index in indices:
                self._layout.add_hit(index, None)
            self._insert_grown(self._layout.count)
        self.shown_changed.emit()

    # the rows below the last event

    def show_partial(self, event: Event) -> None:
        """Let the author's streaming row grow, or begin one at the end."""
        if self._streaming.is_late(event):
            return
        number = self._streaming.number_of(stream_key(event))
        if number is not None:
            self._streaming.add(event)
            row = self._layout.rows + number
            self._changed(row, row)
            return
        row = self._layout.rows + len(self._streaming)
        self.make.colours.role(event.author)
        self.beginInsertRows(QModelIndex(), row, row)
        self._streaming.add(event)
        self.endInsertRows()

    def clear_partials(self) -> None:
        """Remove the streaming rows, because their run ended before their text did."""
        for key in self._streaming.keys:
            self._drop_text(key)

    def _drop_text(self, key: StreamKey) -> None:
        number = self._streaming.number_of(key)
        if number is not None:
            row = self._layout.rows + number
            self.beginRemoveRows(QModelIndex(), row, row)
            self._streaming.remove(key)
            self.endRemoveRows()

    # agents that run as tools

    def add_tool_agent_event(self, event: Event, call_ids: Sequence[str | None]) -> None:
        """Add an event of an agent that runs as a tool below the event that called it, if that is in memory.

        Args:
            event: a partial one lets the agent's streaming row grow.
            call_ids: ids of the function calls that lead to it, the outermost first.
        """
        runs = self._layout.tool_agent_runs
        if runs.find(event.id) is not None:
            return
        if event.partial:
            self.show_partial(event)
            return
        self._streaming.end(event)
        self._drop_text(stream_key(event))
        call_id = (call_ids[0] if call_ids else None) or ""
        run = runs.of_call(call_id) or self._begin_run(call_id)
        if run is None:
            return
        header = self._layout.row_of_run(run)
        if header is None or run.folded:
            runs.add(run, event, len(call_ids))
        else:
            self._insert_into_run(run, header + 1 + len(run.events), lambda: runs.add(run, event, len(call_ids)))
        if header is not None:
            self._changed(header, header)
        if self.make.note(event):
            self._columns_changed.start()

    def add_tool_agent_runs(self, recorded: Sequence[RecordedInnerEvent]) -> None:
        """Add recorded events of agents that ran as tools below the events that called them, if these are in memory."""
        layout, events = self._layout, self._events
        runs = layout.tool_agent_runs
        calls = {
            (event.invocation_id, call.id): (place, call.name or "?")
            for place, event in enumerate(events.in_memory, events.stored_count)
            for call in event.get_function_calls()
        }
        new = []
        for one in recorded:
            place = (one.invocation_id, one.call_ids[0] if one.call_ids else None)
            is_known = runs.find(one.event.id) if one.event is not None else runs.of_call(place[1] or "", place[0])
            if is_known is None and place in calls:
                new.append((one, *calls[place]))
        if not new:
            return
        self.regrouping.emit()
        self.beginResetModel()
        for one, index, name in new:
            call_id = one.call_ids[0] or ""
            run = runs.of_call(call_id, one.invocation_id)
            if run is None:
                run = ToolAgentRun(one.invocation_id, call_id, name, index)
                runs.begin(run)
                group = layout.all_groups[layout.all_group_of(index)]
                group.insert_tool_agent_run(sum(1 for other in group.tool_agent_runs if other.place <= index), run)
            if one.event is not None:
                runs.add(run, one.event, len(one.call_ids))
                self.make.note(one.event)
        layout.place_groups(0)
        self.endResetModel()
        self.regrouped.emit()

    def _begin_run(self, call_id: str) -> ToolAgentRun | None:
        """Make the header of a call whose event is in memory."""
        layout, in_memory = self._layout, self._events.in_memory
        for offset in range(len(in_memory) - 1, -1, -1):
            name = next((call.name for call in in_memory[offset].get_function_calls() if call.id == call_id), None)
            if name is not None:
                run = ToolAgentRun(in_memory[offset].invocation_id, call_id, name, self._events.stored_count + offset)
                break
        else:
            return None
        layout.tool_agent_runs.begin(run)
        group = layout.all_groups[layout.all_group_of(run.place)]
        number = sum(1 for other in group.tool_agent_runs if other.place <= run.place)
        if layout.is_filtered or group.folded:
            group.insert_tool_agent_run(number, run)
            return run
        group_row = layout.starts[layout.group_of(run.place)]
        row = group_row + 2 + run.place - group.first + sum(other.rows for other in group.tool_agent_runs[:number])
        self._insert_into_run(run, row, lambda: group.insert_tool_agent_run(number, run))
        return run

    def _insert_into_run(self, run: ToolAgentRun, row: int, add: Callable[[], None]) -> None:
        self.beginInsertRows(QModelIndex(), row, row)
        add()
        self._layout.place_groups(self._layout.group_of(run.place))
        self.endInsertRows()

    def unfold_tool_agent_run(self, event_id: str) -> None:
        """Unfold down to the row of a tool agent's event, unless a filter is set."""
        found = self._layout.tool_agent_runs.find(event_id)
        if found is None or self._layout.is_filtered:
            return
        self.set_folded(self._layout.starts[self._layout.group_of(found[0].place)], False)
        header = self._layout.row_of_run(found[0])
        assert header is not None
        self.set_folded(header, False)

    # folding

    def set_folded(self, row: int, folded: bool) -> None:
        """Fold or unfold the rows below the header in `row`; other rows are left alone."""
        if not self.is_header(row):
            return
        group, place = self._layout.at(row)
        what = group if place is None else place[0]  # type: ignore[index]  # a header is no event
        if what.folded == folded:
            return
        if folded:
            self.beginRemoveRows(QModelIndex(), row + 1, row + what.rows - 1)
            what.folded = True
        else:
            what.folded = False
            self.beginInsertRows(QModelIndex(), row + 1, row + what.rows - 1)
        self._layout.place_groups(self._layout.locate(row)[0])
        if folded:
            self.endRemoveRows()
        else:
            self.endInsertRows()
        self._changed(row, row)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every group."""
        self.beginResetModel()
        self._layout.groups.fold_all(folded)
        self._layout.place_groups(0)
        self.endResetModel()

    # marks

    def set_held(self, event_id: str | None) -> None:
        """Mark the event at which the agent is held; None marks none."""
        before, self.make.held = self.make.held, event_id
        for marked in {before, event_id} - {None}:
            self._refresh(str(marked))

    def _refresh(self, event_id: str) -> None:
        index = self._events.index_of(event_id)
        if index is not None:
            self.make.forget(index)
        row = self.row_of_index(index) if index is not None else self.row_of_tool_agent_event(event_id)
        if row is not None:
            self._changed(row, row)

    def refresh_rows(self) -> None:
        """Make all rows again: breakpoints or `temp:` keys have changed."""
        self.make.clear_cache()
        if self.rowCount():
            self._changed(0, self.rowCount() - 1)

    def _changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(Column) - 1))

    # the events in it

    @property
    def event_count(self) -> int:
        """Number of committed events."""
        return self._layout.count

    @property
    def total_tokens(self) -> int:
        """See `SessionDocument.total_tokens`."""
        return self._document.total_tokens if self._document is not None else 0

    @property
    def most_tokens(self) -> int:
        """The largest count of tokens of one event seen so far."""
        return self.make.most_tokens

    @property
    def authors(self) -> list[str]:
        """The agents in the order they first spoke."""
        return self.make.colours.authors

    def committed(self, index: int) -> Event:
        """Return the event at an index.

        Raises:
            LookupError: it is not read yet.
        """
        return self._events[index]

    def committed_since(self, index: int) -> Sequence[Event]:
        """Return the events from an index on.

        Raises:
            LookupError: one of them is not read yet.
        """
        return self._events[index:]

    def index_of(self, event_id: str) -> int | None:
        """Return the index of the event with this id, or None."""
        return self._events.index_of(event_id)

    def are_read(self, rows: Iterable[int]) -> bool:
        """Return whether the committed events in some rows are in memory; those that are not are requested."""
        if not self._events.is_long:
            return True
        indices = [index for row in rows if (index := self.index_at(row)) is not None]
        return None not in [self._events.cached(index) for index in indices]

    def event_at(self, row: int) -> Event | None:
        """Return the event in a row (a streaming text as one partial event), None for headers."""
        index = self.index_at(row)
        if index is not None:
            return self._events.cached(index)
        return self.tool_agent_event_at(row) or self._streaming.event_at(row - self._layout.rows)

    def stream_row(self, row: int) -> StreamRow:
        """Return a row ready to paint."""
        layout = self._layout
        if row >= layout.rows:
            return self._streaming.row_at(row - layout.rows, self.make.colours)
        group, place = layout.at(row)
        if place is None:
            status = self._document.statuses.get(group.invocation_id, "") if self._document is not None else ""
            title = self.make.title(group.invocation_id, layout.all_groups)
            return self.make.header(group, status, title, is_whole=not layout.is_filtered)
        return self.make.event(layout.index_of_position(place)) if isinstance(place, int) else self.make.tool_agent(*place)

    # rows and places

    @property
    def shown_count(self) -> int:
        """Number of events that pass the filter; all of them without one."""
        return self._layout.shown_count

    @property
    def is_filtered(self) -> bool:
        """Whether only events that pass a filter are displayed."""
        return self._layout.is_filtered

    def shown_after(self, index: int) -> int | None:
        """Return the next displayed event after an index."""
        return self._layout.shown_after(index)

    def shown_before(self, index: int) -> int | None:
        """Return the last displayed event before an index."""
        return self._layout.shown_before(index)

    def index_at(self, row: int) -> int | None:
        """Return the index of the committed event in a row, or None."""
        return self._layout.index_at(row)

    def position_at(self, row: int) -> int:
        """Return the position of the first event at or below a row."""
        return self._layout.position_at(row)

    def position_of_index(self, index: int) -> int | None:
        """Return the position of an event, None where the filter hides it."""
        return self._layout.position_of_index(index)

    def tool_agent_event_at(self, row: int) -> Event | None:
        """Return the event in a row if it is a tool agent's, or None."""
        return self._layout.tool_agent_event_at(row)

    def row_of(self, event_id: str) -> int | None:
        """Return the row of an event, None where there is none or it is folded away or filtered out."""
        index = self._events.index_of(event_id)
        return None if index is None else self.row_of_index(index)

    def row_of_index(self, index: int) -> int | None:
        """Return the row of the event at an index, None where its group is folded or the filter hides it."""
        return self._layout.row_of_index(index)

    def row_of_tool_agent_event(self, event_id: str) -> int | None:
        """Return the row of a tool agent's event, None where there is none or it is not displayed."""
        return self._layout.row_of_tool_agent_event(event_id)

    def header_row_of_index(self, index: int) -> int | None:
        """Return the row of the header above the event at an index, None where the filter hides it."""
        return self._layout.header_row_of_index(index)

    def is_header(self, row: int) -> bool:
        """Return whether a row can be folded: an invocation's header, or a tool agent's."""
        return self._layout.is_header(row)

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows, folded ones left out."""
        return 0 if parent.isValid() else self._layout.rows + len(self._streaming)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading and alignment."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(alignment(section))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that events and headers can be selected, streaming rows not, and that events can be dragged."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if index.row() >= self._layout.rows:
            return _ENABLED
        return _SELECTABLE if self._layout.index_at(index.row()) is None else _DRAGGABLE

    def supportedDragActions(self) -> Qt.DropAction:
        """Return that an event is copied."""
        return Qt.DropAction.CopyAction

    def mimeTypes(self) -> list[str]:
        """Return the types of a dragged event."""
        return list(DRAGGED_AS)

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return an event that is dragged out of the window; empty if it is not in memory any more."""
        number = self._layout.index_at(indexes[0].row()) if indexes else None
        event = self._events.cached(number) if number is not None else None
        if number is None or event is None:
            return QMimeData()
        if self._dragged is not None:
            self._dragged.remove_file()
        self._dragged = DraggedEvent(event, number + 1)
        return self._dragged

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
        if row >= self._layout.rows:
            return None
        event = self.event_at(row)
        invocation_id = self._layout.groups.invocations[self._layout.locate(row)[0]]
        return cell_tooltip(self.stream_row(row), column, invocation_id, event.timestamp if event is not None else None)
