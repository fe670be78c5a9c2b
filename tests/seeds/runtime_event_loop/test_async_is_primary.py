"""Seed: runtime-event-loop, "Async es Primario (`run_async`)"."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from runtime.agents import BaseAgent, InvocationContext, LlmAgent
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, said, scripted, stored, texts


@pytest.mark.rule("R11", "R2")
async def test_leaving_the_loop_over_the_sync_run_stops_the_agent() -> None:
    """runtime-event-loop, "Conveniencia Síncrona (`run`)", inside a running loop, with a service that the loop has already used."""
    cleaned: list[str] = []
    threads: set[str] = set()

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            for number in range(100):
                threads.add(threading.current_thread().name)
                yield said(agent, str(number))
        finally:
            cleaned.append("finally")

    runner = runner_for(scripted(body))
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    events = []
    for event in runner.run(user_id="u", session_id="s", new_message=message("go")):
        events.append(event)
        if len(events) == 2:
            break
    del event
    assert texts(events) == ["0", "1"]
    assert cleaned == ["finally"]
    assert threads == {"Runner.run"}
    # The agent continued only when the next event was requested.
    assert texts((await stored(runner)).events) == ["go", "0", "1"]


@pytest.mark.rule("R3")
async def test_sync_tools_callbacks_and_providers_run_on_worker_threads() -> None:
    threads: dict[str, bool] = {}

    def note(what: str) -> None:
        threads[what] = threading.current_thread() is threading.main_thread()

    def provider(context: Any) -> str:
        note("provider")
        return "Do."

    def callback(callback_context: Any) -> None:
        note("callback")

    def tool() -> str:
        note("sync tool")
        return "ok"

    async def async_tool() -> str:
        note("async tool")
        return "ok"

    agent = LlmAgent(
        name="agent",
        model=ScriptedLlm(replies=[Reply(calls=[("tool", {}), ("async_tool", {})]), "done"]),
        instruction=provider,
        tools=[tool, async_tool],
        before_agent_callback=callback,
    )
    await run(runner_for(agent))
    assert threads == {"provider": False, "callback": False, "sync tool": False, "async tool": True}
