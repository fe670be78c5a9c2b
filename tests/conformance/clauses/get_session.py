"""get_session."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.clause import REOPENING, clause
from tests.conformance.names import BaseSessionService, Event, EventActions, GetSessionConfig, content


@clause()
async def returns_none_for_a_missing_session(service: BaseSessionService) -> None:
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    await service.create_session(app_name="a", user_id="u", session_id="s")
    assert await service.get_session(app_name="a", user_id="v", session_id="s") is None
    assert await service.get_session(app_name="b", user_id="u", session_id="s") is None


@clause()
async def equals_the_session_that_was_written(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:x": 1})
    await service.append_event(session, Event(author="me", timestamp=2_000_000_000.5, actions=EventActions(state_delta={"k": "ключ"})))
    assert content(await service.get_session(app_name="a", user_id="u", session_id="s")) == content(session)


@clause()
async def returns_a_copy(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"list": [1]})
    await service.append_event(session, Event(author="me", timestamp=2_000_000_000.5, actions=EventActions(state_delta={"other": [1]})))
    copy = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert copy is not None
    copy.state["list"].append(2)
    copy.events[0].actions.state_delta["other"].append(2)
    copy.events.clear()
    assert content(await service.get_session(app_name="a", user_id="u", session_id="s")) == content(session)


@clause(
    cases={
        "all": (GetSessionConfig(), [0, 1, 2, 3, 4]),
        "the last 2": (GetSessionConfig(num_recent_events=2), [3, 4]),
        "more than there are": (GetSessionConfig(num_recent_events=9), [0, 1, 2, 3, 4]),
        "none": (GetSessionConfig(num_recent_events=0), []),
        "since a time": (GetSessionConfig(after_timestamp=1002.0), [2, 3, 4]),
        "since after the last": (GetSessionConfig(after_timestamp=2000.0), []),
        "the last 2 since a time": (GetSessionConfig(after_timestamp=1001.0, num_recent_events=2), [3, 4]),
        "the last 3 of 1": (GetSessionConfig(after_timestamp=1004.0, num_recent_events=3), [4]),
    }
)
async def filters_events(service: BaseSessionService, case: tuple[GetSessionConfig, list[int]]) -> None:
    config, expected = case
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    for number in range(5):
        await service.append_event(session, Event(author="me", id=str(number), timestamp=1000.0 + number))
    chosen = await service.get_session(app_name="a", user_id="u", session_id="s", config=config)
    assert chosen is not None
    assert [event.id for event in chosen.events] == [str(number) for number in expected]


@clause()
async def a_session_loaded_without_its_events_can_be_appended_to(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event(author="me"))
    light = await service.get_session(app_name="a", user_id="u", session_id="s", config=GetSessionConfig(num_recent_events=0))
    assert light is not None
    await service.append_event(light, Event(author="me"))
    full = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert full is not None
    assert len(full.events) == 2


@clause(REOPENING)
async def survives_reopening(open_service: Callable[[], BaseSessionService]) -> None:
    async with open_service() as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:x": [1, None]})
        await service.append_event(
            session, Event(author="me", timestamp=2_000_000_000.5, actions=EventActions(state_delta={"app:y": {"z": 1.5}}))
        )
    async with open_service() as service:
        assert content(await service.get_session(app_name="a", user_id="u", session_id="s")) == content(session)
