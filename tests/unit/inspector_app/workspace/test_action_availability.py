"""Why an action is impossible now."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from inspector_app.documents.session_address import SessionAddress
from inspector_app.workspace.action_availability import Action, ActionAvailability, Phase
from inspector_app.workspace.cursor import Cursor
from runtime.history.invocations import Invocation, PendingItem, Status
from runtime.sessions.session import SessionKey
from tests.unit.inspector_app.workspace.fakes import FakeAgent, FakeAgents, FakeDocument, FakeSource

ADDRESS = SessionAddress("story.db", SessionKey("story", "maria", "s"))


class Window:
    """The owners that the availability asks."""

    def __init__(self) -> None:
        self.cursor = Cursor()
        self.agents = FakeAgents(FakeAgent())
        self.sources = [FakeSource()]
        self.databases: Any = SimpleNamespace(sources=self.sources, source=lambda target: self.sources[0])
        self.current: Any = SimpleNamespace(session=None)
        self.availability = ActionAvailability(self.cursor, self.agents, self.databases, self.current)  # type: ignore[arg-type]

    def display(self, *statuses: Status) -> None:
        self.cursor.select_session(ADDRESS)
        invocations = [Invocation(f"i-{number}", status, "", "", "", {}) for number, status in enumerate(statuses)]
        self.current.session = FakeDocument(ADDRESS, self.sources[0], invocations)

    def blocked(self, action: Action, phase: Phase = "idle") -> str:
        return self.availability.reason_blocked(action, phase) or ""


@pytest.fixture
def window(qapp: object) -> Window:
    return Window()


def test_without_a_session_a_message_begins_one(window: Window) -> None:
    assert window.blocked("send") == ""
    assert window.blocked("resume") == "No session is selected."


def test_without_an_agent_the_sentence_names_the_one_to_open(window: Window) -> None:
    window.agents.loaded = None
    assert "Open an agent" in window.blocked("send")
    window.cursor.select_session(ADDRESS)
    assert "story" in window.blocked("send")


def test_a_session_that_is_being_read_takes_no_message(window: Window) -> None:
    window.cursor.select_session(ADDRESS)
    assert window.blocked("send") == "The session is still being read."


def test_another_app_s_agent_cannot_continue_a_session(window: Window) -> None:
    window.display()
    window.agents.loaded = FakeAgent(name="orders")
    assert "orders" in window.blocked("send") and "story" in window.blocked("send")


def test_a_read_only_database_blocks_sending_and_not_what_asks_where_to_write(window: Window) -> None:
    window.sources[0].writing_allowed = False
    window.display("interrupted")
    assert "read-only" in window.blocked("send")
    assert "read-only" in window.blocked("new_session")
    assert (window.blocked("resume"), window.blocked("fork")) == ("", "")


@pytest.mark.parametrize(
    ("statuses", "resumed"), [((), None), (("finished", "interrupted"), "i-1"), (("paused",), None), (("interrupted",) * 2, "i-1")]
)
def test_the_newest_interrupted_invocation_is_resumed(window: Window, statuses: tuple[Status, ...], resumed: str | None) -> None:
    window.display(*statuses)
    found = window.availability.resumable()
    assert (found.invocation_id if found is not None else None) == resumed
    assert (window.blocked("resume") == "") == (resumed is not None)


def test_what_a_message_followed_is_resumed_only_by_its_name(window: Window) -> None:
    window.display("interrupted", "finished")
    broken = window.current.session.invocations[0]
    past = replace(broken, pending=(PendingItem("interrupted", broken.invocation_id, is_past=True),))
    window.current.session.invocations[0] = past
    assert (window.availability.resumable(), window.availability.unfinished()) == (None, None)
    assert window.availability.resumable("i-0") == past


def test_an_agent_that_cannot_resume_says_why(window: Window) -> None:
    window.display("interrupted")
    window.agents.loaded = FakeAgent(reasons={"resume": "story is not resumable."})
    assert window.blocked("resume") == "story is not resumable."


@pytest.mark.parametrize(
    ("phase", "possible"),
    [
        ("idle", {"send", "fork", "new_session", "respond"}),
        ("running", {"pause", "stop"}),
        ("paused", {"continue", "step", "step_on", "stop"}),
    ],
)
def test_what_each_phase_allows(window: Window, phase: Phase, possible: set[str]) -> None:
    window.display("finished")
    actions: tuple[Action, ...] = ("send", "fork", "new_session", "resume", "respond", "continue", "pause", "step", "step_on", "stop")
    assert {action for action in actions if not window.blocked(action, phase)} == possible


def test_a_loading_agent_blocks_what_needs_it(window: Window) -> None:
    window.display("finished")
    window.agents.busy = "story is being loaded."
    assert {window.blocked(action) for action in ("send", "fork", "new_session", "resume", "respond", "step")} == {"story is being loaded."}
    assert window.blocked("stop", "running") == ""


def test_an_attached_app_drives_its_own_runs(window: Window) -> None:
    window.display("finished")
    said = {
        window.availability.reason_blocked(action, "idle", attached="shop") for action in ("send", "fork", "new_session", "resume", "step")
    }
    assert said == {"shop drives its own runs. To use this window otherwise, stop watching it first (Shift+F5)."}
    assert window.availability.reason_blocked("step", "paused", attached="shop") is None


def test_the_selected_event_s_interrupted_invocation_is_resumed(window: Window) -> None:
    window.display("interrupted", "interrupted")

    class Events(list[Any]):
        def cached(self, index: int, *, request: bool) -> Any:
            return self[index]

    window.current.session.events = Events([SimpleNamespace(invocation_id="i-0"), SimpleNamespace(invocation_id="i-1")])
    window.cursor.select_event(0)
    found = window.availability.resumable()
    assert found is not None and found.invocation_id == "i-0"


def test_a_new_session_goes_to_the_only_writable_database(window: Window) -> None:
    assert window.availability.new_session_source() is window.sources[0]
    window.sources.append(FakeSource("other.db"))
    assert window.availability.new_session_source() is None
