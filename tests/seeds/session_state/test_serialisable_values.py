"""Seed: session-state, "Características Clave de State": keys and values that can be stored, and where they live."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.errors import UnstorableValueError
from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: "x"}, object(), b"x", {1, 2}])
async def test_what_would_not_come_back_as_it_is_is_refused(value: Any) -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(UnstorableValueError, match=r"state\['deep'\]\['down'\]"):
        await service.append_event(session, Event(author="a", actions=EventActions(state_delta={"fine": 1, "deep": {"down": value}})))
    assert (session.state, session.events) == ({}, [])


async def test_a_value_that_is_too_deep_or_contains_itself_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep]
    circle: dict[str, Any] = {}
    circle["self"] = circle
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    for value in (deep, circle):
        with pytest.raises(UnstorableValueError, match="nested deeper than 100"):
            await service.append_event(session, Event(author="a", actions=EventActions(state_delta={"k": value})))
