"""append_event."""

from __future__ import annotations

import asyncio
import copy
import threading
from typing import Any

import pytest
from google.genai import types

from runtime.errors import SessionNotFoundError, StaleSessionError, UnstorableValueError
from runtime.events import Event, EventActions
from runtime.sessions import BaseSessionService, Session


async def new_session(service: BaseSessionService, **state: Any) -> Session:
    return await service.create_session(app_name="a", user_id="u", session_id="s", state=state)


async def stored(service: BaseSessionService) -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    return session


def delta(**changes: Any) -> Event:
    return Event(author="me", actions=EventActions(state_delta=changes))


async def test_event_and_deltas_are_kept_and_the_session_follows(service: BaseSessionService) -> None:
    session = await new_session(service, k=1)
    event = Event(author="me", invocation_id="i", actions=EventActions(state_delta={"k": 2, "user:x": [1], "app:y": {"z": None}}))
    assert await service.append_event(session, event) is event
    assert session.state == {"k": 2, "user:x": [1], "app:y": {"z": None}}
    assert session.events == [event]
    assert session.last_update_time == event.timestamp
    assert await stored(service) == session
    other = await service.create_session(app_name="a", user_id="v")
    assert other.state == {"app:y": {"z": None}}


async def test_a_partial_event_changes_nothing(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = Event(author="me", partial=True, actions=EventActions(state_delta={"k": 1}))
    assert await service.append_event(session, event) is event
    assert session.events == []
    assert session.state == {}
    assert await stored(service) == session


async def test_none_is_a_value_and_removes_nothing(service: BaseSessionService) -> None:
    session = await new_session(service, k=1)
    await service.append_event(session, delta(k=None))
    assert session.state == {"k": None}
    assert (await stored(service)).state == {"k": None}


async def test_values_are_replaced_and_not_merged(service: BaseSessionService) -> None:
    session = await new_session(service, k={"a": 1, "b": 2})
    await service.append_event(session, delta(k={"c": 3}))
    assert (await stored(service)).state == {"k": {"c": 3}}


async def test_only_the_prefix_of_the_key_itself_counts(service: BaseSessionService) -> None:
    session = await new_session(service)
    odd = {"user:app:x": 1, "APP:x": 2, "nested": {"app:x": 3}, "app:": 4, ":": 5, "": 6}
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta=odd)))
    assert (await stored(service)).state == odd


async def test_temp_keys_live_in_the_held_session_only(service: BaseSessionService) -> None:
    session = await new_session(service)
    thing = object()
    event = delta(**{"temp:thing": thing, "temp:plain": [1], "k": 1})
    await service.append_event(session, event)
    assert session.state == {"temp:thing": thing, "temp:plain": [1], "k": 1}
    assert event.actions.state_delta == {"k": 1}
    again = await stored(service)
    assert again.state == {"k": 1}
    assert again.events[0].actions.state_delta == {"k": 1}


async def test_a_trace_of_temp_keys_is_kept_for_the_debugger(service: BaseSessionService) -> None:
    session = await new_session(service)
    await service.append_event(session, delta(**{"temp:plain": [1]}))
    await service.append_event(session, delta(k=1))
    assert await service.temp_deltas(session.key) == {session.events[0].id: {"temp:plain": [1]}}


async def test_a_missing_id_and_timestamp_are_filled_in(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = await service.append_event(session, Event(author="me", id="", timestamp=0.0))
    assert event.id
    assert event.timestamp > 1_700_000_000
    assert (await stored(service)).events == [event]


@pytest.mark.parametrize("times", [[5.0] * 30, [1000.0 - number for number in range(30)], [7.0, 3.0, 7.0, 3.0]])
async def test_order_is_commit_order_and_times_are_the_events_own(service: BaseSessionService, times: list[float]) -> None:
    session = await new_session(service)
    for number, time in enumerate(times):
        await service.append_event(session, Event(author="me", id=f"{99 - number}", timestamp=time))
    again = await stored(service)
    assert [event.id for event in again.events] == [f"{99 - number}" for number in range(len(times))]
    assert [event.timestamp for event in again.events] == times


RICH = Event(
    author="me",
    invocation_id="e-1",
    branch="a.b",
    content=types.Content(
        role="model",
        parts=[
            types.Part(text="naïve 🙂 \u0000 \u2028 text"),
            types.Part(text="thinking", thought=True, thought_signature=b"\xff\xfe\x00"),
            types.Part(inline_data=types.Blob(data=bytes(range(256)), mime_type="image/png")),
            types.Part(function_call=types.FunctionCall(id="c", name="f", args={"a": None, "b": [1.5, {"c": True}]})),
            types.Part(function_response=types.FunctionResponse(id="c", name="f", response={"ok": None, "n": 10**30})),
        ],
    ),
    long_running_tool_ids={"c"},
    usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3),
    custom_metadata={"x": {"y": [1]}},
    finish_reason=types.FinishReason.STOP,
    actions=EventActions(agent_state={"step": 2}, end_of_agent=True, artifact_delta={"f.txt": 1}, requested_auth_configs={"c": {"k": 1}}),
)


