"""Seed: session-state, "2. La Manera Estándar: EventActions.state_delta (para Actualizaciones Complejas)"."""

from __future__ import annotations

import time

from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService


async def test_a_system_events_delta_with_every_scope() -> None:
    service = InMemorySessionService()
    session = await service.create_session(
        app_name="state_app_manual", user_id="user2", session_id="session2", state={"user:login_count": 0, "task_status": "idle"}
    )
    now = time.time()
    changes = {
        "task_status": "active",
        "user:login_count": session.state.get("user:login_count", 0) + 1,
        "user:last_login_ts": now,
        "temp:validation_needed": True,
    }
    event = Event(invocation_id="inv_login_update", author="system", actions=EventActions(state_delta=changes), timestamp=now)
    await service.append_event(session, event)
    updated = await service.get_session(app_name="state_app_manual", user_id="user2", session_id="session2")
    assert updated is not None
    assert updated.state == {"task_status": "active", "user:login_count": 1, "user:last_login_ts": now}
    assert updated.last_update_time == now
    assert "temp:validation_needed" not in updated.events[0].actions.state_delta


async def test_none_is_stored_and_removes_nothing() -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s", state={"k": 1})
    await service.append_event(session, Event(author="system", actions=EventActions(state_delta={"k": None})))
    assert session.state == {"k": None}
