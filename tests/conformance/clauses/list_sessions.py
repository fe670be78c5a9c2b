"""list_sessions."""

from __future__ import annotations

from tests.conformance.clause import EVENT_TIMES, IDS_OF_USERS, PAGES, clause
from tests.conformance.names import BaseSessionService, Event, Session


@clause()
async def returns_an_empty_list_without_sessions(service: BaseSessionService) -> None:
    assert (await service.list_sessions(app_name="a", user_id="u")).sessions == []
    assert (await service.list_sessions(app_name="a")).sessions == []


@clause()
async def lists_a_users_or_all_users_sessions(service: BaseSessionService) -> None:
    await _lists(service, of_v="3")


@clause(IDS_OF_USERS)
async def lists_sessions_of_users_with_the_same_ids(service: BaseSessionService) -> None:
    await _lists(service, of_v="1")


async def _lists(service: BaseSessionService, of_v: str) -> None:
    for app, user, session_id in (("a", "u", "1"), ("a", "u", "2"), ("a", "v", of_v), ("b", "u", "1")):
        await service.create_session(app_name=app, user_id=user, session_id=session_id)
    listed = (await service.list_sessions(app_name="a", user_id="u")).sessions
    assert sorted(session.id for session in listed) == ["1", "2"]
    listed = (await service.list_sessions(app_name="a")).sessions
    assert sorted((session.user_id, session.id) for session in listed) == [("u", "1"), ("u", "2"), ("v", of_v)]


@clause()
async def sessions_have_merged_state_and_no_events(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"k": 1, "user:x": 2})
    await service.create_session(app_name="a", user_id="v", session_id="t", state={"app:y": 3})
    await service.append_event(session, Event(author="me"))
    listed = {item.id: item for item in (await service.list_sessions(app_name="a")).sessions}
    assert listed["s"].state == {"k": 1, "user:x": 2, "app:y": 3}
    assert listed["t"].state == {"app:y": 3}
    assert listed["s"].events == []


@clause(EVENT_TIMES)
async def a_session_has_the_time_of_its_last_event(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event(author="me", timestamp=2_000_000_000.5))
    (listed,) = (await service.list_sessions(app_name="a")).sessions
    assert listed.last_update_time == 2_000_000_000.5


@clause()
async def returns_copies(service: BaseSessionService) -> None:
    await service.create_session(app_name="a", user_id="u", session_id="s", state={"list": [1], "app:list": [1]})
    (session,) = (await service.list_sessions(app_name="a")).sessions
    session.state["list"].append(2)
    session.state["app:list"].append(2)
    (again,) = (await service.list_sessions(app_name="a")).sessions
    assert again.state == {"list": [1], "app:list": [1]}


@clause(PAGES)
async def the_pages_add_up_to_the_list(service: BaseSessionService) -> None:
    await _pages(service, "4", "0")


@clause(PAGES, IDS_OF_USERS)
async def the_pages_of_users_with_the_same_ids_add_up(service: BaseSessionService) -> None:
    await _pages(service, "1", "1")


async def _pages(service: BaseSessionService, of_v: str, of_w: str) -> None:
    for user, session_id in (("v", of_v), ("u", "3"), ("u", "1"), ("u", "2"), ("w", of_w)):
        await service.create_session(app_name="a", user_id=user, session_id=session_id, state={"user:name": user, "id": session_id})
    await service.create_session(app_name="b", user_id="u", session_id="4")
    for user, count in ((None, 5), ("u", 3)):
        whole = (await service.list_sessions(app_name="a", user_id=user)).sessions
        assert len(whole) == count
        found: list[Session] = []
        for _ in range(count):
            page = await service.list_sessions(app_name="a", user_id=user, limit=2, after=found[-1].key if found else None)
            assert len(page.sessions) <= 2
            found += page.sessions
        assert found == whole


@clause(PAGES)
async def a_page_continues_after_a_deleted_session(service: BaseSessionService) -> None:
    for session_id in ("1", "2", "3"):
        await service.create_session(app_name="a", user_id="u", session_id=session_id)
    (first,) = (await service.list_sessions(app_name="a", limit=1)).sessions
    await service.delete_session(app_name="a", user_id="u", session_id=first.id)
    await service.create_session(app_name="a", user_id="u", session_id="0")
    rest = (await service.list_sessions(app_name="a", limit=5, after=first.key)).sessions
    assert [session.id for session in rest] == ["2", "3"]
