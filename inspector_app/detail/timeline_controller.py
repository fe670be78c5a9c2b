"""Draws the invocation of the selected event along the time."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from inspector_app.detail.timeline_view import TimelineView
from inspector_app.detail.waterfall import timeline
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from runtime.events.event import Event

MOST_EVENTS = 3_000
"""Of one invocation; of a longer one, those round the selected event."""

_REST_MS = 60
"""Between a change and the drawing: a run that streams is drawn a few times a second."""


class TimelineController(QObject):
    """Fills the timeline and answers it.

    Args:
        cursor, browse: of the window.
        model: behind the stream; it knows the authors' colours.
        view: what is filled.
    """

    def __init__(self, cursor: Cursor, browse: CurrentSession, model: EventListModel, view: TimelineView) -> None:
        super().__init__(view)
        self._cursor = cursor
        self._browse = browse
        self._model = model
        self._view = view
        self._drawn: tuple[object, int, int] | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._draw)
        cursor.event_changed.connect(self._on_changed)
        browse.events_added.connect(self._on_changed)
        browse.events_read.connect(self._on_changed)
        browse.session_loaded.connect(self._on_changed)
        view.came_on_show.connect(self._on_changed)

    def _on_changed(self, *_: object) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _draw(self) -> None:
        if not self._view.isVisible():
            self._drawn = None
            return
        session, index = self._browse.session, self._cursor.event_index
        selected = session.events.cached(index) if session is not None and index is not None and index < len(session.events) else None
        if session is None or index is None or selected is None:
            self._view.set_timeline(None, {})
            self._drawn = None
            return
        first, events = self._invocation(index, selected)
        drawn = (session, first, len(events))
        if drawn != self._drawn:
            self._drawn = drawn
            self._view.set_timeline(timeline(events, first), {author: self._model.role_of(author) for author in self._model.authors})
        self._view.select_event(index, selected.timestamp)

    def _invocation(self, index: int, selected: Event) -> tuple[int, list[Event]]:
        """Return the selected event's neighbours of the same invocation, as far as they are here; the rest is asked for."""
        session = self._browse.session
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
