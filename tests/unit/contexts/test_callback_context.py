"""What callbacks and tools ask of the services, with google-adk's keywords."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, RunConfig
from runtime.auth import AuthCredential, AuthCredentialTypes
from runtime.contexts.context import CallbackContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.events import Event
from runtime.memory import BaseMemoryService, InMemoryMemoryService
from runtime.memory.memory_entry import MemoryEntry
from runtime.sessions import InMemorySessionService, Session

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}
USER = {"app_name": "app", "user_id": "u"}


def context(**services: object) -> InvocationContext:
    session = Session(app_name="app", user_id="u", id="s")
    agent = BaseAgent(name="agent")
    return InvocationContext(invocation_id="i", agent=agent, session=session, session_service=InMemorySessionService(), **services)


async def test_artifacts_are_asked_for_with_the_documented_keywords() -> None:
    service = AsyncMock()
    service.save_artifact.return_value = 3
    callback = CallbackContext(context(artifact_service=service))
    part = types.Part(text="hello")
    assert await callback.save_artifact("a.txt", part) == 3
    service.save_artifact.assert_awaited_once_with(**NAMES, filename="a.txt", artifact=part, custom_metadata=None)
    await callback.load_artifact("a.txt", 2)
    service.load_artifact.assert_awaited_once_with(**NAMES, filename="a.txt", version=2)
    await callback.list_artifacts()
    service.list_artifact_keys.assert_awaited_once_with(**NAMES)
    assert callback.actions.artifact_delta == {"a.txt": 3}


async def test_the_memory_is_asked_for_with_the_documented_keywords() -> None:
    service = AsyncMock()
    callback = CallbackContext(context(memory_service=service))
    events, memories = [Event(author="user")], [MemoryEntry(content=types.Content(parts=[types.Part(text="likes tea")]))]
    await callback.add_events_to_memory(events=events)
    service.add_events_to_memory.assert_awaited_once_with(**NAMES, events=events, custom_metadata=None)
    await callback.add_memory(memories=memories, custom_metadata={"ttl": 1})
    service.add_memory.assert_awaited_once_with(**USER, memories=memories, custom_metadata={"ttl": 1})
    await callback.search_memory("tea")
    service.search_memory.assert_awaited_once_with(**USER, query="tea")


async def test_events_that_a_callback_adds_are_found_in_memory() -> None:
    callback = CallbackContext(context(memory_service=InMemoryMemoryService()))
    content = types.Content(role="user", parts=[types.Part(text="I like green tea")])
    await callback.add_events_to_memory(events=[Event(id="e", author="user", content=content)])
    found = await callback.search_memory("tea")
    assert [entry.text for entry in found.memories] == ["I like green tea"]


async def test_a_memory_service_without_direct_memories_says_what_to_call() -> None:
    service: BaseMemoryService = InMemoryMemoryService()
    with pytest.raises(NotImplementedError, match="add_events_to_memory"):
        await service.add_memory(app_name="app", user_id="u", memories=[])


def test_the_user_is_the_invocations() -> None:
    class Other(InvocationContext):
        @property
        def user_id(self) -> str:
            return "other"

    assert ReadonlyContext(Other.model_construct(**dict(context()))).user_id == "other"


def test_callbacks_and_tools_of_a_run_share_its_metadata() -> None:
    config = RunConfig(custom_metadata={"trace": "t"})
    invocation = context(run_config=config)
    CallbackContext(invocation).custom_metadata["headers"] = {"x": "1"}

    below = invocation.for_agent(BaseAgent(name="other"))
    read = ReadonlyContext(below).custom_metadata
    assert read == CallbackContext(below).custom_metadata == {"trace": "t", "headers": {"x": "1"}}
    with pytest.raises(TypeError):
        read["trace"] = "other"  # type: ignore[index]
    assert config.custom_metadata == {"trace": "t"}  # the next run with these settings begins with them alone
    assert CallbackContext(context()).custom_metadata == {}


def test_a_credential_of_the_invocation_is_found_by_its_key() -> None:
    ctx = context()
    secret = ctx.shared.credentials["key"] = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k")
    assert [CallbackContext(ctx).get_credential("key"), ReadonlyContext(ctx).get_credential("other")] == [secret, None]
