"""The doctor of a database on a server, which has no commit order to compare with."""

from __future__ import annotations

from inspector_app.analysis.doctor import examine
from runtime.events import Event, EventActions
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.postgres import server


async def test_the_rows_of_a_server_are_examined() -> None:
    url = server().new_database()
    async with DatabaseSessionService(url) as service:
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        for text in ("sk-abcdefghijklmnopqrstuvwx", "sk-abcdefghijklmnopqrstuvwy"):
            await service.append_event(session, Event(author="agent", actions=EventActions(state_delta={"api_key": text})))
    with StoredDatabase.open(url) as database:
        assert [finding.kind for finding in examine(database, url)] == ["secret in state"]
