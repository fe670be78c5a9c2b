"""Seed: runtime-event-loop, "Componentes clave del Runtime": the services."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import CallbackContext, LlmAgent, ToolContext
from runtime.artifacts import InMemoryArtifactService
from runtime.memory import InMemoryMemoryService
from runtime.models.scripted_llm import Reply, ScriptedLlm, instruction_text
from runtime.runners import InMemoryRunner
from tests.seeds.running import run, runner_for, stored, texts

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}


@pytest.mark.rule("R6")
async def test_a_file_is_saved_immediately_and_recorded_in_the_next_event() -> None:
    artifacts = InMemoryArtifactService()
    saved: list[Any] = []

    async def save(tool_context: ToolContext) -> str:
        version = await tool_context.save_artifact("note", types.Part(text="x"))
        saved.append((version, await artifacts.list_versions(**NAMES, filename="note"), len((await stored(runner)).events)))
        return "done"

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("save", {})]), "ok"]), tools=[save])
    runner = runner_for(agent, artifact_service=artifacts)
    events = await run(runner)
    assert saved == [(0, [0], 2)]
    assert [event.actions.artifact_delta for event in events] == [{}, {"note": 0}, {}]


@pytest.mark.rule("R6")
async def test_a_version_saved_by_a_failed_tool_is_not_recorded() -> None:
    artifacts = InMemoryArtifactService()
    crash = [True]

    async def save(tool_context: ToolContext) -> str:
        await tool_context.save_artifact("note", types.Part(text="x"))
        if crash.pop() if crash else False:
            raise RuntimeError("crash")
        return "done"

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("save", {})]), "ok"]), tools=[save])
    runner = runner_for(agent, artifact_service=artifacts, resumable=True)
    with pytest.raises(RuntimeError):
        await run(runner)
    session = await stored(runner)
    assert await artifacts.list_versions(**NAMES, filename="note") == [0]
    assert all(not event.actions.artifact_delta for event in session.events)
    await run(runner, None, invocation_id=session.events[0].invocation_id)
    assert [event.actions.artifact_delta for event in (await stored(runner)).events if event.actions.artifact_delta] == [{"note": 1}]


class Down:
    """A service that fails until `up` is set."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self.up = False

    def __getattr__(self, name: str) -> Any:
        if not self.up:
            raise ConnectionError("service is down")
        return getattr(self._service, name)


@pytest.mark.rule("E2")
@pytest.mark.parametrize("kind", ["artifact_service", "memory_service"])
async def test_a_failing_service_raises_into_the_tool_and_the_run_can_be_resumed(kind: str) -> None:
    service = Down(InMemoryArtifactService() if kind == "artifact_service" else InMemoryMemoryService())
    caught = []

    async def use(tool_context: ToolContext) -> str:
        try:
            await (tool_context.list_artifacts() if kind == "artifact_service" else tool_context.search_memory("x"))
        except ConnectionError as error:
            caught.append(str(error))
            raise
        return "used"

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("use", {})]), "ok"]), tools=[use])
    runner = runner_for(agent, resumable=True, **{kind: service})
    with pytest.raises(ConnectionError):
        await run(runner)
    assert caught == ["service is down"]
    session = await stored(runner)
    assert [event.author for event in session.events] == ["user", "agent"]
    service.up = True
    assert texts(await run(runner, None, invocation_id=session.events[0].invocation_id)) == ["ok"]


async def test_an_artifact_in_an_instruction() -> None:
    seen = []

    def note(request: Any) -> str:
        seen.append(instruction_text(request))
        return "x"

    artifacts = InMemoryArtifactService()
    await artifacts.save_artifact(**NAMES, filename="note", artifact=types.Part(text="the note"))
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[note]), instruction="Read {artifact.note}{artifact.none?}.")
    await run(runner_for(agent, artifact_service=artifacts))
    assert seen[0].startswith("Read the note.")


async def test_the_in_memory_runner_has_all_services() -> None:
    found = []

    async def use(callback_context: CallbackContext) -> None:
        await callback_context.save_artifact("user:card", types.Part(text="c"))
        await callback_context.add_session_to_memory()
        found.append((await callback_context.list_artifacts(), len((await callback_context.search_memory("hello")).memories)))

    runner = InMemoryRunner(agent=LlmAgent(name="agent", model=ScriptedLlm(replies=["x"]), before_agent_callback=use))
    await runner.run_debug("hello", quiet=True)
    assert found == [(["user:card"], 1)]
