"""Where the selected event came from: the model call or the tool call behind it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.fields_html import OWN, event_link
from inspector_app.detail.model_calls import ModelCalls
from inspector_app.documents.open_session import OpenSession
from inspector_app.presentation.costs import dollars
from inspector_app.presentation.event_summary import is_model_answer
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import tokens_of
from inspector_app.presentation.values import duration, visible
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from runtime.errors.storage_error import StorageError
from runtime.events.kinds import node_path
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

REST_MS = 120  # what is read from a recording is read once the selection rests
_NEAR = 500  # events before a tool's result in which its call is looked for


class OriginController(QObject):
    """A controller that fills the card of an event's origin.

    Args:
        current: the displayed session.
        prices: the prices of models.
        tasks: runs the reading.
        detail: the view with the card.
    """

    def __init__(self, current: CurrentSession, prices: Prices, tasks: Tasks, detail: EventDetail) -> None:
        super().__init__(detail)
        self._current = current
        self._prices = prices
        self._tasks = tasks
        self._detail = detail
        self._calls: ModelCalls | None = None
        self._resting = QTimer(self, singleShot=True, interval=REST_MS)
        self._resting.timeout.connect(self._on_resting)
        detail.event_shown.connect(self._show)

    def calls_of(self, session: OpenSession) -> ModelCalls:
        """Return the model calls of the displayed session."""
        if self._calls is None or self._calls.session is not session:
            self._calls = ModelCalls(session)
        return self._calls

    def _show(self, event: Event) -> None:
        self._detail.cards.set_origin(self._html(event, ""))
        if self._detail.is_of_session and is_model_answer(event):
            self._resting.start()

    def _on_resting(self) -> None:
        session, event = self._current.session, self._detail.shown_event
        if session is not None and event is not None:
            self._tasks.spawn(self._read(session, event), "Reading the call", background=True)

    async def _read(self, session: OpenSession, event: Event) -> None:
        """Add what the recording and the prices say."""
        try:
            recorded = await session.source.recorded_exchange(event.id)
        except StorageError:  # the Request tab reports it
            recorded = None
        facts = []
        if recorded is not None and recorded.call.first is not None:
            facts.append(f"first token after {duration(recorded.call.first)}")
        tokens = tokens_of(event.usage_metadata)
        model = event.model_version or (recorded.request.model if recorded is not None else None)
        if tokens is not None:
            cost = await run_in_thread(self._prices.cost, model, tokens, event.timestamp)
            facts += [dollars(cost)] if cost is not None else []
        if facts and self._detail.event_id == event.id:
            self._detail.cards.set_origin(self._html(event, " · ".join(facts), model or ""))

    def _html(self, event: Event, facts: str, model: str = "") -> str:
        session, lines = self._current.session, []
        index = session.index_of(event.id) if session is not None and self._detail.is_of_session else None
        if is_model_answer(event) and self._detail.is_of_session:
            place = self.calls_of(session).place(index) if session is not None and index is not None else None
            if place is not None or index is None:
                words = [f"Model {place.text if place is not None else 'call'}", visible(event.model_version or model)[:80], facts]
                known = " · ".join(escape(one) for one in words if one)
                lines.append(f'{known} · <a href="{OWN}:request">read the request</a>')
        if session is not None and index is not None and (called := _called_at(session, event, index)) is not None:
            lines.append(f"Answers the call of {event_link(called, f'event {called + 1:,}')}")
        path = node_path(event)
        if len(path) > 1:
            lines.append(f'<span class="dim">Node {escape(visible(" › ".join(path))[:300])}</span>')
        if event.branch:
            lines.append(f'<span class="dim">Branch {escape(visible(event.branch)[:300])}</span>')
        return "".join(f"<p>{line}</p>" for line in lines)


def _called_at(session: OpenSession, event: Event, index: int) -> int | None:
    """Return the position of the event with the call that an event answers."""
    ids = {response.id for response in event.get_function_responses() if response.id}
    for place in range(index - 1, max(index - 1 - _NEAR, -1), -1) if ids else ():
        before = session.events.cached(place, request=False)
        if before is None:
            return None
        if any(call.id in ids for call in before.get_function_calls()):
            return place
    return None
