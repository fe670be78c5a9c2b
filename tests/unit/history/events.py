"""Events for tests of histories."""

from __future__ import annotations

from typing import Any

from runtime.events import Event, EventActions


def event(invocation_id: str = "i", **delta: Any) -> Event:
    return Event(author="me", invocation_id=invocation_id, actions=EventActions(state_delta=delta))
