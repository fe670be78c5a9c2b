"""A Runner with `feed_memory` passes events or sessions to the memory service and survives its failures."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.events import Event
from runtime.memory import BaseMemoryService, InMemoryMemoryService, SearchMemoryResponse
from runtime.models.scripted_llm import ScriptedLlm
from runtime.sessions import Session
from tests.seeds.running import run, runner_for, stored, texts


class Noting(BaseMemoryService):
    """Accepts whole sessions only."""

    def __init__(self, fail: bool = False) -> None:
        self.sessions: list[int] = []
        self.fail = fail

    async def add_session_to_memory(self, session: Session) -> None:
        self.sessions.append(len(session.events))
        if self.fail:
            raise ConnectionError("memory is down")

    async def search_memory(self, **_: Any) -> SearchMemoryResponse:
        return SearchMemoryResponse()


class NotingEvents(Noting):
    def __init__(self, fail: bool = False) -> None:
        super().__init__(fail)
        self.events: list[Event] = []

    async def add_events_to_memory(self, *, events: Any, **_: Any) -> None:
        self.events.extend(events)
        if self.fail:
            raise ConnectionError("memory is down")


def agent() -> LlmAgent:
    return LlmAgent(name="agent", model=ScriptedLlm(replies=["I like tea"]))


async def test_nothing_is_stored_by_default() -> None:
    memory = InMemoryMemoryService()
    await run(runner_for(agent(), memory_service=memory))
    assert (await memory.search_memory(app_name="app", user_id="u", query="tea")).memories == []


async def test_sessions_are_stored_after_each_invocation() -> None:
    memory = Noting()
    runner = runner_for(agent(), memory_service=memory, feed_memory="invocation")
    await run(runner)
    await run(runner)
    assert memory.sessions == [2, 4]


@pytest.mark.rule("R7")
async def test_events_are_stored_as_they_are_committed() -> None:
    memory = NotingEvents()
    runner = runner_for(agent(), memory_service=memory, feed_memory="event")
    await run(runner)
    assert [event.id for event in memory.events] == [event.id for event in (await stored(runner)).events] and memory.sessions == []


async def test_a_service_for_whole_sessions_receives_the_session_after_each_event() -> None:
    memory = Noting()
    await run(runner_for(agent(), memory_service=memory, feed_memory="event"))
    assert memory.sessions == [1, 2]


async def test_an_attribute_error_in_the_service_is_not_mistaken_for_a_missing_method(caplog: pytest.LogCaptureFixture) -> None:
    class Mistaken(Noting):
        async def add_events_to_memory(self, **_: Any) -> None:
            raise AttributeError("a mistake")

    memory = Mistaken()
    with caplog.at_level(logging.ERROR):
        await run(runner_for(agent(), memory_service=memory, feed_memory="event"))
    assert memory.sessions == []
    assert "a mistake" in caplog.text


@pytest.mark.rule("R7")
@pytest.mark.parametrize("memory", [Noting(fail=True), NotingEvents(fail=True)])
@pytest.mark.parametrize("when", ["event", "invocation"])
async def test_a_failure_is_logged_and_does_not_fail_the_run(memory: Any, when: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        runner = runner_for(agent(), memory_service=memory, feed_memory=when)
        assert texts(await run(runner)) == ["I like tea"]
    assert len((await stored(runner)).events) == 2
    assert "memory is down" in caplog.text and "session s" in caplog.text
