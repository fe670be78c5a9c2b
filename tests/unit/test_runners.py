"""The Runner: construction, runs by google-adk's public names, decoding of few events, and release of ended runs."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import (
    BaseAgent,
    BaseAgentState,
    InvocationContext,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    RunConfig,
    SequentialAgent,
)
from runtime.agents.run_config import StreamingMode
from runtime.apps import App, ResumabilityConfig
from runtime.apps.app import EventsCompactionConfig
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.errors import SessionNotFoundError
from runtime.events import Event
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.runners import InMemoryRunner, Runner
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, Session
from runtime.tools import exit_loop
from tests.agent_specs import message
from tests.seeds.running import texts

OF = {"app_name": "app", "user_id": "u", "session_id": "s"}


def agent() -> LlmAgent:
    return LlmAgent(name="agent", model=ScriptedLlm(replies=["hello"]))


def app() -> App:
    return App(name="shop", root_agent=agent())


@pytest.mark.rule("R11")
@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"app": app()}, "shop"),
        ({"app": app(), "app_name": "other"}, "other"),
        ({"app_name": "plain", "agent": agent()}, "plain"),
    ],
    ids=["app", "app and name", "name and agent"],
)
def test_a_runner_is_made_from_an_app_or_an_agent(given: dict[str, Any], name: str) -> None:
    runner = Runner(session_service=InMemorySessionService(), **given)
    assert (runner.app_name, runner.agent.name) == (name, "agent")


@pytest.mark.parametrize(
    "given",
    [{}, {"app_name": "x"}, {"agent": agent()}, {"app": app(), "agent": agent()}, {"app": app(), "plugins": [BasePlugin("p")]}],
    ids=["nothing", "only a name", "only an agent", "app and agent", "app and plugins"],
)
def test_invalid_arguments_raise(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="app"):
        Runner(session_service=InMemorySessionService(), **given)


@pytest.mark.rule("R11")
def test_the_in_memory_runner_has_a_default_app_name() -> None:
    assert InMemoryRunner(agent=agent()).app_name == "InMemoryRunner"
    assert InMemoryRunner(agent=agent(), app_name="mine").app_name == "mine"
    assert InMemoryRunner(app=app()).app_name == "shop"


@pytest.mark.rule("R11")
async def test_a_session_is_created_only_if_enabled() -> None:
    service = InMemorySessionService()
    key: dict[str, Any] = {"user_id": "u", "session_id": "s"}
    with pytest.raises(SessionNotFoundError, match="Session not found: s"):
        await anext(Runner(app=app(), session_service=service).run_async(**key, new_message=message("hi")))
    async with Runner(app=app(), session_service=service, auto_create_session=True) as runner:
        assert texts([event async for event in runner.run_async(**key, new_message=message("hi"))]) == ["hello"]
    assert await service.get_session(app_name="shop", **key) is not None


class Replacing(BasePlugin):
    """Replaces every text by another event, or answers in place of the run."""

    def __init__(self, *, instead: bool = False) -> None:
        super().__init__("replacing")
        self.instead = instead

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        if not texts([event]):
            return None
        return Event(author=event.author, content=message("replaced"), partial=event.partial, custom_metadata={"own": 1})

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        return message("instead") if self.instead else None


async def committed_with(
    plugins: list[BasePlugin], metadata: dict[str, Any], *, streaming: bool = False
) -> tuple[list[Event], list[Event]]:
    """Return the yielded and the stored events of a run with run metadata, of a tree with most kinds of events, compacted at the end."""
    caller = LlmAgent(name="caller", model=ScriptedLlm(replies=[{"calls": [("exit_loop", {})]}, "called"]), tools=[exit_loop])
    sub_agents = [
        ParallelAgent(name="both", sub_agents=[LlmAgent(name=name, model=ScriptedLlm(replies=[name])) for name in ("a", "b")]),
        LoopAgent(name="loop", sub_agents=[caller]),
        LlmAgent(name="last", model=ScriptedLlm(replies=["x"]), before_agent_callback=lambda callback_context: message("called back")),
    ]
    runner = Runner(
        app=App(
            name="app",
            root_agent=SequentialAgent(name="root", sub_agents=sub_agents),
            plugins=plugins,
            resumability_config=ResumabilityConfig(is_resumable=True),
            events_compaction_config=EventsCompactionConfig(
                compaction_interval=1, overlap_size=0, summarizer=LlmEventSummarizer(ScriptedLlm(replies=["summed up"]))
            ),
        ),
        session_service=InMemorySessionService(),
        auto_create_session=True,
    )
    config = RunConfig(custom_metadata=metadata, streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE)
    run = runner.run_async(user_id="u", session_id="s", new_message=message("hi"), run_config=config)
    yielded = [event async for event in run]
    session = await runner.session_service.get_session(**OF)
    assert session is not None
    return yielded, session.events


@pytest.mark.rule("R11")
@pytest.mark.parametrize("plugins", [[], [Replacing()], [Replacing(instead=True)]])
async def test_run_metadata_reaches_every_event(plugins: list[BasePlugin]) -> None:
    yielded, stored = await committed_with(plugins, {"trace": "t", "of": {"run": 1}}, streaming=True)
    assert {event.author for event in stored} >= {"user"} and any(event.actions.compaction for event in stored)
    for event in [*yielded, *stored]:
        metadata = event.custom_metadata or {}
        assert (metadata.get("trace"), metadata.get("of")) == ("t", {"run": 1})
        assert ("own" in metadata) is (texts([event]) == ["replaced"])


async def test_an_events_own_metadata_overrides_the_runs() -> None:
    _, stored = await committed_with([Replacing()], {"own": 0})
    assert {(event.custom_metadata or {})["own"] for event in stored} == {0, 1}


async def test_a_replaced_event_keeps_its_identity_and_what_the_replacement_does_not_set() -> None:
    plain, _ = await committed_with([], {})
    replaced, stored = await committed_with([Replacing()], {})
    assert len({event.invocation_id for event in stored}) == 2  # the run's, and the summary's
    assert len(plain) == len(replaced)
    assert sorted(filter(None, (event.branch for event in plain))) == sorted(filter(None, (event.branch for event in replaced)))


async def test_the_users_message_is_yielded_on_request() -> None:
    runner = InMemoryRunner(agent(), app_name="app")
    await runner.session_service.create_session(**OF)
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message("hi"), yield_user_message=True)]
    stored = await runner.session_service.get_session(**OF)
    assert stored is not None and [event.id for event in events] == [event.id for event in stored.events]
    assert [event.author for event in events] == ["user", "agent"]


@pytest.mark.rule("R11")
async def test_message_state_delta_and_run_metadata_are_committed() -> None:
    service = InMemorySessionService()
    runner = Runner(app=app(), session_service=service, auto_create_session=True)
    run = runner.run_async(
        user_id="u",
        session_id="s",
        new_message=message("hi"),
        state_delta={"k": 1, "user:k": 2},
        run_config=RunConfig(custom_metadata={"trace": "t"}),
    )
    events = [event async for event in run]
    assert [event.custom_metadata for event in events] == [{"trace": "t"}]
    session = await service.get_session(app_name="shop", user_id="u", session_id="s")
    assert session is not None
    assert session.events[0].actions.state_delta == session.state == {"k": 1, "user:k": 2}


async def test_a_plain_text_message_is_rejected_with_a_hint() -> None:
    runner = Runner(app=app(), session_service=InMemorySessionService(), auto_create_session=True)
    with pytest.raises(TypeError, match=r"new_message must be a types\.Content, such as types\.UserContent\('hello'\), not str"):
        await anext(runner.run_async(user_id="u", session_id="s", new_message="hello"))  # type: ignore[arg-type]


async def test_a_message_without_parts_is_rejected_and_nothing_is_stored() -> None:
    service = InMemorySessionService()
    runner = Runner(app=app(), session_service=service, auto_create_session=True)
    with pytest.raises(ValueError, match="no parts"):
        await anext(runner.run_async(user_id="u", session_id="s", new_message=types.Content(role="user", parts=[])))
    session = await service.get_session(app_name="shop", user_id="u", session_id="s")
    assert session is not None
    assert session.events == []


async def test_an_agent_that_never_awaits_does_not_block_the_loop() -> None:
    class Gushing(BaseAgent):
        said: int = 0

        async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            while self.said < 200_000 and not others_ran:
                self.said += 1
                yield Event(author=self.name, partial=True, content=types.Content(role="model", parts=[types.Part(text="word ")]))

    others_ran: list[bool] = []
    gushing = Gushing(name="gushing")
    runner = InMemoryRunner(agent=gushing)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    asyncio.get_running_loop().call_later(0.02, others_ran.append, True)
    async for _event in runner.run_async(user_id="u", session_id=session.id, new_message=message("go")):
        pass
    assert others_ran, f"{gushing.said} events in one go"


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


async def test_a_services_own_get_session_loads_the_session_of_a_run() -> None:
    class Named(InMemorySessionService):
        async def get_session(self, **names: Any) -> Session | None:
            session = await super().get_session(**names)
            assert session is not None
            session.state["who"] = names["user_id"]
            return session

    service = Named()
    await service.create_session(**OF)
    serving = LlmAgent(name="serving", model=ScriptedLlm(replies=["hello"]), instruction="You serve {who}.")
    runner = Runner(app_name="app", agent=serving, session_service=service)
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message("hi"))]
    assert len(events) == 1  # without the key, the instruction could not be filled in

    plain = InMemorySessionService()
    await plain.create_session(**OF)
    calls = []
    load = plain.get_session

    async def spy(**names: Any) -> Session | None:
        calls.append(names["session_id"])
        return await load(**names)

    plain.get_session = spy
    await first_event(runner_on(plain), new_message=MESSAGE)
    assert calls == ["s"]


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
