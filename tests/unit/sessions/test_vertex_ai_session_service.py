"""Sessions in an Agent Engine: names, faults on the way, long operations and long sessions. The clauses are in tests/conformance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from google.genai import types

from runtime.errors import AlreadyExistsError, StorageError
from runtime.errors.input_validation_error import InputValidationError
from runtime.events import Event, EventActions
from runtime.sessions import GetSessionConfig, VertexAiSessionService
from runtime.sessions.agent_engine_events import to_api
from runtime.storage.open_service import open_session_service
from tests.agent_engine import PLACE, AgentEngine, agent_engine

KEY = {"app_name": "desk", "user_id": "u", "session_id": "s"}
URI = f"agentengine://{PLACE}/reasoningEngines/7"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentEngine]:
    with agent_engine() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.address)
        yield server


@pytest.fixture
async def service(server: AgentEngine) -> AsyncIterator[VertexAiSessionService]:
    async with VertexAiSessionService("test", "us-central1", "7") as service:
        yield service


def said(text: str, **state: object) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(author="desk", invocation_id="e-1", content=content, actions=EventActions(state_delta=state))


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "lost", "slow"])
@pytest.mark.parametrize("before", [0, 1])
async def test_a_fault_on_the_way_is_repeated_and_nothing_is_done_twice(
    server: AgentEngine, service: VertexAiSessionService, fault: str, before: int
) -> None:
    server.faults[:] = [*["ok"] * before, fault]
    session = await service.create_session(**KEY, state={"k": 1, "user:x": 2})
    for number in range(3):
        server.faults[:] = [*["ok"] * before, fault]
        await service.append_event(session, said(str(number), n=number))
    server.faults[:] = [*["ok"] * before, fault]
    found = await service.get_session(**KEY)
    assert found is not None
    assert [event.content.parts[0].text for event in found.events if event.content and event.content.parts] == ["0", "1", "2"]
    assert found.state == session.state == {"k": 1, "user:x": 2, "n": 2}
    server.faults[:] = [*["ok"] * before, fault]
    assert [listed.id for listed in (await service.list_sessions(app_name="desk", user_id="u")).sessions] == ["s"]
    server.faults[:] = [*["ok"] * before, fault]
    await service.delete_session(**KEY)
    assert server.sessions == {}


async def test_long_operations_are_waited_for(server: AgentEngine, service: VertexAiSessionService) -> None:
    server.pending = 3
    assert (await service.create_session(**KEY)).id == "s"
    await service.delete_session(**KEY)
    assert sum("/operations/" in path for _, path in server.asked) == 6


async def test_a_session_that_exists_is_not_created_again(server: AgentEngine, service: VertexAiSessionService) -> None:
    await service.create_session(**KEY, state={"k": 1})
    with pytest.raises(AlreadyExistsError, match="Session with id s already exists"):
        await service.create_session(**KEY, state={"k": 1})


async def test_a_thousand_events_are_read_page_by_page(server: AgentEngine, service: VertexAiSessionService) -> None:
    session = await service.create_session(**KEY)
    (stored,) = server.sessions.values()
    # As if another client had appended most of them, which takes this one a quarter of a minute.
    events = [said(str(number)) for number in range(950)]
    stored.events += [{"name": f"e{number}", **to_api(event)} for number, event in enumerate(events)]
    session.events.extend(events)
    for number in range(950, 1_000):
        await service.append_event(session, said(str(number), n=number))
    server.asked.clear()
    found = await service.get_session(**KEY)
    assert found is not None
    assert found.events == session.events
    assert found.state == {"n": 999}
    assert len(server.asked) == 11
    recent = await service.get_session(**KEY, config=GetSessionConfig(num_recent_events=2))
    assert recent is not None
    assert recent.events == session.events[-2:]


async def test_a_refusal_is_one_sentence(server: AgentEngine, service: VertexAiSessionService) -> None:
    server.faults[:] = ["403"]
    with pytest.raises(StorageError, match=r"cannot be used: the server answered 403 Forbidden \(a fault\)"):
        await service.get_session(**KEY)
    with pytest.raises(InputValidationError, match="cannot be the id of a session"):
        await service.create_session(**{**KEY, "session_id": "../x"})
    assert await service.get_session(**{**KEY, "session_id": "../x"}) is None


async def test_events_that_were_stored_by_their_fields_alone_are_read(server: AgentEngine, service: VertexAiSessionService) -> None:
    await service.create_session(**KEY)
    (stored,) = server.sessions.values()
    stored.events.append(
        {
            "name": "x/events/17",
            "author": "desk",
            "invocationId": "e-1",
            "timestamp": "2033-05-18T03:33:20.250000Z",
            "content": {"role": "model", "parts": [{"text": "hi"}]},
            "actions": {"stateDelta": {"k": 1}, "transferAgent": "other"},
            "eventMetadata": {"branch": "a.b", "customMetadata": {"x": 1, "_usage_metadata": {"promptTokenCount": 3}}},
        }
    )
    found = await service.get_session(**KEY)
    assert found is not None
    (event,) = found.events
    assert (event.id, event.author, event.timestamp, event.branch) == ("17", "desk", 2_000_000_000.25, "a.b")
    assert (event.actions.transfer_to_agent, event.actions.state_delta, event.custom_metadata) == ("other", {"k": 1}, {"x": 1})
    assert event.usage_metadata is not None
    assert event.usage_metadata.prompt_token_count == 3


async def test_a_uri_opens_the_service(server: AgentEngine, service: VertexAiSessionService) -> None:
    await service.create_session(**KEY)
    async with open_session_service(URI) as opened:
        assert isinstance(opened, VertexAiSessionService)
        assert [found.id for found in (await opened.list_sessions(app_name="desk")).sessions] == ["s"]
    with pytest.raises(InputValidationError, match="names no Agent Engine"):
        open_session_service("agentengine://somewhere")


def test_credentials_are_never_sent_in_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", "http://elsewhere.example")
    with pytest.raises(StorageError, match="without encryption"):
        VertexAiSessionService("test", "us-central1", "7")


def test_a_missing_project_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    with pytest.raises(StorageError, match="GOOGLE_CLOUD_PROJECT"):
        VertexAiSessionService(agent_engine_id="7")
