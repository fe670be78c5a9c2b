"""A database with one session, for tests of faults."""

from __future__ import annotations

from pathlib import Path

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session import SessionKey

KEY = SessionKey("a", "u", "s")


async def filled(file: Path, events: int, size: int = 10) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for number in range(events):
            await service.append_event(session, event(number, size))


def event(number: int, size: int = 10) -> Event:
    delta = {"k": number, "user:k": number, f"text{number % 7}": "x" * size}
    return Event(author="me", id=f"{number}", actions=EventActions(state_delta=delta))
