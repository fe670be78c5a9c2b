"""After every event of a run, the stored state at that event is the state that the agents see."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.history.in_memory import history_in_memory
from runtime.history.state_at import History
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService
from runtime.sessions.session import SessionKey
from runtime.sessions.temp_trace import NotStored
from runtime.storage.reading.reader import StoredDatabase
from tests import sweep
from tests.agent_specs import message
from tests.properties.session_steps import deltas
from tests.seeds.running import runner_for

KEY = SessionKey("app", "u", "s")

leaves = st.one_of(
    st.tuples(st.just("says"), st.lists(deltas, min_size=1, max_size=3)),
    st.tuples(st.just("calls"), st.lists(deltas, min_size=1, max_size=2)),
)
trees = st.recursive(
    leaves,
    lambda below: st.tuples(st.sampled_from(["sequential", "parallel", "loop"]), st.lists(below, min_size=1, max_size=3)),
    max_leaves=4,
)


class Says(BaseAgent):
    """Yields one event per delta."""

    deltas: list[dict[str, Any]]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for delta in self.deltas:
            content = types.Content(role="model", parts=[types.Part(text="x")])
            yield Event(author=self.name, branch=ctx.branch, content=content, actions=EventActions(state_delta=dict(delta)))


def agent_of(shape: Any, names: Iterator[int]) -> BaseAgent:
    kind, inner = shape
    name = f"a{next(names)}"
    if kind == "says":
        return Says(name=name, deltas=inner)
    if kind == "calls":
        return _caller(name, inner)
    sub_agents = [agent_of(sub, names) for sub in inner]
    if kind == "loop":
        return LoopAgent(name=name, sub_agents=sub_agents, max_iterations=2)
    return (ParallelAgent if kind == "parallel" else SequentialAgent)(name=name, sub_agents=sub_agents)


def _caller(name: str, writes: list[dict[str, Any]]) -> LlmAgent:
    """Return an agent whose tools (called in one turn), callback and answer write to the state."""

    def write(number: int, tool_context: ToolContext) -> str:
        tool_context.state.update(writes[number])
        return "written"

    def before_agent(callback_context: CallbackContext) -> None:
        callback_context.state["user:begun"] = name

    calls = Reply(calls=[("write", {"number": number}) for number in range(len(writes))])
    llm = ScriptedLlm(replies=[calls, f"{name} is done"])
    return LlmAgent(name=name, model=llm, tools=[write], before_agent_callback=before_agent, output_key="app:said")


class Watcher(BasePlugin):
    """Keeps the context of the run."""

    def __init__(self) -> None:
        super().__init__("watcher")

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self.ctx = invocation_context


class Watched:
    """A session whose stored state is compared with the live state."""

    def __init__(self, shape: Any, service: BaseSessionService, file: Path | None) -> None:
        self._watcher = Watcher()
        self._file = file
        self._service = service
        self.runner = runner_for(agent_of(shape, itertools.count()), service, resumable=True, plugins=[self._watcher])

    async def run(self, at_most: int | None = None, **more: Any) -> None:
        """Run and check after every event; stop after `at_most` events, as a kill would."""
        count = 0
        stream = self.runner.run_async(user_id="u", session_id="s", **more)
        async for _ in stream:
            count += 1
            await self._check()
            if count == at_most:
                break
        await stream.aclose()

    async def _check(self) -> None:
        session = await self._service.get_session(app_name="app", user_id="u", session_id="s")
        assert session is not None
        if self._file is None:
            assert isinstance(self._service, InMemorySessionService)
            self._same(history_in_memory(self._service, KEY), session.state)
            return
        with StoredDatabase.open(str(self._file)) as database:
            self._same(database.history(KEY), session.state)

    def _same(self, history: History, stored: dict[str, Any]) -> None:
        last = history.state_at(len(history) - 1)
        assert last.unknown == []
        assert _text(last.merged()) == _text(stored)
        # Agents see the same and the temp: keys; a parallel agent may have written without having yielded yet.
        live = self._watcher.ctx.shared.committed_state
        temp = {key: live.get(key) if isinstance(value, NotStored) else value for key, value in last.temp.items()}
        assert _text({**last.merged(), **temp}) == _text(live)

    def live(self) -> dict[str, Any]:
        return self._watcher.ctx.session.state


def _text(state: dict[str, Any]) -> str:
    """Return the values as text, so that True differs from 1."""
    return repr(sorted(state.items()))


async def check(shape: Any, layout: str, file: Path, first: dict[str, Any], cut: int) -> None:
    service = InMemorySessionService() if layout == "in_memory" else DatabaseSessionService(f"sqlite:///{file}")
    async with service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state=first)
        watched = Watched(shape, service, None if layout == "in_memory" else file)
        await watched.run(at_most=cut, new_message=message("go"), state_delta={"user:a": "from the message"})
        session = await service.get_session(app_name="app", user_id="u", session_id="s")
        assert session is not None
        # A new Runner, as in another process.
        resumed = Watched(shape, service, None if layout == "in_memory" else file)
        await resumed.run(invocation_id=session.events[0].invocation_id)
        if hasattr(resumed._watcher, "ctx"):  # otherwise the first run had ended
            assert _text(resumed.live()) == _text(resumed._watcher.ctx.shared.committed_state)


@pytest.mark.sweep
@pytest.mark.parametrize("layout", ["in_memory", "v1"])
@settings(max_examples=sweep.count(20, 3_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees, deltas, st.integers(1, 12))
def test_the_state_at_the_last_event_is_the_live_state(layout: str, shape: Any, first: dict[str, Any], cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(shape, layout, Path(folder) / "x.db", first, cut))
