"""session_for_run: get_session with events that are decoded or copied once for all runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.conformance.clause import REOPENING, clause
from tests.conformance.names import BaseSessionService, Event, Session, delta, raises

S: dict[str, Any] = {"app_name": "a", "user_id": "u", "session_id": "s"}


async def loaded(service: BaseSessionService) -> Session:
    session = await service.session_for_run(**S)
    assert session is not None
    assert session == await service.get_session(**S)
    return session


async def with_events(service: BaseSessionService, count: int = 3) -> Session:
    session = await service.create_session(**S, state={"user:x": 1})
    for number in range(count):
        await service.append_event(session, delta(k=number))
    return session


@clause("session_for_run")
async def returns_none_for_a_missing_session(service: BaseSessionService) -> None:
    assert await service.session_for_run(**S) is None
    await with_events(service)
    await loaded(service)
    await service.delete_session(**S)
    assert await service.session_for_run(**S) is None


@clause("session_for_run")
async def the_next_run_gets_the_same_events_and_the_new_ones(service: BaseSessionService) -> None:
    first = await with_events(service)
    run = await loaded(service)
    assert run == first
    events, seen = run.events, list(run.events)
    await service.append_event(run, delta(k="own"))
    del run
    other = await service.get_session(**S)
    assert other is not None
    await service.append_event(other, delta(k="another copy"))
    again = await loaded(service)
    assert again.events is events
    assert len(again.events) == 5
    assert all(mine is before for mine, before in zip(again.events, seen, strict=False))
    assert again.state["k"] == "another copy"


@clause("session_for_run")
async def two_runs_at_once_do_not_see_each_other(service: BaseSessionService) -> None:
    await with_events(service)
    one, two = await loaded(service), await loaded(service)
    assert one.events is not two.events
    await service.append_event(one, delta(k="one"))
    assert (len(one.events), len(two.events)) == (4, 3)
    del one, two
    assert len((await loaded(service)).events) == 4


@clause(
    "session_for_run",
    cases={
        "pop": lambda events: events.pop(),
        "clear": lambda events: events.clear(),
        "append": lambda events: events.append(delta()),
        "set": lambda events: events.__setitem__(0, delta()),
    },
)
async def a_modified_list_is_not_reused(service: BaseSessionService, edit: Callable[[Any], object]) -> None:
    first = await with_events(service)
    run = await loaded(service)
    edit(run.events)
    del run
    assert await loaded(service) == first


@clause("session_for_run")
async def a_recreated_session_is_read_again(service: BaseSessionService) -> None:
    first = await with_events(service)
    await loaded(service)
    await service.delete_session(**S)
    second = await service.create_session(**S)
    for event in first.events:
        await service.append_event(second, event.model_copy(deep=True))
    run = await loaded(service)
    assert "user:x" in run.state
    await service.append_event(run, delta(k=1))
    assert len((await loaded(service)).events) == 4


@clause("session_for_run")
async def a_failed_append_is_not_in_the_list(service: BaseSessionService) -> None:
    await with_events(service)
    run = await loaded(service)
    with raises(Exception, "already part"):
        await service.append_event(run, run.events[0].model_copy(deep=True))
    assert len(run.events) == 3
    del run
    assert len((await loaded(service)).events) == 3


@clause("session_for_run", REOPENING)
async def events_of_another_process_are_read(open_service: Callable[[], BaseSessionService]) -> None:
    async with open_service() as mine, open_service() as other:
        await with_events(mine)
        events = (await loaded(mine)).events
        theirs = await loaded(other)
        await other.append_event(theirs, delta(k="theirs"))
        run = await loaded(mine)
        assert run.events is events
        assert run.state["k"] == "theirs"
        await mine.append_event(run, delta(k="mine"))
        del run, theirs
        assert len((await loaded(other)).events) == 5
        await other.delete_session(**S)
        assert await mine.session_for_run(**S) is None
        await with_events(other, 2)
        assert len((await loaded(mine)).events) == 2


@clause("session_for_run")
async def many_sessions_can_run_at_once(service: BaseSessionService) -> None:
    names = [{**S, "session_id": str(number)} for number in range(12)]

    async def work(name: dict[str, Any]) -> None:
        await service.create_session(**name)
        for turn in range(4):
            run = await service.session_for_run(**name)
            assert run is not None
            assert [event.author for event in run.events] == [f"{name['session_id']}-{before}" for before in range(turn)]
            await service.append_event(run, Event(author=f"{name['session_id']}-{turn}"))

    await asyncio.gather(*(work(name) for name in names))
