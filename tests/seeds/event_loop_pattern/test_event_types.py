"""Seed: event-loop-pattern, "Event Types and Processing": "Content Events", "Function Call Events" and "State Change Events".

The seed's examples are TypeScript in camelCase; snake_case and camelCase are read.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.events import Event
from runtime.events.kinds import kind_of
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import InMemorySessionService
from tests.agent_specs import message
from tests.seeds.running import runner_for

EVENTS: dict[str, dict[str, Any]] = {
    "user input": {"author": "user", "content": {"parts": [{"text": "Hello, how are you?"}]}},
    "answer": {"author": "my_agent", "content": {"parts": [{"text": "I'm doing well, thank you!"}]}},
    "tool call": {
        "author": "my_agent",
        "content": {"parts": [{"functionCall": {"name": "search_web", "args": {"query": "latest AI news"}}}]},
    },
    "tool result": {
        "author": "my_agent",
        "content": {"parts": [{"functionResponse": {"name": "search_web", "response": {"results": ["…"]}}}]},
    },
    "state": {"author": "my_agent", "actions": {"stateDelta": {"user_preference": "dark_mode", "session_count": 5}}},
}


@pytest.mark.parametrize("kind", EVENTS)
async def test_each_event_is_read_classified_and_stored(kind: str) -> None:
    event = Event.model_validate_json(json.dumps({"invocationId": "inv_123", **EVENTS[kind]}))
    assert (event.invocation_id, event.author) == ("inv_123", EVENTS[kind]["author"])
    assert kind_of(event).startswith(kind)
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    await service.append_event(session, event)
    stored = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored is not None
    assert stored.events == [event]
    assert stored.state == EVENTS[kind].get("actions", {}).get("stateDelta", {})


async def test_a_call_is_yielded_before_the_tool_runs_and_its_result_after() -> None:
    ran: list[str] = []

    def search_web(query: str) -> dict[str, list[str]]:
        ran.append(query)
        return {"results": ["a headline"]}

    llm = ScriptedLlm(replies=[Reply(calls=[("search_web", {"query": "latest AI news"})]), "A headline."])
    runner = runner_for(LlmAgent(name="my_agent", model=llm, tools=[search_web]))
    stream = runner.run_async(user_id="u", session_id="s", new_message=message("news?"))
    call = await anext(stream)
    assert (call.get_function_calls()[0].name, ran) == ("search_web", [])
    result = await anext(stream)
    assert (result.get_function_responses()[0].response, ran) == ({"results": ["a headline"]}, ["latest AI news"])
    assert result.get_function_responses()[0].id == call.get_function_calls()[0].id
    await stream.aclose()
