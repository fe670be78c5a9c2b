"""Committed, partial and inner events reach the window in the order in which they came."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.workspace import incoming_events
from inspector_app.workspace.incoming_events import IncomingEvents, ToolAgentEvent
from runtime.events.event import Event
from runtime.sessions.session import SessionKey

ADDRESS = SessionAddress("story.db", SessionKey("story", "maria", "s"))


class Arrivals:
    """What the window learns, in order."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        current: Any = SimpleNamespace(add_committed=lambda address, batch: self.told.append([one.event.id for one in batch]))
        self.incoming = IncomingEvents(current)
        self.incoming.address = ADDRESS
        self.incoming.partial_arrived.connect(lambda address, event: self.told.append(event.id))
        self.incoming.tool_agent_event_arrived.connect(lambda inner: self.told.append(inner.event.id))
        self.incoming.shown.connect(lambda: self.told.append("shown"))


def event(name: str) -> Event:
    return Event(id=name, author="agent", invocation_id="i")


def committed(name: str) -> Committed:
    return Committed(event(name), {})


@pytest.fixture
def arrivals(qapp: object) -> Arrivals:
    return Arrivals()


def test_the_order_of_all_kinds_is_kept(arrivals: Arrivals) -> None:
    inner = ToolAgentEvent(ADDRESS, event("inner"), ("call",))
    for arrival in (committed("a"), committed("b"), event("partial"), committed("c"), inner, event("more"), committed("d")):
        arrivals.incoming.add(arrival)
    arrivals.incoming.flush()
    assert arrivals.told == [["a", "b"], "partial", ["c"], "inner", "more", ["d"], "shown"]


def test_nothing_arrives_without_a_session(arrivals: Arrivals) -> None:
    arrivals.incoming.address = None
    arrivals.incoming.add(committed("a"))
    arrivals.incoming.flush()
    assert arrivals.told == []


async def test_a_run_waits_while_too_much_is_queued(arrivals: Arrivals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming_events, "MAX_QUEUED", 2)
    for name in "ab":
        arrivals.incoming.add(event(name))
    await arrivals.incoming.wait_for_capacity()
    arrivals.incoming.add(event("c"))
    waiting = asyncio.ensure_future(arrivals.incoming.wait_for_capacity())
    await asyncio.sleep(0)
    assert not waiting.done()
    arrivals.incoming.flush()
    await asyncio.wait_for(waiting, 5)
