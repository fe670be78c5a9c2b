"""The record of how runs ended."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from runtime.forks.fork import fork_session
from runtime.history.invocations import Invocation, invocations, with_recorded_ends
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService
from runtime.sessions.event_list import EventList
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from runtime.storage.writing.deletion import delete_sessions, keep_copy, put_back
from tests.agent_specs import message
from tests.fixture_paths import copy_of
from tests.seeds.running import resume, run, runner_for, said, scripted, stored

TABLE = "inspector_invocations"


def _state_only(agent_error: list[Exception] | None = None) -> BaseAgent:
    """Return an agent that writes state, and then raises the first of the errors, if any is left."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name, actions=EventActions(state_delta={"done": True}))
        if agent_error:
            raise agent_error.pop(0)

    return scripted(body)


async def _found(runner: Runner) -> list[Invocation]:
    session = await stored(runner)
    return with_recorded_ends(invocations(session.events), await runner.session_service.recorded_ends(session.key))


@pytest.mark.rule("I8")
@pytest.mark.parametrize("resumable", [False, True])
async def test_an_agent_that_ends_without_an_answer_is_finished(service: BaseSessionService, resumable: bool) -> None:
    runner = runner_for(_state_only(), service, resumable=resumable)
    await run(runner)
    (found,) = await _found(runner)
    assert (found.status, found.reason, found.pending) == ("finished", "the agent ended", ())
    if resumable:
        assert await resume(runner) == []


@pytest.mark.parametrize("layout", [DatabaseSessionService, SqliteSessionService])
async def test_a_long_run_keeps_its_older_events_as_rows(
    layout: type[DatabaseSessionService], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 3)
    typed: list[int] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        events = ctx.session.events
        assert isinstance(events, EventList)
        for number in range(20):
            yield said(agent, f"word {number}")
        typed.append(sum(isinstance(each, Event) for each in events._items))
        assert [part.text for event in events for part in event.content.parts] == ["go", *(f"word {number}" for number in range(20))]
        yield said(agent, "the answer")

    async with layout(str(tmp_path / "long.db")) as service:
        runner = runner_for(scripted(body), service)
        yielded = await run(runner)
        session = await stored(runner)
        assert typed == [3]
        assert session.events[1:] == yielded
        assert [each.status for each in await _found(runner)] == ["finished"]


async def test_the_end_of_a_long_run_decodes_no_older_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 3)
    lists: list[EventList] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        lists.append(ctx.session.events)
        for number in range(20):
            yield said(agent, f"word {number}")

    async with DatabaseSessionService(str(tmp_path / "long.db")) as service:
        await run(runner_for(scripted(body), service))
    assert sum(isinstance(each, Event) for each in lists[0]._items) == 3


@pytest.mark.rule("I8")
async def test_a_run_that_raised_failed_also_after_an_answer(service: BaseSessionService) -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "an answer")
        raise RuntimeError("boom\nand more")

    runner = runner_for(scripted(body), service)
    with pytest.raises(RuntimeError):
        await run(runner)
    (found,) = await _found(runner)
    assert (found.status, found.reason) == ("failed", "RuntimeError: boom and more")
    assert [item.kind for item in found.pending] == ["interrupted"]


@pytest.mark.rule("I8")
async def test_a_resumed_run_replaces_the_record(service: BaseSessionService) -> None:
    errors: list[Exception] = [RuntimeError("first")]
    runner = runner_for(_state_only(errors), service, resumable=True)
    with pytest.raises(RuntimeError):
        await run(runner)
    assert [each.reason for each in await _found(runner)] == ["RuntimeError: first"]
    await resume(runner)
    assert [each.status for each in await _found(runner)] == ["finished"]


@pytest.mark.rule("I8")
async def test_a_record_counts_until_the_next_event(service: BaseSessionService) -> None:
    runner = runner_for(_state_only(), service)
    await run(runner)
    session = await stored(runner)
    last = session.events[-1]
    await service.append_event(session, Event(author="agent", invocation_id=last.invocation_id, actions=EventActions(state_delta={"k": 1})))
    assert [each.status for each in await _found(runner)] == ["interrupted"]


