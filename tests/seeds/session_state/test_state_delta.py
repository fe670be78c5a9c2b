"""Seed: session-state, "2. La Manera Estándar: EventActions.state_delta (para Actualizaciones Complejas)"."""
# ruff: noqa: T201 - the example is as the seed has it

from __future__ import annotations

import time

import pytest
from google.genai.types import Content, Part  # noqa: F401

from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService, Session  # noqa: F401


async def test_a_system_events_delta_with_every_scope(capsys: pytest.CaptureFixture[str]) -> None:
    """As written."""
    # --- Configuración ---
    session_service = InMemorySessionService()
    app_name, user_id, session_id = "state_app_manual", "user2", "session2"
    session = await session_service.create_session(
        app_name=app_name, user_id=user_id, session_id=session_id, state={"user:login_count": 0, "task_status": "idle"}
    )
    print(f"Initial state: {session.state}")

    # --- Definir Cambios de Estado ---
    current_time = time.time()
    state_changes = {
        "task_status": "active",
        "user:login_count": session.state.get("user:login_count", 0) + 1,
        "user:last_login_ts": current_time,
        "temp:validation_needed": True,
    }

    # --- Crear Event con Actions ---
    actions_with_update = EventActions(state_delta=state_changes)
    system_event = Event(
        invocation_id="inv_login_update",
        author="system",
        actions=actions_with_update,
        timestamp=current_time,
    )

    # --- Agregar el Event (Esto actualiza el estado) ---
    await session_service.append_event(session, system_event)
    print("`append_event` called with explicit state delta.")

    # --- Verificar el Estado Actualizado ---
    updated_session = await session_service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
    print(f"State after event: {updated_session.state}")

    assert updated_session.state == {"user:login_count": 1, "task_status": "active", "user:last_login_ts": current_time}
    assert updated_session.last_update_time == current_time
    assert "temp:validation_needed" not in updated_session.events[0].actions.state_delta
    assert "`append_event` called" in capsys.readouterr().out


@pytest.mark.rule("S5")
async def test_none_is_stored_as_a_value() -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s", state={"k": 1})
    await service.append_event(session, Event(author="system", actions=EventActions(state_delta={"k": None})))
    assert session.state == {"k": None}
