"""append_event."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable
from typing import Any

from google.genai import types

from tests.conformance.clause import STALE_COPIES, clause
from tests.conformance.names import (
    BaseSessionService,
    Event,
    EventActions,
    Session,
    SessionNotFoundError,
    StaleSessionError,
    UnstorableValueError,
    content,
    delta,
    raises,
)


async def new_session(service: BaseSessionService, **state: Any) -> Session:
    return await service.create_session(app_name="a", user_id="u", session_id="s", state=state)


async def stored(service: BaseSessionService) -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    return session


@clause()
async def event_and_deltas_are_stored_and_the_session_is_updated(service: BaseSessionService) -> None:
    session = await new_session(service, k=1)
    changes = {"k": 2, "user:x": [1], "app:y": {"z": None}}
    event = Event(author="me", invocation_id="i", timestamp=2_000_000_000.5, actions=EventActions(state_delta=changes))
    assert await service.append_event(session, event) is event
    assert session.state == {"k": 2, "user:x": [1], "app:y": {"z": None}}
    assert session.events == [event]
    assert session.last_update_time == event.timestamp
    assert content(await stored(service)) == content(session)
    other = await service.create_session(app_name="a", user_id="v")
    assert other.state == {"app:y": {"z": None}}


@clause()
async def a_partial_event_changes_nothing(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = Event(author="me", partial=True, actions=EventActions(state_delta={"k": 1}))
    assert await service.append_event(session, event) is event
    assert session.events == []
    assert session.state == {}
    assert content(await stored(service)) == content(session)


@clause()
async def none_is_a_value_and_removes_nothing(service: BaseSessionService) -> None:
    session = await new_session(service, k=1)
    await service.append_event(session, delta(k=None))
    assert session.state == {"k": None}
    assert (await stored(service)).state == {"k": None}


@clause()
async def values_are_replaced_and_not_merged(service: BaseSessionService) -> None:
    session = await new_session(service, k={"a": 1, "b": 2})
    await service.append_event(session, delta(k={"c": 3}))
    assert (await stored(service)).state == {"k": {"c": 3}}


@clause()
async def a_value_of_the_held_session_changed_in_place_changes_nothing_stored(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = await service.append_event(session, delta(cart=["a"], **{"user:likes": {"colours": ["red"]}}))
    session.state["cart"].append("b")
    session.state["user:likes"]["colours"].append("blue")
    assert event.actions.state_delta == {"cart": ["a"], "user:likes": {"colours": ["red"]}}
    await service.append_event(session, delta(other=1, **{"user:other": 1}))
    again = await stored(service)
    assert again.state == {"cart": ["a"], "other": 1, "user:likes": {"colours": ["red"]}, "user:other": 1}
    assert again.events[0].actions.state_delta == {"cart": ["a"], "user:likes": {"colours": ["red"]}}


@clause()
async def only_the_prefix_of_the_key_itself_counts(service: BaseSessionService) -> None:
    session = await new_session(service)
    odd = {"user:app:x": 1, "APP:x": 2, "nested": {"app:x": 3}, "app:": 4, ":": 5, "": 6}
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta=odd)))
    assert (await stored(service)).state == odd


@clause()
async def temp_keys_live_in_the_held_session_only(service: BaseSessionService) -> None:
    session = await new_session(service)
    thing = object()
    event = delta(**{"temp:thing": thing, "temp:plain": [1], "k": 1})
    await service.append_event(session, event)
    assert session.state == {"temp:thing": thing, "temp:plain": [1], "k": 1}
    assert event.actions.state_delta == {"k": 1}
    again = await stored(service)
    assert again.state == {"k": 1}
    assert again.events[0].actions.state_delta == {"k": 1}


@clause("temp_deltas")
async def a_trace_of_temp_keys_is_kept_for_the_debugger(service: BaseSessionService) -> None:
    session = await new_session(service)
    await service.append_event(session, delta(**{"temp:plain": [1]}))
    await service.append_event(session, delta(k=1))
    kept = await service.temp_deltas(session.key)
    assert {event_id: list(delta) for event_id, delta in kept.items()} == {session.events[0].id: ["temp:plain"]}
    # Only services in memory keep the value.
    assert kept[session.events[0].id]["temp:plain"] in ([1], "not stored (list)")


@clause()
async def a_missing_id_and_timestamp_are_filled_in(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = await service.append_event(session, Event(author="me", id="", timestamp=0.0))
    assert event.id
    assert event.timestamp > 1_700_000_000
    assert (await stored(service)).events == [event]


@clause()
async def its_time_is_stored_exactly(service: BaseSessionService) -> None:
    session = await new_session(service)
    await service.append_event(session, Event(author="me", timestamp=2_000_000_000.1234567))
    assert [event.timestamp for event in (await stored(service)).events] == [2_000_000_000.1234567]
    assert session.last_update_time == 2_000_000_000.1234567


@clause(
    cases={
        "all equal": [5.0] * 30,
        "a clock that goes back": [1000.0 - number for number in range(30)],
        "mixed": [7.0, 3.0, 7.0, 3.0],
    }
)
async def order_is_commit_order_and_times_are_the_events_own(service: BaseSessionService, times: list[float]) -> None:
    session = await new_session(service)
    for number, time in enumerate(times):
        await service.append_event(session, Event(author="me", id=f"{99 - number}", timestamp=time))
    again = await stored(service)
    assert [event.id for event in again.events] == [f"{99 - number}" for number in range(len(times))]
    assert [event.timestamp for event in again.events] == times


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


RICH = Event(
    author="me",
    invocation_id="e-1",
    timestamp=2_000_000_000.5,
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
    actions=EventActions(
        agent_state={"step": 2}, end_of_agent=True, artifact_delta={"f.txt": 1}, requested_tool_confirmations={"c": {"hint": "sure?"}}
    ),
)


@clause()
async def every_part_of_an_event_reads_back(service: BaseSessionService) -> None:
    session = await new_session(service)
    event = await service.append_event(session, RICH.model_copy(deep=True))
    assert (await stored(service)).events == [event]


@clause(
    cases={
        "an object": lambda: delta(k=object()),
        "a set deep inside": lambda: delta(**{"user:k": {"deep": {1, 2}}}),
        "infinity": lambda: delta(k=float("inf")),
        "nested too deep": lambda: delta(k=nested(200)),
        "a checkpoint": lambda: Event(author="me", actions=EventActions(agent_state={"x": object()})),
        "metadata": lambda: Event(author="me", custom_metadata={"x": object()}),
    }
)
async def values_that_cannot_be_stored_are_refused_and_change_nothing(service: BaseSessionService, made: Callable[[], Event]) -> None:
    session = await new_session(service, k=1)
    before = copy.deepcopy(content(session))
    with raises(UnstorableValueError):
        await service.append_event(session, made())
    assert content(session) == before
    assert content(await stored(service)) == before
    await service.append_event(session, delta(k=2))
    assert (await stored(service)).state == {"k": 2}


@clause()
async def the_same_event_is_not_accepted_twice(service: BaseSessionService) -> None:
    session = await new_session(service)
    await service.append_event(session, Event(author="me", id="x"))
    with raises(StaleSessionError, "x"):
        await service.append_event(session, Event(author="me", id="x", actions=EventActions(state_delta={"user:k": 1})))
    assert len(session.events) == 1
    assert content(await stored(service)) == content(session)


@clause()
async def a_missing_session_is_refused(service: BaseSessionService) -> None:
    with raises(SessionNotFoundError, "nowhere"):
        await service.append_event(Session(id="nowhere", app_name="a", user_id="u"), Event(author="me"))


@clause(STALE_COPIES)
async def a_stale_copy_is_refused_and_can_be_reloaded(service: BaseSessionService) -> None:
    session = await new_session(service)
    behind = await stored(service)
    await service.append_event(session, delta(k=1))
    before = copy.deepcopy(content(behind))
    with raises(StaleSessionError):
        await service.append_event(behind, delta(k=2))
    assert content(behind) == before
    reloaded = await stored(service)
    await service.append_event(reloaded, delta(k=3))
    assert [event.actions.state_delta["k"] for event in (await stored(service)).events] == [1, 3]


@clause(STALE_COPIES)
async def a_copy_of_a_recreated_session_is_refused(service: BaseSessionService) -> None:
    old = await new_session(service, k=1)
    await service.delete_session(app_name="a", user_id="u", session_id="s")
    await new_session(service, k=2)
    with raises(StaleSessionError):
        await service.append_event(old, delta(k=3))
    assert (await stored(service)).state == {"k": 2}


@clause()
async def many_tasks_on_one_held_session_lose_nothing(service: BaseSessionService) -> None:
    session = await new_session(service)
    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(service.append_event(session, delta(**{f"k{number}": number, "last": number})))
    again = await stored(service)
    assert len(again.events) == 50
    assert {f"k{number}": number for number in range(50)}.items() <= again.state.items()
    assert again.state["last"] == again.events[-1].actions.state_delta["last"]


@clause()
async def several_threads_and_loops_lose_nothing(service: BaseSessionService) -> None:
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

    # A service that hangs must not keep the process alive.
    threads = [threading.Thread(target=run, args=(str(number),), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join, 20)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []
    session = await service.get_session(app_name="a", user_id="u", session_id="0")
    assert session is not None
    assert len(session.events) == 25
    assert len([key for key in session.state if key.startswith("user:")]) == 100
