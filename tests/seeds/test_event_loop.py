"""Seeds: event-loop-pattern and runtime-event-loop, section by section."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, ParallelAgent, SequentialAgent, ToolContext
from runtime.errors import ResumeError, SessionNotFoundError, UnstorableValueError
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import InMemoryRunner
from runtime.sessions import InMemorySessionService, Session
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, scripted, stored, texts


def said(agent: BaseAgent, text: str, **more: Any) -> Event:
    return Event(author=agent.name, content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


class Recording(InMemorySessionService):
    """Notes each commit, and can be told to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.journal: list[str] = []
        self.fails: set[str] = set()

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        text = texts([event])[0] if texts([event]) else "?"
        if text in self.fails:
            raise OSError("the disk is full")
        await super()._commit(session, event, temp)
        self.journal.append(f"committed {text}")


class TestTheBasicCycle:
    """event-loop-pattern, "The Basic Cycle" and "Execution Pauses at Yield"; runtime-event-loop, "Rol del Runner"."""

    async def test_each_event_is_committed_then_yielded_then_the_agent_goes_on(self) -> None:
        service = Recording()

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            for text in ("one", "two"):
                yield said(agent, text)
                service.journal.append(f"agent goes on after {text}")

        async for event in runner_for(scripted(body), service).run_async(user_id="u", session_id="s", new_message=message("go")):
            service.journal.append(f"yielded {texts([event])[0]}")
        assert service.journal == [
            "committed go",
            "committed one",
            "yielded one",
            "agent goes on after one",
            "committed two",
            "yielded two",
            "agent goes on after two",
        ]

    async def test_the_users_message_is_the_first_event_and_is_not_yielded(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            assert texts(ctx.session.events) == ["go"]
            assert ctx.user_content is not None
            yield said(agent, "answer")

        runner = runner_for(scripted(body))
        assert texts(await run(runner)) == ["answer"]
        events = (await stored(runner)).events
        assert [event.author for event in events] == ["user", "agent"]
        assert events[0].content is not None
        assert events[0].content.role == "user"
        assert events[0].invocation_id == events[1].invocation_id != ""

    async def test_a_message_without_a_role_is_the_users(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "x")

        runner = runner_for(scripted(body))
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="hi")])):
            pass
        content = (await stored(runner)).events[0].content
        assert content is not None
        assert content.role == "user"

    async def test_an_agent_yields_an_event_with_a_delta_and_reads_the_state_after(self) -> None:
        """runtime-event-loop, "Rol de la Lógica de Ejecución", as written: no invocation_id."""

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            assert "field_1" not in ctx.session.state
            yield Event(
                author=agent.name,
                actions=EventActions(state_delta={"field_1": "value_2"}),
                content=types.Content(parts=[types.Part(text="State updated.")]),
            )
            assert ctx.session.state["field_1"] == "value_2"
            fresh = await ctx.session_service.get_session(app_name="app", user_id="u", session_id="s")
            assert fresh is not None
            assert fresh.state["field_1"] == "value_2"
            yield said(agent, "seen")

        runner = runner_for(scripted(body))
        assert texts(await run(runner)) == ["State updated.", "seen"]


