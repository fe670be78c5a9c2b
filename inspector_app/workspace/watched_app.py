"""What a running app reports to the window that is attached to it, on its way to the displayed session and the list of sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.documents.sources import AttachedSource
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.incoming_events import IncomingEvents
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.debugger.debugger import Debugger
from runtime.debugger.request_recorder import RequestRecorder
from runtime.sessions.session_key import SessionKey
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.engines import attached_app
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
else:
    attached_app = lazy_module("inspector_app.engines.attached_app")


class WatchedApp(QObject):
    """Takes what an attached app reports; an `inspector_app.engines.attached_app.Watcher`.

    Attributes:
        app: the connection.
        source: the app's sessions.
        address: the session of the run that last began or was held; None before the first.
        lost: why the connection ended; empty while it exists, and if the window ended it.

    Signals:
        changed: a run began or ended; `address` may be another one.
        database_found(str): the app stores its sessions in this SQLite file.

    Args:
        app, source: see above.
        arrivals: passes on events of the displayed session.
        cursor: the selection; the first session, and one that is held, are selected.
        current, catalog, requests, tasks, messages: receive what is reported.
        is_held: returns whether a run is held.
        stop: ends the watching.
    """

    changed = Signal()
    database_found = Signal(str)

    def __init__(
        self,
        app: attached_app.AttachedApp,
        source: AttachedSource,
        arrivals: IncomingEvents,
        cursor: Cursor,
        current: CurrentSession,
        catalog: SessionCatalog,
        requests: RequestRecorder,
        tasks: Tasks,
        messages: MessageBus,
        is_held: Callable[[], bool],
        stop: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.app = app
        self.source = source
        self.address: SessionAddress | None = None
        self.lost = ""
        self._arrivals = arrivals
        self._cursor = cursor
        self._current = current
        self._catalog = catalog
        self._requests = requests
        self._tasks = tasks
        self._messages = messages
        self._is_held = is_held
        self._stop = stop
        self._active: Counter[SessionKey] = Counter()
        self._files: set[str] = set()
        cursor.session_changed.connect(self._on_session_changed)
        self._on_session_changed(cursor.session)

    @property
    def is_active(self) -> bool:
        """Whether the app runs anything in the session at `address`."""
        return self.address is not None and self._active[self.address.key] > 0

    def last_event(self) -> Event | None:
        """Return the last committed event of the session at `address`."""
        return self.source.last_event(self.address.key) if self.address is not None else None

    def follow_hold(self, debugger: Debugger) -> None:
        """Select the session whose run is held."""
        key = self.app.key_of(debugger.held_call)
        if key is not None:
            self.address = SessionAddress(self.source.target, key)
        if self.address is not None:
            self._cursor.select_session(self.address)

    def on_session(self, session: attached_app.SeenSession) -> None:
        """See `Watcher`."""
        self.source.add_session(session.key, session.events, session.state, is_whole=session.older == 0)
        self._list(session.key)
        if session.older:
            self._messages.info(
                f"Session {session.key.session_id} has {session.older:,} older events, which the app did not send.", quiet=True
            )
        if session.file is not None and session.file not in self._files:
            self._files.add(session.file)
            self.database_found.emit(session.file)
        if not self._shows_app:
            self._cursor.select_session(SessionAddress(self.source.target, session.key))

    def on_started(self, key: SessionKey, invocation_id: str, root: Mapping[str, Any]) -> None:
        """See `Watcher`."""
        self.source.described = root
        self.source.begin_run(key, invocation_id)
        self._active[key] += 1
        if self.address is None or not self._is_held():
            self.address = SessionAddress(self.source.target, key)
        self.changed.emit()

    def on_committed(self, key: SessionKey, event: Event, temp: dict[str, Any]) -> None:
        """See `Watcher`."""
        self.source.add_event(key, event, temp)
        if self._is_displayed(key):
            self._arrivals.add(Committed(event, temp))

    async def on_partial(self, key: SessionKey, event: Event) -> None:
        """See `Watcher`."""
        if self._is_displayed(key):
            self._arrivals.add(event)
            await self._arrivals.wait_for_capacity()

    def on_request(self, event_id: str, request: LlmRequest) -> None:
        """See `Watcher`."""
        self._requests.keep(event_id, request)

    def on_ended(self, key: SessionKey, invocation_id: str, error: Mapping[str, Any] | None, finished: bool) -> None:
        """See `Watcher`."""
        reason = f"{error.get('type')}: {error.get('message')}" if error is not None else "" if finished else "it did not run to its end"
        self.source.end_run(key, invocation_id, reason)
        self._active[key] -= 1
        self.changed.emit()
        if error is not None:
            text = f"{self.app.title} failed in session {key.session_id}: {error.get('type')}: {error.get('message')}"
            self._messages.warning(text, details=error.get("traceback"))
        self._tasks.spawn(self._refresh(SessionAddress(self.source.target, key)), f"Listing session {key.session_id}")

    def on_problem(self, text: str) -> None:
        """See `Watcher`."""
        self._messages.warning(text)

    def on_lost(self, reason: str, has_ended: bool) -> None:
        """See `Watcher`."""
        self.lost = reason
        if has_ended:
            self.source.forget_runs()
        self._stop()

    async def _refresh(self, address: SessionAddress) -> None:
        if self._is_displayed(address.key):
            self._arrivals.flush()
        await self._current.refresh_invocations(address)

    @property
    def _shows_app(self) -> bool:
        selected = self._cursor.session
        return selected is not None and selected.database == self.source.target

    def _is_displayed(self, key: SessionKey) -> bool:
        return self._arrivals.address is not None and self._arrivals.address.key == key and self._shows_app

    def _list(self, key: SessionKey) -> None:
        self._catalog.update_sessions(self.source.target, [self.source.summary(key)])

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self._arrivals.flush()
        self._arrivals.address = address if address is not None and address.database == self.source.target else None
