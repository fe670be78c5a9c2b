"""Seed: runtime-event-loop, "Idea Central: El Bucle de Eventos", "El Latido: El Bucle de Eventos -
Funcionamiento interno" and "Rol del Runner (Orquestador)".

The Runner implements the seed's conceptual loop: it commits the message, then commits and yields each event before the agent continues.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from runtime.agents import BaseAgent, InvocationContext, SequentialAgent
from runtime.events import EventActions
from runtime.memory import InMemoryMemoryService
from runtime.sessions import InMemorySessionService
from tests.agent_specs import message
from tests.seeds.running import Recording, run, runner_for, said, scripted, stored, texts


async def test_the_loop_of_the_five_steps() -> None:
    service = Recording()

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator:
        for number in range(2):
            service.journal.append(f"{agent.name} works")
            yield said(agent, f"{agent.name}{number}")

    runner = runner_for(SequentialAgent(name="pipe", sub_agents=[scripted(body, "a"), scripted(body, "b")]), service)
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
        service.journal.append(f"yielded {texts([event])[0]}")
    expected = ["committed go"]
    for name in ("a0", "a1", "b0", "b1"):
        expected += [f"{name[0]} works", f"committed {name}", f"yielded {name}"]
    assert service.journal == expected


async def test_an_event_is_committed_before_the_caller_receives_it() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator:
        yield said(agent, "one", actions=EventActions(state_delta={"k": 1}, artifact_delta={"f": 0}))

    runner = runner_for(scripted(body))
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
        session = await stored(runner)
        assert session.events[-1] == event
        assert session.state == {"k": 1}
        assert session.events[-1].actions.artifact_delta == {"f": 0}


async def test_contexts_have_the_runners_services() -> None:
    sessions, memory = InMemorySessionService(), InMemoryMemoryService()
    found: list[object] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator:
        found.extend([ctx.session_service, ctx.memory_service])
        yield said(agent, "x")

    await run(runner_for(scripted(body), sessions, memory_service=memory))
    assert found == [sessions, memory]
