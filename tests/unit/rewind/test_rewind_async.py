"""Rewind restores the state and files before the invocation."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import CallbackContext, LlmAgent, RunConfig
from runtime.artifacts import BaseArtifactService, InMemoryArtifactService
from runtime.errors import InvocationNotFoundError, ResumeError, SessionNotFoundError
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm, last_message_text
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, Session, SqliteSessionService
from runtime.sessions.base_session_service import GetSessionConfig
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.tools import LongRunningFunctionTool
from tests.fixture_paths import copy_of
from tests.seeds.running import run, runner_for, stored, texts

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}


@pytest.fixture(params=["memory", "v1", "adk_web"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseSessionService]:
    makers: dict[str, Callable[[], BaseSessionService]] = {
        "memory": InMemorySessionService,
        "v1": lambda: DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}"),
        "adk_web": lambda: SqliteSessionService(tmp_path / "s.db"),
    }
    async with makers[request.param]() as opened:
        yield opened


def writer(deltas: list[dict[str, Any]]) -> LlmAgent:
    """Return an agent whose n-th run commits the n-th delta and answers with its whole request."""
    runs = iter(deltas)

    def write(callback_context: CallbackContext) -> None:
        callback_context.state.update(next(runs))

    def repeat(request: Any) -> str:
        return "|".join(part.text for content in request.contents for part in content.parts if content.role == "user" and part.text)

    return LlmAgent(name="agent", model=ScriptedLlm(rules=[], replies=[repeat] * 20), before_agent_callback=write)


async def rewind(runner: Runner, invocation_id: str) -> Event:
    wanted = RunConfig(get_session_config=GetSessionConfig(num_recent_events=1))  # a rewind reads the whole session nevertheless
    await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=invocation_id, run_config=wanted)
    return (await stored(runner)).events[-1]


def ids(session: Session) -> list[str]:
    return list(dict.fromkeys(event.invocation_id for event in session.events))


@pytest.mark.rule("W1")
async def test_state_is_restored_including_keys_of_the_creation(service: BaseSessionService) -> None:
    await service.create_session(**NAMES, state={"given": 1, "kept": {"a": [1]}, "user:u": 1, "app:a": 1})
    deltas = [{"first": 1}, {"given": 2, "new": 1, "kept": {"a": [2]}, "user:u": 2, "app:a": 2}, {"given": 3, "first": None}]
    runner = runner_for(writer(deltas), service)
    for text in ("one", "two", "three"):
        await run(runner, text)
    event = await rewind(runner, ids(await stored(runner))[1])
    assert (await stored(runner)).state == {"given": 1, "kept": {"a": [1]}, "first": 1, "new": None, "user:u": 2, "app:a": 2}
    assert event.actions.state_delta == {"given": 1, "kept": {"a": [1]}, "first": 1, "new": None}
    assert event.author == "user" and event.content is None and event.invocation_id.startswith("e-")


async def test_events_stay_stored_but_agents_do_not_see_them(service: BaseSessionService) -> None:
    runner = runner_for(writer([{}] * 9), service)
    for text in ("one", "two"):
        await run(runner, text)
    before = (await stored(runner)).events
    await rewind(runner, ids(await stored(runner))[1])
    after = (await stored(runner)).events
    assert [event.id for event in after[:-1]] == [event.id for event in before]
    assert texts(await run(runner, "three")) == ["one|three"]


async def test_a_session_can_be_rewound_twice_and_further_back(service: BaseSessionService) -> None:
    await service.create_session(**NAMES, state={"k": 0})
    runner = runner_for(writer([{"k": 1}, {"k": 2}, {"k": 3}, {"k": 4}]), service)
    for text in ("one", "two"):
        await run(runner, text)
    one, two = ids(await stored(runner))
    await rewind(runner, two)
    assert (await stored(runner)).state["k"] == 1
    await run(runner, "three")
    await rewind(runner, one)
    assert (await stored(runner)).state["k"] == 0
    assert texts(await run(runner, "four")) == ["four"]


async def test_a_rewound_invocation_cannot_be_rewound_again(service: BaseSessionService) -> None:
    runner = runner_for(writer([{}] * 3), service)
    await run(runner, "one")
    (one,) = ids(await stored(runner))
    await rewind(runner, one)
    count = len((await stored(runner)).events)
    for invocation_id, reason in ((one, "taken it back"), ("e-none", "no such invocation")):
        with pytest.raises(InvocationNotFoundError, match=f"Invocation ID not found: {invocation_id}.*{reason}"):
            await rewind(runner, invocation_id)
    assert len((await stored(runner)).events) == count


async def test_a_missing_session_raises(service: BaseSessionService) -> None:
    runner = Runner(app_name="app", agent=writer([]), session_service=service)
    with pytest.raises(SessionNotFoundError):
        await runner.rewind_async(user_id="u", session_id="none", rewind_before_invocation_id="x")


async def test_a_taken_back_invocation_is_neither_resumed_nor_answered() -> None:
    def start() -> dict[str, str]:
        return {"status": "pending"}

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("start", {})]), "x"]), tools=[LongRunningFunctionTool(start)])
    runner = runner_for(agent, resumable=True)
    (call,) = (await run(runner))[0].get_function_calls()
    (one,) = ids(await stored(runner))
    await rewind(runner, one)
    with pytest.raises(ResumeError, match="rewind took it back"):
        await run(runner, None, invocation_id=one)
    answer = types.Part(function_response=types.FunctionResponse(id=call.id, name="start", response={"ok": True}))
    with pytest.raises(ResumeError):
        _ = [one async for one in runner.run_async(user_id="u", session_id="s", new_message=types.Content(role="user", parts=[answer]))]


async def test_after_a_rewind_the_root_answers_again() -> None:
    child = LlmAgent(name="child", model=ScriptedLlm(replies=["child here"]))
    calls = Reply(calls=[("transfer_to_agent", {"agent_name": "child"})])
    root = LlmAgent(name="root", model=ScriptedLlm(rules=[Rule(when="^go", reply=calls), Rule(reply="root here")]), sub_agents=[child])
    runner = runner_for(root)
    assert texts(await run(runner, "hello")) == ["root here"]
    assert texts(await run(runner, "go")) == ["child here"]
    await rewind(runner, ids(await stored(runner))[1])
    assert texts(await run(runner, "hello")) == ["root here"]


def saver(files: list[dict[str, str]]) -> LlmAgent:
    runs = iter(files)

    async def save(callback_context: CallbackContext) -> None:
        for name, text in next(runs).items():
            await callback_context.save_artifact(name, types.Part(text=text))

    return LlmAgent(name="agent", model=ScriptedLlm(replies=[last_message_text]), before_agent_callback=save)


async def loaded(artifacts: BaseArtifactService, name: str) -> str | None:
    part = await artifacts.load_artifact(**NAMES, filename=name)
    return part.text if part else None


async def test_files_are_restored() -> None:
    artifacts = InMemoryArtifactService()
    files = [{"a": "a1", "b": "b1", "user:c": "c1"}, {"a": "a2", "user:c": "c2", "d": "d1"}, {"a": "a3"}]
    runner = runner_for(saver(files), artifact_service=artifacts)
    for text in ("one", "two", "three"):
        await run(runner, text)
    event = await rewind(runner, ids(await stored(runner))[1])
    assert event.actions.artifact_delta == {"a": 3, "d": 1}
    assert [await loaded(artifacts, name) for name in ("a", "b", "user:c", "d")] == ["a1", "b1", "c2", None]
    assert await artifacts.list_versions(**NAMES, filename="a") == [0, 1, 2, 3]


async def test_without_an_artifact_service_the_log_names_the_files(caplog: pytest.LogCaptureFixture) -> None:
    runner = runner_for(saver([{"a": "a1"}]), artifact_service=InMemoryArtifactService())
    await run(runner)
    runner.artifact_service = None
    with caplog.at_level(logging.WARNING):
        event = await rewind(runner, ids(await stored(runner))[0])
    assert event.actions.artifact_delta == {} and "these files unchanged: a" in caplog.text


@pytest.mark.parametrize("name", ["adk1.39.1-v1-chat_tools.db", "adk2.13.0-sqlite-rewind.db"])
async def test_another_programs_database_without_a_first_state(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a recorded first state, known values are restored, and the others are cleared and logged."""
    path = copy_of(f"open/{name}", tmp_path)
    async with open_session_service(str(path)) as service:
        with StoredDatabase.open(str(path)) as database:
            (summary, *_) = database.sessions()
        key = summary.key
        session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        assert session is not None
        event = Event(author="user", invocation_id="e-last", actions=EventActions(state_delta={"never_seen": 1}))
        await service.append_event(session, event)
        before = {name: value for name, value in session.state.items() if name != "never_seen"}
        runner = Runner(app_name=key.app_name, agent=writer([]), session_service=service)
        with caplog.at_level(logging.WARNING):
            await runner.rewind_async(user_id=key.user_id, session_id=key.session_id, rewind_before_invocation_id="e-last")
        again = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        assert again is not None and again.state == {**before, "never_seen": None}
        assert "the rewind clears these keys: never_seen" in caplog.text
