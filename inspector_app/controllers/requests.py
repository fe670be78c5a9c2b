"""Shows what the model was asked, for the selected event."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.requests import NOT_RECORDED, is_model_answer, request_values
from inspector_app.views.event_detail import EventDetail
from runtime.debugger.requests import RequestRecorder
from runtime.events.event import Event


class RequestController(QObject):
    """Fills the Request tab when it comes to the front.

    Args:
        recorder: knows the requests of the runs in this window.
        detail: has the tab.
    """

    def __init__(self, recorder: RequestRecorder, detail: EventDetail) -> None:
        super().__init__(detail)
        self._recorder = recorder
        self._detail = detail
        detail.request_wanted.connect(self._on_request_wanted)

    def _on_request_wanted(self, event: Event) -> None:
        if not is_model_answer(event):
            self._detail.request.set_request(None)
            return
        request = self._recorder.request_of(event.id)
        self._detail.request.set_request(request_values(request, event), "" if request is not None else NOT_RECORDED)