class TestStateUpdatesAndCommits:
    """runtime-event-loop, "Actualizaciones de Estado y Momento de Confirmación" and "Lecturas Sucias"."""

    async def test_a_direct_write_followed_by_an_event_with_the_delta(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            ctx.session.state["status"] = "processing"
            yield Event(author=agent.name, actions=EventActions(state_delta={"status": "processing"}))
            assert ctx.session.state["status"] == "processing"

        runner = runner_for(scripted(body))
        await run(runner)
        assert (await stored(runner)).state == {"status": "processing"}

    async def test_a_direct_write_without_a_delta_is_seen_but_not_stored_and_the_log_says_so(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            ctx.session.state["status"] = "lost"
            yield said(agent, "x")
            assert ctx.session.state["status"] == "lost"

        runner = runner_for(scripted(body))
        with caplog.at_level(logging.WARNING, "runtime"):
            await run(runner)
        assert (await stored(runner)).state == {}
        assert "not stored: status" in caplog.text

    async def test_a_callbacks_write_is_read_by_a_later_tool_before_it_is_committed(self) -> None:
        seen: list[Any] = []

        def before_agent(callback_context: CallbackContext) -> None:
            callback_context.state["field_1"] = "value_1"

        def before_model(callback_context: CallbackContext, llm_request: Any) -> None:
            callback_context.state["field_2"] = "value_2"

        async def tool(tool_context: ToolContext) -> str:
            seen.extend([tool_context.state["field_1"], tool_context.state["field_2"]])
            committed = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
            assert committed is not None
            return "ok"

        agent = LlmAgent(
            name="agent",
            model=ScriptedLlm(replies=[Reply(calls=[("tool", {})]), "done"]),
            tools=[tool],
            before_agent_callback=before_agent,
            before_model_callback=before_model,
        )
        runner = runner_for(agent)
        await run(runner)
        assert seen == ["value_1", "value_2"]
        assert (await stored(runner)).state == {"field_1": "value_1", "field_2": "value_2"}

    async def test_writes_that_no_event_carried_are_lost_when_the_run_fails(self) -> None:
        def before_tool(tool: Any, args: dict[str, Any], tool_context: ToolContext) -> None:
            tool_context.state["written"] = "by a callback"

        def breaks(tool_context: ToolContext) -> str:
            raise RuntimeError("the tool broke")

        agent = LlmAgent(
            name="agent",
            model=ScriptedLlm(replies=[Reply(calls=[("breaks", {})])]),
            tools=[breaks],
            before_tool_callback=before_tool,
        )
        runner = runner_for(agent)
        with pytest.raises(RuntimeError, match="the tool broke"):
            await run(runner)
        session = await stored(runner)
        assert session.state == {}
        assert [event.author for event in session.events] == ["user", "agent"]


class TestPartialEvents:
    """event-loop-pattern, "Streaming and Partial Events"; runtime-event-loop, "Salida Streaming vs. No-Streaming"."""

    async def test_partial_partial_final(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "Thinking", partial=True, actions=EventActions(state_delta={"ignored": True}))
            assert "ignored" not in ctx.session.state
            yield said(agent, "Thinking...", partial=True)
            yield said(agent, "Here's my complete response", partial=False, actions=EventActions(state_delta={"kept": True}))

        runner = runner_for(scripted(body))
        assert texts(await run(runner)) == ["Thinking", "Thinking...", "Here's my complete response"]
        session = await stored(runner)
        assert texts(session.events) == ["go", "Here's my complete response"]
        assert session.state == {"kept": True}


class TestFailures:
    """event-loop-pattern, "Error Handling": exceptions reach the agent, partial changes are rolled back."""

    async def test_a_failed_commit_is_raised_at_the_agents_own_yield_and_leaves_nothing(self) -> None:
        service = Recording()
        service.fails = {"two"}
        caught: list[str] = []

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "one", actions=EventActions(state_delta={"one": 1}))
            ctx.session.state["local"] = "write"
            try:
                yield said(agent, "two", actions=EventActions(state_delta={"one": 2, "two": 2}))
            except OSError as error:
                caught.append(str(error))
            assert ctx.session.state == {"one": 1}
            yield said(agent, "three")

        runner = runner_for(scripted(body), service)
        assert texts(await run(runner)) == ["one", "three"]
        assert caught == ["the disk is full"]
        assert (await stored(runner)).state == {"one": 1}

    async def test_an_agent_that_does_not_catch_it_fails_and_the_run_raises(self) -> None:
        service = Recording()
        service.fails = {"two"}
        cleaned: list[str] = []

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                yield said(agent, "one")
                yield said(agent, "two")
                yield said(agent, "never")
            finally:
                cleaned.append("finally")

        runner = runner_for(SequentialAgent(name="outer", sub_agents=[scripted(body)]), service)
        with pytest.raises(OSError, match="the disk is full"):
            await run(runner)
        assert cleaned == ["finally"]
        assert texts((await stored(runner)).events) == ["go", "one"]

    @pytest.mark.parametrize("outer", [SequentialAgent, ParallelAgent])
    async def test_workflow_agents_forward_it_to_the_child_that_yielded(self, outer: type[BaseAgent]) -> None:
        service = Recording()
        service.fails = {"bad"}
        caught: list[str] = []

        async def catching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                yield said(agent, "bad")
            except OSError:
                caught.append(agent.name)
            yield said(agent, f"{agent.name} went on")

        async def calm(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "calm")

        runner = runner_for(outer(name="outer", sub_agents=[scripted(catching, "first"), scripted(calm, "second")]), service)
        assert sorted(texts(await run(runner))) == ["calm", "first went on"]
        assert caught == ["first"]

    async def test_siblings_whose_commits_fail_at_once_are_each_told(self) -> None:
        service = Recording()
        service.fails = {"bad"}
        caught: list[str] = []

        async def catching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                yield said(agent, "bad")
            except OSError:
                caught.append(agent.name)

        agents = [scripted(catching, name) for name in ("first", "second", "third")]
        await run(runner_for(ParallelAgent(name="outer", sub_agents=[*agents]), service))
        assert sorted(caught) == ["first", "second", "third"]

    @pytest.mark.parametrize("hook", ["before_agent_callback", "after_agent_callback"])
    async def test_what_the_roots_callback_says_and_cannot_be_committed_fails_the_run(self, hook: str) -> None:
        service = Recording()
        service.fails = {"bad"}

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "good")

        root = scripted(body)
        setattr(root, hook, lambda callback_context: types.Content(role="model", parts=[types.Part(text="bad")]))
        with pytest.raises(OSError, match="the disk is full"):
            await run(runner_for(root, service))

    async def test_a_value_that_cannot_be_stored_is_refused_before_the_commit(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "x", actions=EventActions(state_delta={"fine": 1, "cart": {"items": [1, {2, 3}]}}))

        runner = runner_for(scripted(body))
        with pytest.raises(UnstorableValueError, match=r"state\['cart'\]\['items'\]\[1\]"):
            await run(runner)
        session = await stored(runner)
        assert (session.state, texts(session.events)) == ({}, ["go"])

    async def test_what_is_no_event_is_refused_as_a_type_error_in_the_agent(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                yield "a string"  # type: ignore[misc]
            except TypeError as error:
                yield said(agent, str(error))

        assert "yielded a str" in texts(await run(runner_for(scripted(body))))[0]

    async def test_a_session_that_does_not_exist(self) -> None:
        runner = InMemoryRunner(scripted(lambda agent, ctx: agent))  # type: ignore[arg-type, return-value]
        with pytest.raises(SessionNotFoundError, match="Session not found: s"):
            await run(runner)

    async def test_neither_a_message_nor_an_invocation(self) -> None:
        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "x")

        with pytest.raises(ResumeError, match="requires a new_message or a resumable app"):
            await run(runner_for(scripted(body)), None)
        with pytest.raises(ResumeError, match="either a new_message or an invocation_id"):
            await run(runner_for(scripted(body), resumable=True), None)


