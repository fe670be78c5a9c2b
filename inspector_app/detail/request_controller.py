"""The request that the model answered with the selected event."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.request_values import MAX_PRECEDING, NOT_RECORDED, RECONSTRUCTED, TOO_MANY_EVENTS, is_model_answer, request_values
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.session_document import SessionDocument
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from runtime.compare.comparison import prompt_of
from runtime.debugger.request_recorder import RequestRecorder
from runtime.events.event import Event


class RequestController(QObject):
    """A controller that fills the Request tab when it is raised.

    Args:
        recorder: the requests of this window's runs.
        current: the displayed session.
        tasks: runs the reading of long sessions.
        detail: the view with the tab.
    """

    def __init__(self, recorder: RequestRecorder, current: CurrentSession, tasks: Tasks, detail: EventDetail) -> None:
        super().__init__(detail)
        self._recorder = recorder
        self._current = current
        self._tasks = tasks
        self._wanted: Event | None = None
        self._detail = detail
        detail.request_wanted.connect(self._on_request_wanted)

    def _on_request_wanted(self, event: Event) -> None:
        self._wanted = event
        if not is_model_answer(event):
            self._detail.request.set_request(None)
            return
        request = self._recorder.request_of(event.id)
        session = self._current.session
        if request is not None:
            self._detail.request.set_request(request_values(request, event))
            return
        if session is not None and session.pages is not None:
            self._detail.request.set_request(request_values(None, event), NOT_RECORDED)
            self._tasks.spawn(self._read_conversation(session, session.pages, event), "Reading the conversation")
            return
        index = session.index_of(event.id) if session is not None else None
        self._show(event, session.events.in_memory if session is not None else [], index)

    async def _read_conversation(self, session: SessionDocument, long: LongSession, event: Event) -> None:
        since = session.events.in_memory
        first = len(session.events) - len(since)
        at_hand = session.index_of(event.id)
        index = await long.index_of(event.id) if at_hand is None else at_hand
        near = index is not None and index <= MAX_PRECEDING
        stored = await long.first_events(min(index + 1, first)) if near and index is not None else []
        if self._wanted is event and self._current.session is session:
            self._show(event, [*stored, *since], index)

    def _show(self, event: Event, events: Sequence[Event], index: int | None) -> None:
        """Show the known parts of an unrecorded request: the answer, and the conversation before it unless that is too long to read."""
        if index is not None and index > MAX_PRECEDING:
            self._detail.request.set_request(request_values(None, event), NOT_RECORDED + TOO_MANY_EVENTS)
            return
        told = prompt_of(events, index) if index is not None else []
        self._detail.request.set_request(request_values(None, event, told), NOT_RECORDED + (RECONSTRUCTED if told else ""))