async def test_every_part_of_an_event_reads_back(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = await service.append_event(session, RICH.model_copy(deep=True))
    assert (await stored(service)).events == [event]


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(delta(k=object()), id="an object"),
        pytest.param(delta(**{"user:k": {"deep": {1, 2}}}), id="a set deep inside"),
        pytest.param(delta(k=float("inf")), id="infinity"),
        pytest.param(Event(author="me", actions=EventActions(agent_state={"x": object()})), id="a checkpoint"),
        pytest.param(Event(author="me", custom_metadata={"x": object()}), id="metadata"),
    ],
)
async def test_what_cannot_be_stored_is_refused_and_nothing_is_changed(service: BaseSessionService, event: Event) -> None:
    session = await new_session(service, k=1)
    before = copy.deepcopy(session)
    with pytest.raises(UnstorableValueError):
        await service.append_event(session, event)
    assert session == before
    assert await stored(service) == before
    await service.append_event(session, delta(k=2))
    assert (await stored(service)).state == {"k": 2}


async def test_the_same_event_is_not_taken_twice(service: BaseSessionService) -> None:
    session = await new_session(service)
    await service.append_event(session, Event(author="me", id="x"))
    with pytest.raises(StaleSessionError, match="x"):
        await service.append_event(session, Event(author="me", id="x", actions=EventActions(state_delta={"user:k": 1})))
    assert len(session.events) == 1
    assert await stored(service) == session


async def test_a_session_that_is_not_there(service: BaseSessionService) -> None:
    with pytest.raises(SessionNotFoundError, match="nowhere"):
        await service.append_event(Session(id="nowhere", app_name="a", user_id="u"), Event(author="me"))


@pytest.mark.clause("stale_copy")
async def test_a_copy_that_is_behind_is_refused_and_can_be_reloaded(service: BaseSessionService) -> None:
    session = await new_session(service)
    behind = await stored(service)
    await service.append_event(session, delta(k=1))
    before = copy.deepcopy(behind)
    with pytest.raises(StaleSessionError, match="modified in storage"):
        await service.append_event(behind, delta(k=2))
    assert behind == before
    reloaded = await stored(service)
    await service.append_event(reloaded, delta(k=3))
    assert [event.actions.state_delta["k"] for event in (await stored(service)).events] == [1, 3]


@pytest.mark.clause("stale_copy")
async def test_a_copy_of_a_session_that_was_deleted_and_created_again_is_refused(service: BaseSessionService) -> None:
    old = await new_session(service, k=1)
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    await new_session(service, k=2)
    with pytest.raises(StaleSessionError):
        await service.append_event(old, delta(k=3))
    assert (await stored(service)).state == {"k": 2}


async def test_many_tasks_on_one_held_session_lose_nothing(service: BaseSessionService) -> None:
    session = await new_session(service)
    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(service.append_event(session, delta(**{f"k{number}": number, "last": number})))
    again = await stored(service)
    assert len(again.events) == 50
    assert {f"k{number}": number for number in range(50)}.items() <= again.state.items()
    assert again.state["last"] == again.events[-1].actions.state_delta["last"]


async def test_several_threads_and_loops_lose_nothing(service: BaseSessionService) -> None:
    for number in range(4):
        await service.create_session(app_name="a", user_id="u", session_id=str(number))
    failures: list[BaseException] = []

    async def fill(session_id: str) -> None:
        session = await service.get_session(app_name="a", user_id="u", session_id=session_id)
        assert session is not None
        for number in range(25):
            await service.append_event(session, delta(**{f"user:{session_id}-{number}": number, "app:last": session_id}))

    def run(session_id: str) -> None:
        try:
            asyncio.run(fill(session_id))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert failures == []
    session = await service.get_session(app_name="a", user_id="u", session_id="0")
    assert session is not None
    assert len(session.events) == 25
    assert len([key for key in session.state if key.startswith("user:")]) == 100
