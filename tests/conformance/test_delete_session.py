"""delete_session."""

from __future__ import annotations

import pytest

from runtime.errors import SessionNotFoundError
from runtime.events import Event, EventActions
from runtime.sessions import BaseSessionService


async def test_takes_the_session_and_its_events(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event(author="me"))
    await service.create_session(app_name="a", user_id="u", session_id="t")
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    assert [item.id for item in (await service.list_sessions(app_name="a")).sessions] == ["t"]
    with pytest.raises(SessionNotFoundError, match="s"):
        await service.append_event(session, Event(author="me"))


async def test_what_is_not_there_is_no_error(service: BaseSessionService) -> None:
    await service.delete_session(app_name="a", user_id="u", session_id="s")


async def test_what_it_shared_stays(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"app:x": 1})
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"user:y": 2, "own": 3})))
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    again = await service.create_session(app_name="a", user_id="u", session_id="s")
    assert again.state == {"app:x": 1, "user:y": 2}
    assert again.events == []
    await service.append_event(again, Event(author="me"))
    stored = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert stored == again