class TestStopping:
    """Leaving a run early stops the agent where it is, and its `finally` blocks run."""

    async def test_closing_the_generator_runs_every_finally(self) -> None:
        cleaned: list[str] = []

        async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                for number in range(100):
                    yield said(agent, str(number))
            finally:
                await asyncio.sleep(0)  # a finally block may await
                cleaned.append(agent.name)

        agents = ParallelAgent(name="both", sub_agents=[scripted(body, "a"), scripted(body, "b")])
        runner = runner_for(SequentialAgent(name="outer", sub_agents=[agents]))
        events = runner.run_async(user_id="u", session_id="s", new_message=message("go"))
        await anext(events)
        await events.aclose()
        assert sorted(cleaned) == ["a", "b"]
        assert len(asyncio.all_tasks()) == 1

    async def test_one_failing_sibling_cancels_the_others_cleanly(self) -> None:
        cleaned: list[str] = []

        async def waits(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                yield said(agent, "begun")
                await asyncio.Event().wait()
            finally:
                cleaned.append(agent.name)

        async def fails(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            yield said(agent, "begun too")
            raise ValueError("one of them failed")

        runner = runner_for(ParallelAgent(name="both", sub_agents=[scripted(waits, "waits"), scripted(fails, "fails")]))
        with pytest.raises(ValueError, match="one of them failed"):
            await run(runner)
        assert cleaned == ["waits"]
        assert len(asyncio.all_tasks()) == 1

    async def test_leaving_the_for_of_the_sync_run_stops_the_agent(self) -> None:
        """runtime-event-loop, "Conveniencia Síncrona (`run`)", inside a running loop and on a service that the loop already used."""
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
        # The agent went on only when the next event was asked for.
        assert texts((await stored(runner)).events) == ["go", "0", "1"]


class TestAsyncIsPrimary:
    """runtime-event-loop, "Async es Primario"."""

    async def test_sync_tools_callbacks_and_providers_run_off_the_loops_thread(self) -> None:
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
