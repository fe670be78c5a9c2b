"""Shows what the model was asked, for the selected event."""

from __future__ import annotations

from google.genai import types
from PySide6.QtCore import QObject

from inspector_app.controllers.browse import BrowseController
from inspector_app.requests import NOT_RECORDED, PUT_TOGETHER, is_model_answer, request_values
from inspector_app.views.event_detail import EventDetail
from runtime.compare.comparison import prompt_of
from runtime.debugger.requests import RequestRecorder
from runtime.events.event import Event

MOST_LOOKED_THROUGH = 2_000
"""Events before one, from which what its model was told is put together."""


class RequestController(QObject):
    """Fills the Request tab when it comes to the front.

    Args:
        recorder: knows the requests of the runs in this window.
        browse: has the session on show.
        detail: has the tab.
    """

    def __init__(self, recorder: RequestRecorder, browse: BrowseController, detail: EventDetail) -> None:
        super().__init__(detail)
        self._recorder = recorder
        self._browse = browse
        self._detail = detail
        detail.request_wanted.connect(self._on_request_wanted)

    def _on_request_wanted(self, event: Event) -> None:
        if not is_model_answer(event):
            self._detail.request.set_request(None)
            return
        request = self._recorder.request_of(event.id)
        if request is not None:
            self._detail.request.set_request(request_values(request, event))
            return
        told = self._conversation(event)
        self._detail.request.set_request(request_values(None, event, told), NOT_RECORDED + (PUT_TOGETHER if told else ""))

    def _conversation(self, event: Event) -> list[types.Content]:
        """Return what was said before a stored event, as its model was told; nothing where that would take long to find out."""
        session = self._browse.session
        index = session.index_of(event.id) if session is not None else None
        if session is None or session.long is not None or index is None or index > MOST_LOOKED_THROUGH:
            return []
        return prompt_of(session.events.at_hand, index)
