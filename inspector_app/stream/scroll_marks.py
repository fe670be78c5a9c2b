"""The marks of the stream's scroll bar: hits of the filter, failures, stops at breakpoints, and notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from PySide6.QtCore import QObject

from inspector_app.documents.long_session import LongSession
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.event_summary import is_failure
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.hits import Hits
from inspector_app.stream.marked_scroll_bar import MarkedScrollBar, Marks
from inspector_app.stream.stream_controller import StreamController
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.session_notes import SessionNotes
from runtime.debugger.hold import Hold
from runtime.errors.storage_error import StorageError

MOST_MAPPED = 20_000  # places that are converted to positions while a filter hides events


class ScrollMarks(QObject):
    """Computes scroll-bar marks. In long sessions, failures are searched last, in the background.

    Args:
        current: the displayed session.
        run: reports holds.
        stream: knows the filter's hits.
        notes: the notes and bookmarks.
        tasks: runs searches.
        events: the model behind the stream.
        bar: its scroll bar.
    """

    def __init__(
        self,
        current: CurrentSession,
        run: CurrentRun,
        stream: StreamController,
        notes: SessionNotes,
        tasks: Tasks,
        events: EventTableModel,
        bar: MarkedScrollBar,
    ) -> None:
        super().__init__(bar)
        self._current = current
        self._run = run
        self._stream = stream
        self._notes = notes
        self._noted: list[int] = []
        self._tasks = tasks
        self._events = events
        self._bar = bar
        self._failures = Hits()
        self._searched = 0
        self._stop_at: dict[str, int] = {}
        self._stops: defaultdict[SessionAddress, set[str]] = defaultdict(set)
        current.session_loaded.connect(self._on_session_loaded)
        current.past_read.connect(self._on_past_read)
        run.hold_changed.connect(self._on_hold_changed)
        notes.changed.connect(self._on_notes_changed)
        events.events_appended.connect(self._search_new)
        bar.mark_with(self._find)

    def _on_session_loaded(self, session: OpenSession) -> None:
        self._failures = Hits()
        self._stop_at.clear()
        self._searched = len(session.events) - len(session.events.in_memory)
        self._bar.refresh()

    def _on_past_read(self, session: OpenSession) -> None:
        if session.pages is not None:
            self._tasks.spawn(self._find_failures(session, session.pages), "Looking for failures", background=True)

    async def _find_failures(self, session: OpenSession, long: LongSession) -> None:
        try:
            async for found in long.find_failures():
                if self._current.session is not session:
                    return
                self._failures.add(found)
                self._bar.refresh()
        except StorageError:
            if not long.closed:
                raise

    def _on_hold_changed(self, hold: Hold | None) -> None:
        held = self._run.held
        if hold is not None and hold.reason == "breakpoint" and held is not None and self._run.address is not None:
            self._stops[self._run.address].add(held.id)
        self._bar.refresh()

    def _on_notes_changed(self) -> None:
        self._tasks.spawn(self._find_notes(), "Looking for notes", background=True)

    async def _find_notes(self) -> None:
        self._noted = await self._notes.places()
        self._bar.refresh()

    def _find(self) -> Sequence[Marks]:
        session = self._current.session
        if session is None:
            return []
        self._search_new()
        hits = self._stream.hits
        return [
            Marks("hits", "accent", "left", hits.places if hits is not None else ()),
            Marks("failures", "bad", "right", self._shown(self._failures.places)),
            Marks("stops", "warn", "all", self._shown(self._stop_places(session))),
            Marks("notes and bookmarks", "text", "middle", self._shown(self._noted)),
        ]

    def _search_new(self, _count: int = 0) -> None:
        """Search the new events for failures with each frame: all events since the last count would be too many at once."""
        new = self._events.committed_since(self._searched)
        self._failures.add([index for index, event in enumerate(new, self._searched) if is_failure(event)])
        self._searched += len(new)

    def _stop_places(self, session: OpenSession) -> list[int]:
        ids = set(self._stops[session.address])
        if self._run.held is not None and self._run.address == session.address:
            ids.add(self._run.held.id)
        for event_id in ids - self._stop_at.keys():
            place = self._events.index_of(event_id)
            if place is not None:  # remembered, because evicted events cannot be found by their ids
                self._stop_at[event_id] = place
        return sorted(self._stop_at[event_id] for event_id in ids & self._stop_at.keys())

    def _shown(self, places: Sequence[int]) -> Sequence[int]:
        """Return the positions of these places among the displayed events."""
        if not self._events.is_filtered:
            return places
        found = (self._events.position_of_index(place) for place in places[:MOST_MAPPED])
        return [place for place in found if place is not None]
