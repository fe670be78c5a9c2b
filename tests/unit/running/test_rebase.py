"""Events appended to a session from outside while a run continues there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, BaseAgentState, InvocationContext
from runtime.errors import StaleSessionError
from runtime.events import Event, EventActions
from runtime.events.marks import PROGRESS
from runtime.models.scripted_llm import Reply
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService
from tests.agent_specs import message
from tests.postgres import server
from tests.seeds.running import llm_agent, resume, run, runner_for, said, scripted, stored, texts

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}


class Storage:
    """A place for sessions, and a way to open a service on it once more, as another process would."""

    def __init__(self, open_service: Callable[[], BaseSessionService]) -> None:
        self.service = open_service()
        self.other = open_service()


@pytest.fixture(params=["memory", "sqlite", "sqlite, same service", "adk web", "postgresql"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    kind: str = request.param
    url = server().new_database() if kind == "postgresql" else f"sqlite:///{tmp_path / 's.db'}"
    shared = InMemorySessionService() if kind == "memory" else DatabaseSessionService(url)

    def open_service() -> BaseSessionService:
        if kind in ("memory", "sqlite, same service"):
            return shared
        return SqliteSessionService(tmp_path / "session.db") if kind == "adk web" else DatabaseSessionService(url)

    made = Storage(open_service)
    async with AsyncExitStack() as stack:
        for service in {shared, made.service, made.other}:
            await stack.enter_async_context(service)
        yield made


async def _append(storage: Storage, delta: dict[str, Any], **more: Any) -> Event:
    """Append a seed's `system_event` with the other service."""
    session = await storage.other.get_session(**NAMES)
    assert session is not None
    fields = {"author": "system", "invocation_id": "inv_login_update", "actions": EventActions(state_delta=delta), **more}
    event = Event(**fields)
    return await storage.other.append_event(session, event)


async def _interrupted(runner: Runner, storage: Storage, delta: dict[str, Any], **more: Any) -> list[str]:
    """Run, append an event from outside after the first yielded one, and return the run's texts."""
    events = []
    async with aclosing(runner.run_async(user_id="u", session_id="s", new_message=message("go"))) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == 1:
                await _append(storage, delta, **more)
    return texts(events)


def _counting(seen: list[Any]) -> BaseAgent:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one", actions=EventActions(state_delta={"mine": 1, "temp:draft": 1}))
        yield said(agent, "two", actions=EventActions(state_delta={"mine": 2, "temp:draft": 2}))
        seen.append(dict(ctx.session.state))
        seen.append([event.author for event in ctx.session.events])
        yield said(agent, "three", actions=EventActions(state_delta={"user:shared": "run"}))

    return scripted(body)


@pytest.mark.rule("S8")
async def test_an_event_from_outside_is_merged_into_the_run(storage: Storage) -> None:
    seen: list[Any] = []
    runner = runner_for(_counting(seen), storage.service)
    outside = {"theirs": ["a"], "user:shared": "outside", "app:theirs": 1}
    assert await _interrupted(runner, storage, outside) == ["one", "two", "three"]
    assert seen == [{**outside, "mine": 2, "temp:draft": 2}, ["user", "agent", "system", "agent"]]
    after = await stored(runner)
    assert [event.author for event in after.events] == ["user", "agent", "system", "agent", "agent"]
    assert after.state == {**outside, "mine": 2, "user:shared": "run"}
    assert texts(await run(runner, "again")) == ["one", "two", "three"]


@pytest.mark.rule("S8")
async def test_a_key_that_both_sides_changed_is_a_conflict(storage: Storage) -> None:
    caught: list[Exception] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one")
        try:
            yield said(agent, "lost", actions=EventActions(state_delta={"same": "mine", "temp:draft": 1}))
        except StaleSessionError as error:
            caught.append(error)
            raise

    runner = runner_for(scripted(body), storage.service)
    with pytest.raises(StaleSessionError, match="in the same state keys: same"):
        await _interrupted(runner, storage, {"same": "theirs", "other": 1})
    assert len(caught) == 1
    after = await stored(runner)
    assert after.state == {"same": "theirs", "other": 1} and texts(after.events) == ["go", "one"]


