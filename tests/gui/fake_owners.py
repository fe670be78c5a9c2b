"""Owners for tests of one controller with real widgets: their signals are real, their answers are set by the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.costs import CostSum
from inspector_app.presentation.session_info import ForkInfo
from runtime.debugger.hold import Hold
from runtime.events.event import Event
from runtime.history.invocations import Invocation, PendingItem, earlier_unanswered
from runtime.sessions.session import SessionKey
from tests.unit.inspector_app.workspace.fakes import FakeAgents, FakeMessages, FakeSource


@dataclass
class FakeSession:
    """A displayed session whose events are all in memory."""

    address: SessionAddress
    events: Any = ()
    source: FakeSource = field(default_factory=FakeSource)
    history: Any = None
    pages: Any = None

    def index_of(self, event_id: str) -> int | None:
        return next((index for index, event in enumerate(self.events) if event.id == event_id), None)


class Events(list[Event]):
    """Events in memory."""

    @property
    def in_memory(self) -> list[Event]:
        return self

    def cached(self, index: int) -> Event:
        return self[index]


class FakeRun(QObject):
    """The run; `calls` collects what a controller asks of it."""

    changed = Signal()
    run_started = Signal(object)
    run_ended = Signal(object)
    hold_changed = Signal(object)
    beside_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.phase = "idle"
        self.address: SessionAddress | None = None
        self.hold: Hold | None = None
        self.held_by: Any = None
        self.waiting: list[Hold] = []
        self.runs_on: list[Any] = []
        self.uncommitted: dict[str, Any] = {}
        self.invocation: Invocation | None = None
        self.reason: str | None = None
        self.calls: list[tuple[Any, ...]] = []

    def blocked(self, _action: str, _invocation_id: str | None = None) -> str | None:
        return self.reason

    def ran_ahead(self, _event_id: str) -> bool:
        return False

    def resumable(self, _invocation_id: str | None = None) -> Invocation | None:
        return self.invocation

    def respond(self, item: PendingItem, response: dict[str, Any]) -> None:
        self.calls.append(("respond", item, response))

    def resume(self, invocation_id: str, *, paused: bool) -> None:
        self.calls.append(("resume", invocation_id, paused))

    def send(self, text: str, *, paused: bool, to: SessionAddress | None = None) -> None:
        self.calls.append(("send", text, paused, to))

    def continue_run(self) -> None:
        self.calls.append(("continue_run",))

    def hold_at(self, hold: Hold | None) -> None:
        """Hold the agent; None: let it continue."""
        self.hold = hold
        self.hold_changed.emit(hold)


class FakeCurrent(QObject):
    """The displayed session."""

    session_loading = Signal(object)
    session_loaded = Signal(object)
    events_added = Signal(object)
    invocations_found = Signal(object)
    past_progress = Signal(int, int)
    state_computed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.session: FakeSession | None = None

    def show(self, session: FakeSession) -> None:
        """Display a session at once."""
        self.session = session
        self.session_loaded.emit(session)

    def position_of(self, event_id: str) -> int | None:
        return self.session.index_of(event_id) if self.session is not None else None

    async def wait_until_loaded(self) -> None:
        """Return at once."""


class FakeCatalog(QObject):
    """The sessions of all databases."""

    listed = Signal(object, object)
    removed = Signal(str)
    sessions_changed = Signal(str, object, object)
    forks_changed = Signal(str)
    pending_changed = Signal(str, object)
    marks_changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.pending: dict[SessionAddress, list[PendingItem]] = {}
        self.forks_of: dict[str, dict[SessionKey, ForkInfo]] = {}
        self.marks_of: dict[SessionAddress, str] = {}

    def set_pending(self, address: SessionAddress, items: list[PendingItem]) -> None:
        self.pending[address] = items
        self.pending_changed.emit(address.database, [address.key])

    def set_mark(self, address: SessionAddress, mark: str) -> None:
        self.marks_of[address] = mark
        self.marks_changed.emit(address.database, [address.key])

    def waits_for(self, address: SessionAddress) -> tuple[int, str]:
        items = self.pending.get(address, ())
        return len(items), next((item.name or "" for item in reversed(items)), "")

    def earlier(self, address: SessionAddress) -> str:
        return earlier_unanswered(self.pending.get(address, ()))

    def set_forks(self, database: str, forks: dict[SessionKey, ForkInfo]) -> None:
        self.forks_of[database] = forks
        self.forks_changed.emit(database)

    def fork_info(self, address: SessionAddress) -> ForkInfo | None:
        return self.forks(address.database).get(address.key)

    def forks(self, database: str) -> Mapping[SessionKey, ForkInfo]:
        return self.forks_of.get(database, {})

    def mark(self, address: SessionAddress) -> str | None:
        return self.marks_of.get(address)

    def marks(self, database: str) -> dict[SessionKey, str]:
        return {address.key: mark for address, mark in self.marks_of.items() if address.database == database}


class FakeTitles(QObject):
    """The titles of all sessions."""

    changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, dict[SessionKey, str]] = {}
        self.wanted: list[tuple[str, SessionKey]] = []
        self.renamed: list[tuple[SessionAddress, str]] = []

    def tell(self, database: str, titles: dict[SessionKey, str]) -> None:
        self.of_database(database).update(titles)
        self.changed.emit(database, list(titles))

    def of_database(self, database: str) -> dict[SessionKey, str]:
        return self.known.setdefault(database, {})

    def title(self, address: SessionAddress) -> str:
        return self.of_database(address.database).get(address.key, address.key.session_id)

    def want(self, database: str, key: SessionKey) -> None:
        self.wanted.append((database, key))

    def rename(self, address: SessionAddress, name: str) -> None:
        self.renamed.append((address, name))


class FakeCosts(QObject):
    """What the displayed session costs."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.total: CostSum | None = None

    def tell(self, total: CostSum) -> None:
        self.total = total
        self.changed.emit()


class FakeDatabases(QObject):
    """The open databases; each has a source of its own name."""

    database_listed = Signal(object, object)
    writing_allowed = Signal(object)

    def source(self, target: str) -> FakeSource:
        return FakeSource(target, f"title of {target}")


class FakeWriteAccess(QObject):
    """Allows writing at once."""

    others_found = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def request(self) -> None:
        self.calls.append("request")

    async def allow(self, source: FakeSource) -> None:
        self.calls.append(f"allow {source.title}")
        source.writing_allowed = True


class FakeWorkingCopy(QObject):
    """Makes no copy."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def request(self) -> None:
        self.calls.append("request")

    async def open_copy(self, source: FakeSource, _key: SessionKey) -> None:
        self.calls.append(f"copy {source.title}")


def fake_workspace(**owners: Any) -> Any:
    """Return a workspace of fakes that do nothing, and of these owners."""
    fakes = {
        "agents": FakeAgents(),
        "databases": FakeDatabases(),
        "catalog": FakeCatalog(),
        "current": FakeCurrent(),
        "titles": FakeTitles(),
    }
    return SimpleNamespace(**fakes | {"titles": FakeTitles(), "messages": FakeMessages(), "commits": None} | owners)
