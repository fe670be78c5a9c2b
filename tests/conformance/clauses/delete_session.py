"""delete_session."""

from __future__ import annotations

from tests.conformance.clause import clause
from tests.conformance.names import BaseSessionService, Event, EventActions, SessionNotFoundError, content, raises


@clause()
async def removes_the_session_and_its_events(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event(author="me"))
    await service.create_session(app_name="a", user_id="u", session_id="t")
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    assert [item.id for item in (await service.list_sessions(app_name="a")).sessions] == ["t"]
    with raises(SessionNotFoundError, "s"):
        await service.append_event(session, Event(author="me"))


@clause()
async def a_missing_session_is_not_an_error(service: BaseSessionService) -> None:
    await service.delete_session(app_name="a", user_id="u", session_id="s")


@clause()
async def shared_state_stays(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"app:x": 1})
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"user:y": 2, "own": 3})))
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    again = await service.create_session(app_name="a", user_id="u", session_id="s")
    assert again.state == {"app:x": 1, "user:y": 2}
    assert again.events == []
    await service.append_event(again, Event(author="me", timestamp=2_000_000_000.5))
    stored = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert content(stored) == content(again)
