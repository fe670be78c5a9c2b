"""Seed: session-state, "1. La Manera Fácil: output_key (para Respuestas de Texto del Agente)"."""

from __future__ import annotations

from google.genai.types import Content, Part

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService


async def test_the_answer_is_saved() -> None:
    greeting_agent = LlmAgent(
        name="Greeter",
        model=ScriptedLlm(replies=["Hello there! How can I help you today?"]),
        instruction="Generate a short, friendly greeting.",
        output_key="last_greeting",
    )
    app_name, user_id, session_id = "state_app", "user1", "session1"
    session_service = InMemorySessionService()
    runner = Runner(agent=greeting_agent, app_name=app_name, session_service=session_service)
    session = await session_service.create_session(app_name=app_name, user_id=user_id, session_id=session_id)
    assert session.state == {}
    user_message = Content(parts=[Part(text="Hello")])
    final = [event for event in runner.run(user_id=user_id, session_id=session_id, new_message=user_message) if event.is_final_response()]
    assert len(final) == 1
    updated_session = await session_service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
    assert updated_session is not None
    assert updated_session.state == {"last_greeting": "Hello there! How can I help you today?"}
