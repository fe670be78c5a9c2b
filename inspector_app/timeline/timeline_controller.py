"""The timeline: the selected event's invocation along the time axis, another one below it, or the whole session."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.recorded_spans import RecordedCalls, activity_of
from inspector_app.documents.session_ranges import MOST_OF_SESSION, EventRange, invocation_around
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.spans import HeldTime
from inspector_app.presentation.timeline_rows import Section, Timeline, timeline
from inspector_app.presentation.values import clock
from inspector_app.timeline.timeline_view import TimelineView
from inspector_app.workspace.workspace import Workspace
from runtime.errors.storage_error import StorageError
from runtime.support.worker_threads import run_in_thread

_REST_MS = 60  # from a change to drawing it, so that a streaming run is drawn a few times a second
_RECORDED_MS = 400  # from a new event to reading its recorded times, which are written a moment later
_AT_ONCE = 1_000  # events that are drawn without a worker thread

Drawn = tuple[object, str, tuple[tuple[int, int], ...]]


class TimelineController(QObject):
    """A controller that fills the timeline.

    Args:
        work: the owners.
        colours: the authors' colours, shared with the stream.
        view: the view to fill.
    """

    def __init__(self, work: Workspace, colours: AuthorColours, view: TimelineView) -> None:
        super().__init__(view)
        self._work = work
        self._colours = colours
        self._view = view
        self._drawn: Drawn | None = None
        self._wanted = 0  # number of the latest drawing
        self._rest = self._timer(_REST_MS, self._draw)
        self._recorded = self._timer(_RECORDED_MS, self._draw_again)
        work.cursor.event_changed.connect(self._on_changed)
        work.cursor.compared_changed.connect(self._on_changed)
        work.current.events_added.connect(self._on_added)
        work.current.events_read.connect(self._on_changed)
        work.current.session_loaded.connect(self._on_changed)
        work.current.calls_recorded.connect(self._recorded.start)
        work.agents.agent_loaded.connect(self._recorded.start)  # its agents' places decide the colours
        view.displayed.came.connect(self._draw)
        view.range_chosen.connect(self._on_changed)
        view.picture.saved.connect(work.messages.info)
        view.picture.failed.connect(work.messages.warning)

    def _timer(self, interval: int, slot: object) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=interval)
        timer.timeout.connect(slot)
        return timer

    def _on_changed(self, *_: object) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _on_added(self, *_: object) -> None:
        self._on_changed()
        self._recorded.start()

    def _draw_again(self) -> None:
        self._drawn = None
        self._draw(keep_zoom=True)

    def _draw(self, *, keep_zoom: bool = False) -> None:
        if not self._view.displayed.now:
            self._drawn = None
            self._view.clear()
            return
        session, index = self._work.current.session, self._work.cursor.event_index
        self._view.allow_comparison(self._work.cursor.compared_index is not None)
        if session is None or index is None or not 0 <= index < len(session.events) or session.events.cached(index) is None:
            self._view.set_timeline(None, {})
            self._drawn = None
            return
        if self._view.range == "session":
            drawn: Drawn = (session, "session", ((0, len(session.events)),))
            ranges: list[EventRange] | None = None
        else:
            ranges = self._ranges(session, index)
            drawn = (session, self._view.range, tuple((one.first, len(one.events)) for one in ranges))
        if drawn == self._drawn:
            self._select(session, index)
            return
        before, self._drawn = self._drawn, drawn
        grown = before is not None and before[:2] == drawn[:2] and [one[0] for one in before[2]] == [one[0] for one in drawn[2]]
        self._wanted += 1
        self._work.tasks.spawn(self._show(session, ranges, self._wanted, keep_zoom=keep_zoom or grown), "Drawing the timeline")

    def _ranges(self, session: OpenSession, index: int) -> list[EventRange]:
        """Return the invocations to draw, the earlier one first."""
        own = invocation_around(session, index)
        assert own is not None
        other: int | None = None
        if self._view.range == "previous":
            other = own.first - 1
        elif self._view.range == "compared":
            other = self._work.cursor.compared_index
        beside = invocation_around(session, other) if other is not None else None
        found = {one.first: one for one in (own, beside) if one is not None}
        return [found[first] for first in sorted(found)]

    async def _show(self, session: OpenSession, ranges: list[EventRange] | None, number: int, *, keep_zoom: bool) -> None:
        note = ""
        if ranges is None:
            self._view.show_note(f"Reading {min(len(session.events), MOST_OF_SESSION):,} events…")
            newest = await self._work.reader.newest(session)
            ranges = [newest]
            note = f"The newest {MOST_OF_SESSION:,} of {len(session.events):,} events" if newest.first else ""
        ids = () if len(ranges) == 1 and note else tuple({event.invocation_id: None for one in ranges for event in one.events})
        try:
            recorded = await session.source.recorded_calls(session.address.key, ids if len(ids) <= 100 else ())
        except StorageError as error:
            recorded, note = RecordedCalls(), str(error)
        count = sum(len(one.events) for one in ranges)
        holds = tuple(self._work.run.holds())
        shown = await run_in_thread(_timeline, ranges, recorded, holds) if count > _AT_ONCE else _timeline(ranges, recorded, holds)
        if number != self._wanted or self._work.current.session is not session:
            return
        roles = {author: self._colours.role(author) for author in self._colours.authors}
        self._view.set_timeline(shown, roles, note, keep_zoom=keep_zoom)
        index = self._work.cursor.event_index
        if index is not None and any(one.first <= index < one.first + len(one.events) for one in ranges):
            self._select(session, index)  # otherwise the invocation of the event that was selected meanwhile is drawn next

    def _select(self, session: OpenSession, index: int) -> None:
        selected = session.events.cached(index) if index < len(session.events) else None
        self._view.select_event(index, selected.timestamp if selected is not None else None)


def _timeline(ranges: list[EventRange], recorded: RecordedCalls, holds: Sequence[HeldTime]) -> Timeline:
    sections: list[Section] = []
    for one in ranges:
        found = activity_of(one.events, one.first, recorded, holds)
        title = f"{clock(one.events[0].timestamp)} · invocation {one.events[0].invocation_id}" if len(ranges) > 1 else ""
        sections.append(Section(title, found))
    return timeline(sections)
