"""Seed: session-state, "1. La Manera Fácil: output_key (para Respuestas de Texto del Agente)"."""
# ruff: noqa: T201, F541 - the example is as the seed has it

from __future__ import annotations

from typing import Any

import pytest
from google.genai.types import Content, Part

from runtime.agents import LlmAgent
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService, Session  # noqa: F401


async def test_the_answer_is_saved(replies: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's example, which calls `runner.run` inside async code; its upper-case names are in lower case here."""
    replies[:] = ["Hello there! How can I help you today?"]
    # Definir agente con output_key
    greeting_agent = LlmAgent(
        name="Greeter",
        model="gemini-2.0-flash",
        instruction="Generate a short, friendly greeting.",
        output_key="last_greeting",
    )

    # --- Configurar Runner y Session ---
    app_name, user_id, session_id = "state_app", "user1", "session1"
    session_service = InMemorySessionService()
    runner = Runner(agent=greeting_agent, app_name=app_name, session_service=session_service)
    session = await session_service.create_session(app_name=app_name, user_id=user_id, session_id=session_id)
    print(f"Initial state: {session.state}")

    # --- Ejecutar el Agente ---
    user_message = Content(parts=[Part(text="Hello")])
    for event in runner.run(user_id=user_id, session_id=session_id, new_message=user_message):
        if event.is_final_response():
            print(f"Agent responded.")

    # --- Verificar el Estado Actualizado ---
    updated_session = await session_service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
    print(f"State after agent run: {updated_session.state}")

    assert capsys.readouterr().out.splitlines() == [
        "Initial state: {}",
        "Agent responded.",
        "State after agent run: {'last_greeting': 'Hello there! How can I help you today?'}",
    ]
