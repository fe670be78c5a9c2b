"""The event stream: displays the session, filters it, and goes to events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.event_filter import EventFilter, FilterError, read_filter
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.filter_bar import FilterBar
from inspector_app.stream.hits import Hits
from inspector_app.workspace.current_run import RunEnd
from inspector_app.workspace.workspace import Workspace
from runtime.events.marks import TEMP_GONE
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

MANY_AT_ONCE = 20  # events in one frame above which the last one is not selected each time
SETTLING_MS = 500  # from so many events to selecting the last one
NEAR = 20_000  # events of a long session searched before and after one for the matching call


class StreamController(QObject):
    """A controller that fills the stream, shows the run in it, and answers its filter bar.

    Attributes:
        hits: events that meet the filter while all events are displayed with these marked; None while only hits are displayed, or without
            a filter.

    Args:
        work: the owners.
        events: the model behind the stream.
        stream: the view.
        bar: the filter bar.
    """

    def __init__(self, work: Workspace, events: EventTableModel, stream: EventStreamView, bar: FilterBar) -> None:
        super().__init__(stream)
        self._work = work
        bar.set_remembered(work.preferences.filters)
        self._events = events
        self._stream = stream
        self._bar = bar
        self.hits: Hits | None = None
        self._filter: EventFilter | None = None
        self._search: asyncio.Task[Any] | None = None
        self._progress: float | None = None
        self._was_following = False
        self._settling = QTimer(self, singleShot=True)
        self._settling.timeout.connect(self._on_settled)
        events.make.temp_keys_of = self._temp_keys_of
        events.make.ran_ahead = work.run.ran_ahead
        events.make.holds = work.run.holds
        events.make.breakpoint_mark = work.breakpoints.mark_of
        work.breakpoints.changed.connect(events.refresh_rows)
        events.make.note_of = work.notes.of
        work.notes.changed.connect(self._on_notes_changed)
        self._connect_owners()
        self._connect_views()

    def _connect_owners(self) -> None:
        current, run, events = self._work.current, self._work.run, self._events
        current.session_loading.connect(self._on_session_loading)
        current.session_loaded.connect(self._on_session_loaded)
        current.past_read.connect(events.refresh_rows)
        current.invocations_found.connect(self._show_run)
        self._work.agents.agent_loaded.connect(self._on_agent_loaded)
        run.changed.connect(self._show_run)
        run.hold_changed.connect(self.settle)
        run.run_started.connect(self._on_run_started)
        run.run_ended.connect(self._on_run_ended)
        run.partial_arrived.connect(self._on_partial)
        self._work.cursor.event_requested.connect(self.show_event)

    def _connect_views(self) -> None:
        events, stream, bar = self._events, self._stream, self._bar
        stream.event_selected.connect(self._work.cursor.select_event)
        events.shown_changed.connect(self._show_hits)
        events.events_appending.connect(self._on_events_appending)
        events.events_appended.connect(self._on_events_appended)
        bar.filter_changed.connect(self._on_filter_changed)
        bar.marking_changed.connect(self._on_marking_changed)
        bar.next_requested.connect(self.next_hit)
        bar.previous_requested.connect(self.previous_hit)
        bar.left.connect(stream.table.setFocus)
        stream.filter_requested.connect(self._on_filter_requested)
        stream.matching_call_requested.connect(self.go_to_matching_call)
        stream.go_to_requested.connect(self.go_to)
        stream.compare_requested.connect(self.compare_states)

    def show(self, session: OpenSession) -> None:
        """Display another session through the filter, with its last event selected."""
        self._stop_search()
        self._events.set_document(session)
        if session.events:
            self._stream.select_event(len(session.events) - 1)
        if self._filter is not None:
            self._begin(self._filter)

    @property
    def selected_event(self) -> Event | None:
        """The selected event; None if it is not in memory, or its row is filtered out or folded away."""
        index = self._work.cursor.event_index
        if index is None:
            return self._stream.selected_tool_agent_event
        if self._work.current.session is None or index >= self._events.event_count:
            return None
        row = self._events.row_of_index(index)
        return self._events.event_at(row) if row is not None else None

    # the session and the run

    def _on_session_loading(self, address: SessionAddress | None) -> None:
        self.clear()
        if address is None:
            self._stream.set_empty_text("No session is selected", "Choose one on the left, or send a message to an agent.")
        else:
            self._stream.set_empty_text("Reading the session…", self._work.titles.title(address))

    def _on_session_loaded(self, session: OpenSession) -> None:
        self._stream.set_empty_text("This session has no events yet", "Write a message below.")
        self._colour(session)
        self.show(session)
        run = self._work.run
        if session.address == run.address and run.phase != "idle" and not run.is_watching and session.events:
            last = session.events.cached(len(session.events) - 1)
            running = run.invocation_id if run.attached is None else last.invocation_id if last is not None else ""
            if running:  # before its first event, a run has no invocation, and the last one has ended
                session.set_statuses({running: "running"})
        self._show_run()

    def _on_agent_loaded(self, *_: object) -> None:
        if self._work.current.session is not None:
            self._colour(self._work.current.session)
            self._events.refresh_rows()

    def _colour(self, session: OpenSession) -> None:
        name = session.address.key.app_name
        self._events.make.colours.set_app(name, self._work.agents.described_for(name, session.source))

    def _on_partial(self, address: SessionAddress, event: Event) -> None:
        if address == self._work.cursor.session:
            self._events.show_partial(event)

    def _on_run_started(self) -> None:
        self._stream.set_following(True)

    def _on_run_ended(self, end: RunEnd) -> None:
        session = self._work.current.session
        if end.address == self._work.cursor.session and session is not None:
            self._events.clear_partials()
            self._events.set_held(None)
            session.reset_statuses()

    def _show_run(self) -> None:
        """Mark the held event, and the status of its invocation."""
        run = self._work.run
        if run.address != self._work.cursor.session:
            return
        held, hold = run.held, run.hold
        at = hold.event if hold is not None and hold.inner else held
        self._events.set_held(at.id if at is not None else None)
        if run.is_watching and not run.pausing:
            return
        session = self._work.current.session
        if session is not None and run.invocation_id and run.phase in ("running", "paused"):
            session.set_statuses({run.invocation_id: "held" if run.phase == "paused" else "running"})

    # following the newest event

    def follow(self, count: int) -> None:
        """Scroll to the last event and select it, while many arrive only once they settle: filling the other panes costs more than rows.

        Args:
            count: how many events were just added.
        """
        self._stream.set_following(True)
        if not self._settling.isActive():
            self._settling.start(0 if count < MANY_AT_ONCE else SETTLING_MS)

    def settle(self) -> None:
        """Select the last event now, if that is due."""
        if self._settling.isActive():
            self._settling.stop()
            self._on_settled()

    def _on_settled(self) -> None:
        if self._stream.following and self._events.event_count:
            self._stream.select_event(self._events.event_count - 1)

    @property
    def filtering(self) -> bool:
        """Whether a search is in progress."""
        return self._search is not None

    def clear(self) -> None:
        """Show no session."""
        self._stop_search()
        self._show_all(None)
        self._events.set_document(None)
        self._show_hits()

    def _temp_keys_of(self, event_id: str) -> list[str]:
        session = self._work.current.session
        past = session.past if session is not None else None
        return [key for key in past.temp_of(event_id) if key != TEMP_GONE] if past is not None else []

    # comparing the states after two events

    def compare_states(self) -> None:
        """Compare the selected event's state with those after events selected from now on; end that if it is the compared event."""
        selected = self._work.cursor.event_index
        self._work.cursor.compare_with(None if selected == self._work.cursor.compared_index else selected)

    # filtering

    def _on_filter_requested(self, text: str) -> None:
        self._bar.set_text(text)

    def _on_filter_changed(self, text: str) -> None:
        self._stop_search()
        try:
            self._filter = read_filter(text)
        except FilterError as error:
            self._filter = None
            self._show_all(None)
            self._bar.show_problem(str(error))
            return
        if self._filter is None:
            self._show_all(None)
            self._show_hits()
        else:
            self._begin(self._filter)

    def _on_marking_changed(self, _marking: bool) -> None:
        if self._filter is not None:
            self._stop_search()
            self._begin(self._filter)

    def _show_all(self, hits: Hits | None) -> None:
        """Display all events with the hits found so far marked."""
        self.hits = hits
        self._events.set_filter(None)
        self._stream.table.show_hits(hits)

    def _on_notes_changed(self) -> None:
        self._events.refresh_rows()
        if self._filter is not None and self._filter.depends_on(self._work.notes.notes):
            self._stop_search()
            self._begin(self._filter)

    def _begin(self, wanted: EventFilter) -> None:
        self._filter = wanted = wanted.with_notes(self._work.notes.notes)
        session = self._work.current.session
        if self._bar.marking.isChecked():
            self._show_all(Hits())
        else:
            self.hits = None
            self._stream.table.show_hits(None)
            self._events.set_filter(wanted.matches)
        if session is None:
            self._show_hits()
            return
        self._progress = 0.0
        self._show_hits()
        self._search = self._work.tasks.spawn(self._look_through(session, wanted), "Filtering the events")

    async def _look_through(self, session: OpenSession, wanted: EventFilter) -> None:
        if session.pages is not None:
            async for hits, progress in session.pages.filter(wanted):
                self._progress = progress
                self._add_hits(hits)
                self._show_hits()
            first = len(session.events) - len(session.events.in_memory)
        else:
            first = 0
        # The model itself filters events that are added later.
        found = await run_in_thread(_hits, wanted, list(session.events.in_memory), first)
        self._add_hits(found)
        self._progress = None
        self._search = None
        self._show_hits()
        if self._found_count:
            self._bar.remember(wanted.text)
            self._work.preferences.filters = self._bar.remembered

    def _stop_search(self) -> None:
        search, self._search = self._search, None
        self._progress = None
        if search is not None:
            search.cancel()

    def _add_hits(self, found: list[int]) -> None:
        if self.hits is None:
            self._events.add_hits(found)
        else:
            self.hits.add(found)
            self._stream.table.show_hits(self.hits)

    def _on_events_appending(self, count: int) -> None:
        self._was_following = self._stream.following
        if self._was_following and count >= MANY_AT_ONCE:
            self._stream.table.paint_later()

    def _on_events_appended(self, count: int) -> None:
        if self._was_following:
            self.follow(count)
        if self._filter is None:
            return
        if self.hits is not None:
            first = self._events.event_count - count
            new = self._events.committed_since(first)
            self._add_hits([index for index, event in enumerate(new, first) if self._filter.matches(event)])
        self._show_hits()

    @property
    def _found_count(self) -> int:
        return self._events.shown_count if self.hits is None else len(self.hits)

    def _show_hits(self) -> None:
        self._stream.show_searching(self._progress is not None)
        filtered = self._events.is_filtered or self.hits is not None
        if filtered or self._filter is None:
            self._bar.show_hits(self._found_count if filtered else None, self._events.event_count, progress=self._progress)

    # going to an event

    @property
    def _displayed_hits(self) -> Hits | EventTableModel:
        return self._events if self.hits is None else self.hits

    def next_hit(self) -> None:
        """Select the next hit; after the last one, the first."""
        hits, index = self._displayed_hits, self._work.cursor.event_index
        found = hits.shown_after(-1 if index is None else index)
        self.go_to(hits.shown_after(-1) if found is None else found)

    def previous_hit(self) -> None:
        """Select the previous hit; before the first one, the last."""
        hits, index = self._displayed_hits, self._work.cursor.event_index
        found = hits.shown_before(0 if index is None else index)
        self.go_to(hits.shown_before(self._events.event_count) if found is None else found)

    def next_note(self) -> None:
        """Select the next event with a note or a bookmark; after the last one, the first."""
        self._work.tasks.spawn(self._go_to_note(1), "Looking for notes")

    def previous_note(self) -> None:
        """Select the previous event with a note or a bookmark; before the first one, the last."""
        self._work.tasks.spawn(self._go_to_note(-1), "Looking for notes")

    async def _go_to_note(self, step: int) -> None:
        session, selected = self._work.current.session, self._work.cursor.event_index
        if session is None:
            return
        places = await self._work.notes.places()
        if not places or self._work.current.session is not session:
            return
        here = selected if selected is not None else (-1 if step > 0 else self._events.event_count)
        further = [place for place in places if (place - here) * step > 0]
        self.go_to((min if step > 0 else max)(further or places))

    def go_to(self, index: int | None) -> None:
        """Select an event and scroll to it; clear a filter that hides it."""
        if index is None or not 0 <= index < self._events.event_count:
            return
        if self._events.row_of_index(index) is None and self._events.is_filtered and self._events.header_row_of_index(index) is None:
            self._bar.clear()
        self._stream.set_following(index == self._events.event_count - 1)
        self._stream.select_event(index)

    def show_event(self, address: SessionAddress, event_id: str) -> None:
        """Go to an event of any session in the open databases."""
        self._work.tasks.spawn(self._show_event(address, event_id), "Going to an event")

    async def _show_event(self, address: SessionAddress, event_id: str) -> None:
        self._work.cursor.select_session(address)
        await self._work.current.wait_until_loaded()
        session = self._work.current.session
        if session is None or session.address != address:
            return
        place = session.index_of(event_id)
        if place is None and session.pages is not None:
            place = await session.pages.index_of(event_id)
        self.go_to(place)

    def go_to_matching_call(self) -> None:
        """From a call go to its response, and from a response to its call."""
        session, index = self._work.current.session, self._work.cursor.event_index
        event = session.events.cached(index) if session is not None and index is not None else None
        if session is None or index is None or event is None:
            return
        wanted = _other_half(event)
        if not wanted:
            self._work.messages.info("This event calls nothing and answers no call.", quiet=True)
            return
        self._work.tasks.spawn(
            self._find_other_half(session, index, wanted, calls=bool(event.get_function_responses())), "Finding the other half"
        )

    async def _find_other_half(self, session: OpenSession, index: int, wanted: set[str], *, calls: bool) -> None:
        first = len(session.events) - len(session.events.in_memory)
        places = [first + number for number, event in enumerate(session.events.in_memory) if _halves(event, calls=calls) & wanted]
        if session.pages is not None:
            places += await session.pages.find_calls(wanted, max(index - NEAR, 0), index + NEAR, calls=calls)
        if not places:
            half = "call" if calls else "response"
            self._work.messages.info(f"There is no {half} of {', '.join(sorted(wanted))} here.", quiet=True)
            return
        nearest = [place for place in places if (place < index) == calls]
        self.go_to(max(nearest) if calls and nearest else min(nearest or places))


def _hits(wanted: EventFilter, events: Sequence[Event], first: int) -> list[int]:
    return [index for index, event in enumerate(events, first) if wanted.matches(event)]


def _other_half(event: Event) -> set[str]:
    return _halves(event, calls=False) or _halves(event, calls=True)


def _halves(event: Event, *, calls: bool) -> set[str]:
    """Return the ids of an event's calls, or of its responses."""
    parts = event.get_function_calls() if calls else event.get_function_responses()
    return {part.id for part in parts if part.id}
