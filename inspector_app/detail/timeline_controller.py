"""The timeline: the selected event's invocation along the time axis."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from inspector_app.detail.timeline_view import TimelineView
from inspector_app.detail.waterfall import timeline
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from runtime.events.event import Event

MOST_EVENTS = 3_000  # events of an invocation that are drawn, around the selected one
_REST_MS = 60  # from a change to drawing it, so that a streaming run is drawn a few times a second


class TimelineController(QObject):
    """A controller that fills the timeline.

    Args:
        cursor: the selected event.
        current: the displayed session.
        colours: the authors' colours, shared with the stream.
        view: the view to fill.
    """

    def __init__(self, cursor: Cursor, current: CurrentSession, colours: AuthorColours, view: TimelineView) -> None:
        super().__init__(view)
        self._cursor = cursor
        self._current = current
        self._colours = colours
        self._view = view
        self._drawn: tuple[object, int, int] | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._draw)
        cursor.event_changed.connect(self._on_changed)
        current.events_added.connect(self._on_changed)
        current.events_read.connect(self._on_changed)
        current.session_loaded.connect(self._on_changed)
        view.came_on_show.connect(self._on_changed)

    def _on_changed(self, *_: object) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _draw(self) -> None:
        if not self._view.isVisible():
            self._drawn = None
            return
        session, index = self._current.session, self._cursor.event_index
        selected = session.events.cached(index) if session is not None and index is not None and index < len(session.events) else None
        if session is None or index is None or selected is None:
            self._view.set_timeline(None, {})
            self._drawn = None
            return
        first, events = self._invocation(index, selected)
        drawn = (session, first, len(events))
        if drawn != self._drawn:
            self._drawn = drawn
            self._view.set_timeline(timeline(events, first), {author: self._colours.role(author) for author in self._colours.authors})
        self._view.select_event(index, selected.timestamp)

    def _invocation(self, index: int, selected: Event) -> tuple[int, list[Event]]:
        """Return the selected event's neighbours of the same invocation that are in memory; the others are requested."""
        session = self._current.session
        assert session is not None
        reach = MOST_EVENTS // 2

        def neighbours(places: range) -> list[Event]:
            found: list[Event] = []
            for place in places:
                event = session.events.cached(place)
                if event is None or event.invocation_id != selected.invocation_id:
                    break
                found.append(event)
            return found

        before = neighbours(range(index - 1, max(index - reach, 0) - 1, -1))
        after = neighbours(range(index + 1, min(index + reach, len(session.events))))
        return index - len(before), [*reversed(before), selected, *after]
