"""Seed: session-state, "Características Clave de State": storable keys and values, and their persistence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.errors import UnstorableValueError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, InMemorySessionService


@pytest.mark.rule("S6")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: "x"}, object(), b"x", {1, 2}])
async def test_values_that_would_not_survive_storage_are_rejected(value: Any) -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(UnstorableValueError, match=r"state\['deep'\]\['down'\]"):
        await service.append_event(session, Event(author="a", actions=EventActions(state_delta={"fine": 1, "deep": {"down": value}})))
    assert (session.state, session.events) == ({}, [])


async def test_deeply_nested_and_recursive_values_are_rejected() -> None:
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


async def test_persistence_depends_on_the_service(tmp_path: Path) -> None:
    """ "Persistencia: Depende del SessionService"."""
    url = f"sqlite:///{tmp_path / 'sessions.db'}"
    for _ in range(2):
        memory, database = InMemorySessionService(), DatabaseSessionService(url)
        async with memory, database:
            key = {"app_name": "app", "user_id": "u", "session_id": "s"}
            found = [await service.get_session(**key) for service in (memory, database)]
            assert found[0] is None
            if found[1] is None:
                await memory.create_session(**key, state={"theme": "dark"})
                await database.create_session(**key, state={"theme": "dark", "user:cart": ["book", {"pen": 2}], "app:on": True})
    assert found[1] is not None
    assert found[1].state == {"theme": "dark", "user:cart": ["book", {"pen": 2}], "app:on": True}
