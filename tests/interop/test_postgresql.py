"""The real google-adk opens and continues our sessions on a PostgreSQL server, and we continue its sessions."""

from __future__ import annotations

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from tests.interop.google_adk import run_adk
from tests.postgres import server

CONTINUE = """
    service = DatabaseSessionService(args[0])
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    if session is None:
        session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"app:first": 1})
    for number in range(3):
        await service.append_event(session, Event(author="adk", actions=EventActions(state_delta={"n": number, "user:n": 1.0})))
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    await service.db_engine.dispose()
    return {"ids": [event.id for event in session.events], "state": session.state}
"""


async def test_both_runtimes_continue_each_others_sessions_on_a_server() -> None:
    for we_begin in (True, False):
        url = server().new_database()
        theirs = url.replace("postgresql://", "postgresql+asyncpg://")
        async with DatabaseSessionService(url) as service:
            if we_begin:
                session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"app:first": 1})
                actions = EventActions(state_delta={"k": "ключ", "user:k": 1e22})
                await service.append_event(session, Event(author="me", custom_metadata={"k": "\0", "n": 1e23}, actions=actions))
                expected = [event.id for event in session.events]
            else:
                expected = []
            found = run_adk(CONTINUE, theirs)
            assert found["ids"][: len(expected)] == expected
            held = await service.get_session(app_name="a", user_id="u", session_id="s")
            assert held is not None
            assert [event.id for event in held.events] == found["ids"]
            assert held.state == found["state"]
            await service.append_event(held, Event(author="me", actions=EventActions(state_delta={"n": "ours"})))
            found = run_adk(CONTINUE, theirs)
            assert found["ids"][: len(held.events)] == [event.id for event in held.events]
            again = await service.get_session(app_name="a", user_id="u", session_id="s")
            assert again is not None
            assert [event.id for event in again.events] == found["ids"]
