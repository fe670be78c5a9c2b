"""The Runner decodes only the events it needs, and releases ended runs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from google.genai import types

from runtime.agents import BaseAgent, BaseAgentState, InvocationContext
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, Session

OF = {"app_name": "app", "user_id": "u", "session_id": "s"}


class Steps(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for _ in range(4):
            yield self._create_agent_state_event(ctx, BaseAgentState())


def runner_on(service: BaseSessionService) -> Runner:
    app = App(name="app", root_agent=Steps(name="steps"), resumability_config=ResumabilityConfig(is_resumable=True))
    return Runner(app=app, session_service=service)


async def first_event(runner: Runner, **what: Any) -> Event:
    """Run to the first event and close the run."""
    run = runner.run_async(user_id="u", session_id="s", **what)
    event = await anext(run)
    await run.aclose()
    return event


MESSAGE = types.Content(role="user", parts=[types.Part(text="go")])


async def test_a_resume_decodes_only_its_own_invocation(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    async with DatabaseSessionService(url) as service:
        session = await service.create_session(**OF)
        for number in range(200):
            await service.append_event(session, Event(author="steps", invocation_id="older", id=str(number)))
        interrupted = await first_event(runner_on(service), new_message=MESSAGE)
    decoded = []
    async with DatabaseSessionService(url) as service:
        decode = service._runs._read

        def noting(row: Any) -> Event:
            decoded.append(row[1])
            return decode(row)

        service._runs._read = noting
        await first_event(runner_on(service), invocation_id=interrupted.invocation_id)
    assert set(decoded) == {interrupted.invocation_id}
    assert len(decoded) == 2


async def test_a_closed_run_is_released_at_once() -> None:
    held: list[weakref.ref[Session]] = []

    class Noting(InMemorySessionService):
        async def session_for_run(self, **names: str) -> Session | None:
            session = await super().session_for_run(**names)
            assert session is not None
            held.append(weakref.ref(session))
            return session

    service = Noting()
    await service.create_session(**OF)
    gc.disable()
    try:
        await first_event(runner_on(service), new_message=MESSAGE)
        assert held[0]() is None  # otherwise the next run would copy the session's events
    finally:
        gc.enable()