@pytest.mark.rule("I8")
async def test_answered_paused_stopped_and_checkpointed_runs_have_no_record(service: BaseSessionService) -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        text = ctx.user_content.parts[0].text if ctx.user_content and ctx.user_content.parts else ""
        if text == "pause":
            call = types.Part(function_call=types.FunctionCall(id="c", name="ask"))
            yield Event(author=agent.name, content=types.Content(role="model", parts=[call]), long_running_tool_ids={"c"})
        elif text == "checkpoint":
            yield Event(author=agent.name, actions=EventActions(agent_state={"step": 1}))
        elif text == "fail":
            yield Event(author=agent.name, error_code="RESOURCE_EXHAUSTED")
        else:
            yield said(agent, "done")
            yield Event(author=agent.name, actions=EventActions(state_delta={"k": 1}))

    runner = runner_for(scripted(body), service)
    for text in ("answer", "pause", "checkpoint", "fail"):
        await run(runner, text)
    async with aclosing(runner.run_async(user_id="u", session_id="s", new_message=message("stopped"))) as events:
        async for _ in events:
            break
    statuses = [
        (each.status, each.invocation_id in await service.recorded_ends((await stored(runner)).key)) for each in await _found(runner)
    ]
    assert statuses == [
        ("finished", False),
        ("paused", False),
        ("interrupted", False),
        ("interrupted", False),
        ("finished", False),
    ]


@pytest.mark.rule("I8")
async def test_a_failure_to_record_is_logged_and_fails_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(InMemorySessionService):
        async def record_end(self, *_: Any) -> None:
            raise OSError("the disk is full")

    assert len(await run(runner_for(_state_only(), Failing()))) == 1
    assert "could not be recorded: the disk is full" in caplog.text


@pytest.mark.rule("I8")
async def test_records_are_read_copied_converted_deleted_and_restored_with_their_session(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        runner = runner_for(_state_only([RuntimeError("x")]), service)
        with pytest.raises(RuntimeError):
            await run(runner)
        await run(runner)
        key = (await stored(runner)).key

    def reasons(database: Path, session_id: str = "s") -> list[str]:
        with StoredDatabase.open(str(database)) as opened:
            where = key._replace(session_id=session_id)
            waiting = [item.reason for item in opened.pending(where).get(where, [])]
            found = opened.invocations(where)
            assert waiting == [each.reason for each in found if each.can_be_resumed]
            return [each.reason for each in found]

    expected = ["RuntimeError: x", "the agent ended"]
    assert reasons(file) == expected
    fork = await fork_session(str(file), key)
    assert reasons(file, fork.key.session_id) == expected
    convert(str(file), str(tmp_path / "new.db"))
    assert reasons(tmp_path / "new.db") == expected
    copy = keep_copy(file, [key])
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await delete_sessions(service, [key])
        assert await service.recorded_ends(key) == {}
        await service.create_session(app_name="app", user_id="u", session_id="s")
        await delete_sessions(service, [key])
    assert put_back(file, copy) == 1
    assert reasons(file) == expected


@pytest.mark.rule("I8")
async def test_a_database_of_an_earlier_version_gets_the_table_at_the_first_write(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await run(runner_for(_state_only(), service))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"DROP TABLE {TABLE}")
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        runner = runner_for(_state_only(), service)
        assert await service.recorded_ends((await stored(runner)).key) == {}
        await run(runner)
        assert [each.status for each in await _found(runner)] == ["interrupted", "finished"]


@pytest.mark.rule("I8")
async def test_reading_another_programs_database_adds_no_table(tmp_path: Path) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    before = file.read_bytes()
    with StoredDatabase.open(str(file)) as opened:
        (summary, *_) = opened.sessions()
        assert opened.recorded_ends() == {} and opened.invocations(summary.key)
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        assert await service.recorded_ends(summary.key) == {}
    assert file.read_bytes() == before
