"""get_session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runtime.events import Event, EventActions
from runtime.sessions import BaseSessionService, GetSessionConfig


async def test_none_where_there_is_none(service: BaseSessionService) -> None:
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    await service.create_session(app_name="a", user_id="u", session_id="s")
    assert await service.get_session(app_name="a", user_id="v", session_id="s") is None
    assert await service.get_session(app_name="b", user_id="u", session_id="s") is None


async def test_equals_the_session_that_was_written(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:x": 1})
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": "ключ"})))
    assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


async def test_what_it_returns_is_a_copy(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"list": [1]})
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"other": [1]})))
    copy = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert copy is not None
    copy.state["list"].append(2)
    copy.events[0].actions.state_delta["other"].append(2)
    copy.events.clear()
    assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (GetSessionConfig(), [0, 1, 2, 3, 4]),
        (GetSessionConfig(num_recent_events=2), [3, 4]),
        (GetSessionConfig(num_recent_events=9), [0, 1, 2, 3, 4]),
        (GetSessionConfig(num_recent_events=0), []),
        (GetSessionConfig(after_timestamp=1002.0), [2, 3, 4]),
        (GetSessionConfig(after_timestamp=2000.0), []),
        (GetSessionConfig(after_timestamp=1001.0, num_recent_events=2), [3, 4]),
        (GetSessionConfig(after_timestamp=1004.0, num_recent_events=3), [4]),
    ],
)
async def test_chooses_events(service: BaseSessionService, config: GetSessionConfig, expected: list[int]) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    for number in range(5):
        await service.append_event(session, Event(author="me", id=str(number), timestamp=1000.0 + number))
    chosen = await service.get_session(app_name="a", user_id="u", session_id="s", config=config)
    assert chosen is not None
    assert [event.id for event in chosen.events] == [str(number) for number in expected]


async def test_a_session_loaded_without_its_events_can_be_appended_to(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event(author="me"))
    light = await service.get_session(app_name="a", user_id="u", session_id="s", config=GetSessionConfig(num_recent_events=0))
    assert light is not None
    await service.append_event(light, Event(author="me"))
    full = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert full is not None
    assert len(full.events) == 2


@pytest.mark.clause("survives_reopening")
async def test_survives_reopening(open_service: Callable[[], BaseSessionService]) -> None:
    async with open_service() as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:x": [1, None]})
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"app:y": {"z": 1.5}})))
    async with open_service() as service:
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session