@pytest.mark.rule("S8")
async def test_a_key_with_an_uncommitted_write_is_a_conflict(storage: Storage) -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one")
        ctx.session.state["same"] = "being written"
        yield said(agent, "lost")

    runner = runner_for(scripted(body), storage.service)
    with pytest.raises(StaleSessionError, match="in the same state keys: same"):
        await _interrupted(runner, storage, {"same": "theirs"})


@pytest.mark.rule("S8")
async def test_progress_from_outside_is_merged_into_its_own_invocation(storage: Storage) -> None:
    runner = runner_for(_counting([]), storage.service)
    events = []
    async with aclosing(runner.run_async(user_id="u", session_id="s", new_message=message("go"))) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == 1:
                await _append(storage, {}, invocation_id=event.invocation_id, author="agent", custom_metadata={PROGRESS: ["c"]})
    assert texts(events) == ["one", "two", "three"]


@pytest.mark.rule("S8")
async def test_two_runs_with_different_keys_are_both_committed(storage: Storage) -> None:
    await storage.service.create_session(**NAMES)
    met = asyncio.Barrier(2)

    def body(key: str) -> BaseAgent:
        async def both(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            for number in range(5):
                await met.wait()
                yield said(agent, key, actions=EventActions(state_delta={key: number}))

        return scripted(both, key)

    runners = [runner_for(body("a"), storage.service), runner_for(body("b"), storage.other)]
    await asyncio.gather(*(run(runner) for runner in runners))
    after = await stored(runners[0])
    assert after.state == {"a": 4, "b": 4} and len(after.events) == 12


@pytest.mark.rule("S8", "C1")
async def test_of_two_resumes_of_one_invocation_at_once_one_is_refused(storage: Storage) -> None:
    met = asyncio.Barrier(2)
    is_resumed = False

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if is_resumed:
            await met.wait()  # both have loaded the session
        yield agent._create_agent_state_event(ctx, BaseAgentState())
        if not is_resumed:
            raise RuntimeError("interrupted")
        for number in range(3):
            yield said(agent, str(number))

    runners = [runner_for(scripted(body), service, resumable=True) for service in (storage.service, storage.other)]
    with pytest.raises(RuntimeError):
        await run(runners[0])
    is_resumed = True
    done = await asyncio.gather(*(resume(runner) for runner in runners), return_exceptions=True)
    refused = [each for each in done if isinstance(each, BaseException)]
    assert len(refused) == 1 and isinstance(refused[0], StaleSessionError)
    assert texts((await stored(runners[0])).events) == ["go", "0", "1", "2"]


@pytest.mark.rule("S8")
async def test_a_rewind_from_outside_stops_the_run(storage: Storage) -> None:
    runner = runner_for(_counting([]), storage.service)
    await run(runner, "first")
    first = (await stored(runner)).events[0].invocation_id
    with pytest.raises(StaleSessionError, match="rewound"):
        await _interrupted(runner, storage, {}, actions=EventActions(rewind_before_invocation_id=first))


@pytest.mark.rule("S8")
async def test_a_deleted_session_stops_the_run(storage: Storage) -> None:
    class Gone(Exception): ...

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one")
        await storage.other.delete_session(**NAMES)
        await storage.other.create_session(**NAMES, state={"k": 1})
        try:
            yield said(agent, "two")
        except StaleSessionError as error:
            raise Gone from error

    runner = runner_for(scripted(body), storage.service)
    with pytest.raises(Gone):
        await run(runner)
    assert (await stored(runner)).events == []


@pytest.mark.rule("S8")
async def test_the_next_turn_sees_a_message_that_was_merged(storage: Storage) -> None:
    requests: list[str] = []

    async def note(tool_context: Any) -> str:
        await _append(storage, {"k": 1}, author="system", content=types.ModelContent("from outside"))
        return "noted"

    def see(callback_context: Any, llm_request: Any) -> None:
        requests.append(" ".join(part.text for content in llm_request.contents for part in content.parts if part.text))

    agent = llm_agent("agent", Reply(calls=[("note", {})]), "done", "again", tools=[note], before_model_callback=see)
    runner = runner_for(agent, storage.service)
    assert texts(await run(runner)) == ["done"]
    assert texts(await run(runner)) == ["again"]
    assert ["from outside" in request for request in requests] == [False, False, True]
    assert (await stored(runner)).state == {"k": 1}
