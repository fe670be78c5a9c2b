"""The request that the model answered with the selected event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.origin_controller import OriginController
from inspector_app.detail.prompt_events import prompt_events
from inspector_app.detail.prompt_parts import prompt_parts, size_text
from inspector_app.detail.request_curl import NoCurlError, curl_of
from inspector_app.detail.request_document import Sources, request_document
from inspector_app.detail.request_values import (
    MAX_PRECEDING,
    NOT_RECORDED,
    READING,
    RECONSTRUCTED,
    TOO_MANY_EVENTS,
    recorded_values,
    unrecorded_values,
)
from inspector_app.detail.view_data import RequestDocument
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.request_json import agent_texts, as_recorded
from inspector_app.presentation.costs import dollars
from inspector_app.presentation.event_summary import is_model_answer
from inspector_app.presentation.tokens import tokens_of
from inspector_app.presentation.values import counted, duration
from inspector_app.widgets.clipboard import copy_text
from inspector_app.workspace.workspace import Workspace
from runtime.compare.comparison import prompt_of
from runtime.errors.storage_error import StorageError
from runtime.storage.recordings.recorded_call import RecordedExchange, RecordedModelRequest
from runtime.support.context_window import context_window
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """The displayed request.

    Attributes:
        app_name: the session's app.
        event: the answer.
        request: the request.
    """

    app_name: str
    event: Event
    request: RecordedModelRequest


class RequestController(QObject):
    """A controller that fills the Request tab when it is raised.

    Attributes:
        shown: the displayed request; None if there is none, or if it was not recorded.

    Signals:
        request_shown: another request is displayed, or none.

    Args:
        work: the owners.
        calls: numbers the session's calls.
        detail: the view with the tab.
    """

    request_shown = Signal()

    def __init__(self, work: Workspace, calls: OriginController, detail: EventDetail) -> None:
        super().__init__(detail)
        self._recorder = work.run.requests
        self._agents = work.agents
        self._current = work.current
        self._prices = work.prices
        self._tasks = work.tasks
        self._messages = work.messages
        self._calls = calls
        self._wanted: Event | None = None
        self.shown: ShownRequest | None = None
        self._detail = detail
        detail.request_wanted.connect(self._on_request_wanted)
        detail.request.curl_requested.connect(self._on_curl_requested)

    def copy_as_curl(self, event: Event) -> None:
        """Copy the request that an event answers, as a command for the shell."""
        session = self._current.session
        if session is not None:
            self._tasks.spawn(self._copy_as_curl(session, event), "Copying the request")

    def _on_curl_requested(self) -> None:
        if self._wanted is not None:
            self.copy_as_curl(self._wanted)

    async def _copy_as_curl(self, session: OpenSession, event: Event) -> None:
        try:
            recorded = await session.source.recorded_exchange(event.id)
            request = recorded.request if recorded is not None else self._known(session, event)
            if request is None:
                raise NoCurlError("This request was not recorded, so it cannot be copied. Runs of this window record theirs.")
            copy_text(await run_in_thread(curl_of, request))
        except (StorageError, NoCurlError) as error:
            self._messages.warning(str(error))
        else:
            self._messages.info("The request was copied. Set GEMINI_API_KEY in the shell before you paste it.")

    def _on_request_wanted(self, event: Event) -> None:
        self._wanted = event
        self.shown = None
        self.request_shown.emit()
        session, view = self._current.session, self._detail.request
        index = session.index_of(event.id) if session is not None else None
        view.set_place(self._calls.calls_of(session).place(index) if session is not None and index is not None else None)
        if not is_model_answer(event):
            view.set_request(None)
        elif session is None:
            self._tasks.spawn(self._show(event, [], None), "Reading the request")
        else:
            view.set_request(unrecorded_values(event), "" if self._known(session, event) is not None else READING)
            self._tasks.spawn(self._read(session, event, self._known(session, event)), "Reading the request")

    def _known(self, session: OpenSession, event: Event | None) -> RecordedModelRequest | None:
        """Return a request of this window's runs, which needs no recording."""
        known = self._recorder.request_of(event.id) if event is not None else None
        if event is None or known is None:
            return None
        described = self._agents.described_for(session.address.key.app_name, session.source)
        return as_recorded(known, agent_texts(described, event.author))

    async def _read(self, session: OpenSession, event: Event, request: RecordedModelRequest | None) -> None:
        """Show what was recorded, in memory or beside the database, with its cost; otherwise the conversation before the event."""
        problem = ""
        try:
            recorded = await session.source.recorded_exchange(event.id)
        except StorageError as error:
            recorded, problem = None, f"{error} "
        if recorded is not None:
            request = recorded.request
        model = event.model_version or (request.model if request is not None else None)
        cost = await run_in_thread(self._cost, event, model)
        if self._wanted is not event or self._current.session is not session:
            return
        if request is not None:
            window = await run_in_thread(context_window, model)
            await self._show_recorded(session, event, request, recorded, cost, window)
        elif session.pages is not None:
            self._detail.request.set_request(unrecorded_values(event, cost=cost), problem + NOT_RECORDED)
            await self._read_conversation(session, session.pages, event, cost)
        else:
            await self._show(event, session.events.in_memory, session.index_of(event.id), problem, cost)

    async def _show_recorded(
        self,
        session: OpenSession,
        event: Event,
        request: RecordedModelRequest,
        recorded: RecordedExchange | None,
        cost: str,
        window: int | None,
    ) -> None:
        index = session.index_of(event.id) if session.pages is None else None
        events = session.events.in_memory
        if recorded is None:
            own = (one for one in reversed(events[:index]) if one.author == event.author and self._recorder.request_of(one.id) is not None)
            call, previous = None, self._known(session, next(own, None))
        else:
            call, previous = recorded.call, recorded.before
        past = list(events[: index + 1]) if index is not None and index <= MAX_PRECEDING else []
        tokens = tokens_of(event.usage_metadata)
        first = f"first after {duration(call.first)}" if call is not None and call.first is not None else ""
        facts = " · ".join(filter(None, (counted(tokens.output, "token") if tokens is not None else "", first, cost)))

        def made() -> tuple[dict[str, Any], RequestDocument]:
            before = prompt_events(past, len(past) - 1, request) if past else []
            values = recorded_values(request, event, cost=cost, call=call)
            return values, request_document(Sources(request, event, previous, before, facts, self._detail.role_of))

        values, document = await run_in_thread(made)
        number = await self._number_of(session, event, previous)
        if self._wanted is not event or self._current.session is not session:
            return
        parts = prompt_parts(request, tokens.input if tokens is not None else None)
        self._detail.request.set_request(values, "", parts, size_text(parts, tokens, window), document, number)
        self.shown = ShownRequest(session.address.key.app_name, event, request)
        self.request_shown.emit()

    async def _number_of(self, session: OpenSession, event: Event, previous: RecordedModelRequest | None) -> int:
        """Return the number of the call that a previous request belongs to; 0 if it became no event, as a failed call does not."""
        index = session.index_of(event.id)
        place = self._calls.calls_of(session).place(index) if index is not None else None
        if place is None or place.own is None or previous is None:
            return 0
        number, at = place.own
        before = session.events.cached(at, request=False)
        recorded = await session.source.recorded_exchange(before.id) if before is not None else None
        request = recorded.request if recorded is not None else self._known(session, before)
        is_same = request is not None and (request.config, request.contents) == (previous.config, previous.contents)
        return number if is_same else 0

    def _cost(self, event: Event, model: str | None) -> str:
        tokens = tokens_of(event.usage_metadata)
        if tokens is None:
            return ""
        cost = self._prices.cost(model, tokens, event.timestamp)
        return "unknown" if cost is None else dollars(cost)

    async def _read_conversation(self, session: OpenSession, long: LongSession, event: Event, cost: str) -> None:
        since = session.events.in_memory
        first = len(session.events) - len(since)
        at_hand = session.index_of(event.id)
        index = await long.index_of(event.id) if at_hand is None else at_hand
        near = index is not None and index <= MAX_PRECEDING
        stored = await long.first_events(min(index + 1, first)) if near and index is not None else []
        if self._wanted is event and self._current.session is session:
            await self._show(event, [*stored, *since], index, cost=cost)

    async def _show(self, event: Event, events: Sequence[Event], index: int | None, problem: str = "", cost: str = "") -> None:
        """Show the known parts of an unrecorded request: the answer, and the conversation before it unless that is too long to read."""
        if index is not None and index > MAX_PRECEDING:
            self._detail.request.set_request(unrecorded_values(event, cost=cost), problem + NOT_RECORDED + TOO_MANY_EVENTS)
            return
        past = list(events)

        def made() -> tuple[bool, dict[str, Any], RequestDocument]:
            told = prompt_of(past, index) if index is not None else []
            contents = tuple(content.model_dump(mode="json", exclude_none=True) for content in told)
            request = RecordedModelRequest(None, {}, contents, None)
            before = prompt_events(past, index, request) if index is not None and index < len(past) else []
            document = request_document(Sources(request, event, None, before, cost, self._detail.role_of))
            return bool(told), unrecorded_values(event, told, cost), document

        is_told, values, document = await run_in_thread(made)
        if self._wanted is event:
            note = problem + NOT_RECORDED + (RECONSTRUCTED if is_told else "")
            self._detail.request.set_request(values, note, document=document)
