"""Seed: resume, "Reanudar un flujo de trabajo detenido" and "Cómo funciona": crashes in tools, long-running calls, confirmations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent, ToolContext
from runtime.apps import App, ResumabilityConfig
from runtime.errors import ResumeError
from runtime.events import Event
from runtime.history.in_memory import history_in_memory
from runtime.history.invocations import invocations, pending_items
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.resume_plan import plan_resume
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.agent_specs import TOOLS
from tests.seeds.running import run, runner_for, stored, texts


def llm_agent(name: str, *replies: Any, tools: list[Any] | None = None, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=list(replies)), tools=tools or [], **more)


def answer(call_id: str | None, name: str, response: dict[str, Any]) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=response))
    return types.Content(role="user", parts=[part])


async def resume(runner: Runner, new_message: types.Content | None = None) -> list[Event]:
    """Resume the session's newest invocation."""
    invocation_id = (await stored(runner)).events[-1].invocation_id
    stream = runner.run_async(user_id="u", session_id="s", invocation_id=invocation_id, new_message=new_message)
    return [event async for event in stream]


def results(events: list[Event]) -> list[tuple[str | None, Any]]:
    return [(response.name, response.response) for event in events for response in event.get_function_responses()]


class TestAppWithResumability:
    """ "Agregar configuración reanudable", as written."""

    async def test_the_app(self) -> None:
        root_agent = llm_agent("root", "hello")
        app = App(
            name="my_resumable_agent",
            root_agent=root_agent,
            resumability_config=ResumabilityConfig(
                is_resumable=True,
            ),
        )
        service = InMemorySessionService()
        await service.create_session(app_name="my_resumable_agent", user_id="u_123", session_id="s_abc")
        runner = Runner(app=app, session_service=service)
        message = types.Content(parts=[types.Part(text="hi")])
        events = [event async for event in runner.run_async(user_id="u_123", session_id="s_abc", new_message=message)]
        assert texts(events) == ["hello"]
        assert events[-1].actions.end_of_agent
        again = runner.run_async(user_id="u_123", session_id="s_abc", invocation_id=events[0].invocation_id)
        assert [event async for event in again] == []  # finished stays finished

    async def test_an_app_that_is_not_resumable_refuses(self) -> None:
        runner = runner_for(llm_agent("root", "hello"))
        await run(runner)
        with pytest.raises(ResumeError, match="is_resumable=True"):
            await resume(runner)


class TestACrashInATool:
    """ "El registro de eventos incluye resultados de Herramientas": A and B are restored, only C runs again."""

    @staticmethod
    def _agent(ran: list[str], ids: list[str | None], crashes: set[str], gate: asyncio.Event) -> LlmAgent:
        async def work(name: str, tool_context: ToolContext) -> str:
            if name in crashes:
                await gate.wait()  # the others' results are committed by then
                crashes.discard(name)
                raise RuntimeError(f"{name} crashed")
            ran.append(name)
            ids.append(tool_context.function_call_id)
            tool_context.state[name] = "done"
            return name

        def tool_named(name: str) -> FunctionTool:
            async def call(tool_context: ToolContext) -> str:
                return await work(name, tool_context)

            call.__name__ = name
            return FunctionTool(call)

        calls = Reply(calls=[("A", {}), ("B", {}), ("C", {})])
        return llm_agent("worker", calls, "all done", tools=[tool_named(name) for name in "ABC"])

    async def test_only_the_call_without_a_committed_result_runs_again(self) -> None:
        ran: list[str] = []
        ids: list[str | None] = []
        gate = asyncio.Event()
        runner = runner_for(self._agent(ran, ids, {"C"}, gate), resumable=True)
        with pytest.raises(RuntimeError, match="C crashed"):
            async for event in runner.run_async(user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="go")])):
                if len(ran) == 2 and event.get_function_responses():
                    gate.set()
        session = await stored(runner)
        assert sorted(name or "" for name, _ in results(session.events)) == ["A", "B"]
        assert session.state == {"A": "done", "B": "done"}
        (interrupted,) = invocations(session.events)
        assert interrupted.status == "interrupted"
        events = await resume(runner)
        assert [name for name, _ in results(events)] == ["C"]
        assert texts(events) == ["all done"]
        assert sorted(ran) == ["A", "B", "C"]
        session = await stored(runner)
        assert session.state == {"A": "done", "B": "done", "C": "done"}
        call_ids = {call.id for event in session.events for call in event.get_function_calls()}
        assert set(ids) == call_ids  # the same id when a call runs again: an idempotency key

    async def test_without_resumability_the_results_of_a_turn_are_one_event(self) -> None:
        gate = asyncio.Event()
        runner = runner_for(self._agent([], [], set(), gate))
        events = await run(runner)
        assert [len(event.get_function_responses()) for event in events] == [0, 3, 0]
        assert [name for name, _ in results(events)] == ["A", "B", "C"]
        assert events[1].actions.state_delta == {"A": "done", "B": "done", "C": "done"}


def slow_report(topic: str) -> dict[str, str]:
    return {"status": "pending", "ticket": topic}


def silent_job(topic: str) -> None:
    SILENT_RUNS.append(topic)


SILENT_RUNS: list[str] = []


class TestLongRunningCalls:
    """ "Precaución: Funciones de Larga Ejecución, Confirmaciones, Autenticación"."""

    async def test_the_invocation_pauses_and_goes_on_with_the_answer(self) -> None:
        asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
        runner = runner_for(SequentialAgent(name="pipe", sub_agents=[asker, llm_agent("last", "bye")]), resumable=True)
        events = await run(runner)
        assert results(events) == [("slow_report", {"status": "pending", "ticket": "t"})]
        assert texts(events) == []
        (item,) = pending_items((await stored(runner)).events)
        assert (item.kind, item.name, item.args) == ("long_running", "slow_report", {"topic": "t"})
        assert await resume(runner) == []  # still waits: neither the agent nor its parent goes on
        events = await resume(runner, answer(item.call_id, "slow_report", {"pages": 3}))
        assert texts(events) == ["reported", "bye"]
        session = await stored(runner)
        assert len({event.invocation_id for event in session.events}) == 1
        assert invocations(session.events)[0].status == "finished"

    async def test_an_answer_finds_its_invocation_by_itself(self) -> None:
        asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
        runner = runner_for(asker, resumable=True)
        await run(runner)
        (item,) = pending_items((await stored(runner)).events)
        message = answer(item.call_id, "slow_report", {"pages": 3})
        events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
        assert texts(events) == ["reported"]
        assert events[0].invocation_id == item.invocation_id

    async def test_several_are_answered_one_at_a_time(self) -> None:
        calls = Reply(calls=[("slow_report", {"topic": "a"}), ("slow_report", {"topic": "b"})])
        runner = runner_for(llm_agent("asker", calls, "both", tools=[LongRunningFunctionTool(slow_report)]), resumable=True)
        await run(runner)
        first, second = pending_items((await stored(runner)).events)
        assert await resume(runner, answer(first.call_id, "slow_report", {"n": 1})) == []
        assert [item.call_id for item in pending_items((await stored(runner)).events)] == [second.call_id]
        assert texts(await resume(runner, answer(second.call_id, "slow_report", {"n": 2}))) == ["both"]

    async def test_a_tool_that_returns_nothing_runs_once_and_goes_on_once_it_is_answered(self) -> None:
        SILENT_RUNS.clear()
        asker = llm_agent("asker", Reply(calls=[("silent_job", {"topic": "t"})]), "done", tools=[LongRunningFunctionTool(silent_job)])
        runner = runner_for(asker, resumable=True)
        await run(runner)
        assert await resume(runner) == []
        assert SILENT_RUNS == ["t"]
        (item,) = pending_items((await stored(runner)).events)
        assert texts(await resume(runner, answer(item.call_id, "silent_job", {"ok": True}))) == ["done"]
        assert SILENT_RUNS == ["t"]

    async def test_siblings_of_a_paused_agent_finish_first(self) -> None:
        asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
        both = ParallelAgent(name="both", sub_agents=[asker, llm_agent("sibling", "sibling done")])
        runner = runner_for(SequentialAgent(name="pipe", sub_agents=[both, llm_agent("last", "bye")]), resumable=True)
        events = await run(runner)
        assert texts(events) == ["sibling done"]
        (item,) = pending_items((await stored(runner)).events)
        assert texts(await resume(runner, answer(item.call_id, "slow_report", {}))) == ["reported", "bye"]

    async def test_without_resumability_the_agent_goes_on_with_the_receipt(self) -> None:
        asker = llm_agent(
            "asker",
            Reply(calls=[("slow_report", {"topic": "t"})]),
            "it is on its way",
            "reported",
            tools=[LongRunningFunctionTool(slow_report)],
        )
        runner = runner_for(asker)
        assert texts(await run(runner)) == ["it is on its way"]
        (item,) = pending_items((await stored(runner)).events)
        message = answer(item.call_id, "slow_report", {"pages": 3})
        events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
        assert texts(events)
        assert pending_items((await stored(runner)).events) == []

    async def test_an_answer_to_nothing_is_refused_and_nothing_is_stored(self) -> None:
        runner = runner_for(llm_agent("asker", "x"), resumable=True)
        await run(runner)
        before = len((await stored(runner)).events)
        with pytest.raises(ResumeError, match="No function call in session s has the id nobody"):
            await resume(runner, answer("nobody", "f", {}))
        assert len((await stored(runner)).events) == before


def pay(amount: int) -> dict[str, int]:
    PAID.append(amount)
    return {"paid": amount}


PAID: list[int] = []


async def test_what_the_interrupted_run_had_in_temp_is_gone_from_the_past_too() -> None:
    def ask(tool_context: ToolContext) -> dict[str, str]:
        tool_context.state["temp:before"] = 1
        return {"status": "pending"}

    def after(tool_context: ToolContext) -> str:
        assert "temp:before" not in tool_context.state
        tool_context.state["temp:after"] = 2
        return "ok"

    calls = [Reply(calls=[("ask", {})]), Reply(calls=[("after", {})]), "done"]
    runner = runner_for(llm_agent("asker", *calls, tools=[LongRunningFunctionTool(ask), after]), resumable=True)
    await run(runner)
    service = runner.session_service
    assert isinstance(service, InMemorySessionService)
    key = (await stored(runner)).key
    paused = history_in_memory(service, key)
    assert paused.state_at(len(paused) - 1).temp == {"temp:before": 1}
    (item,) = pending_items((await stored(runner)).events)
    await resume(runner, answer(item.call_id, "ask", {"ok": True}))
    whole = history_in_memory(service, key)
    assert whole.state_at(len(paused) - 1).temp == {"temp:before": 1}
    assert whole.state_at(len(paused)).temp == {}
    assert whole.state_at(len(whole) - 1).temp == {"temp:after": 2}
    assert all("inspector" not in change.key for index in range(len(whole)) for change in whole.delta_at(index))


class TestConfirmations:
    @pytest.mark.parametrize("resumable", [True, False])
    @pytest.mark.parametrize(
        ("given", "paid", "result"),
        [
            ({"confirmed": True}, [5], {"paid": 5}),
            ({"response": '{"confirmed": true}'}, [5], {"paid": 5}),
            ({"confirmed": False}, [], {"error": "This tool call is rejected."}),
        ],
    )
    async def test_a_call_runs_when_a_person_has_confirmed_it(
        self, resumable: bool, given: dict[str, Any], paid: list[int], result: dict[str, Any]
    ) -> None:
        PAID.clear()
        banker = llm_agent("banker", Reply(calls=[("pay", {"amount": 5})]), "handled", tools=[FunctionTool(pay, require_confirmation=True)])
        runner = runner_for(banker, resumable=resumable)
        events = await run(runner)
        assert texts(events) == []
        assert results(events) == [("pay", {"error": "This tool call requires confirmation, please approve or reject."})]
        (item,) = pending_items((await stored(runner)).events)
        assert (item.kind, item.name, item.args) == ("confirmation", "pay", {"amount": 5})
        message = answer(item.call_id, "adk_request_confirmation", given)
        events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
        assert results(events) == [("pay", result)]
        assert texts(events) == ["handled"]
        assert paid == PAID
        assert pending_items((await stored(runner)).events) == []

    async def test_a_crash_before_the_request_loses_neither_it_nor_what_the_tool_changed(self) -> None:
        def pay_with_care(amount: int, tool_context: ToolContext) -> dict[str, Any]:
            if tool_context.tool_confirmation is None:
                tool_context.state["asked"] = tool_context.state.get("asked", 0) + 1
                tool_context.request_confirmation(hint=f"Pay {amount}?")
                return {"status": "asked"}
            return {"paid": amount}

        banker = llm_agent("banker", Reply(calls=[("pay_with_care", {"amount": 5})]), "handled", tools=[pay_with_care])
        runner = runner_for(banker, resumable=True)
        async for event in (stream := runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"))):
            if event.get_function_responses():
                break
        await stream.aclose()
        session = await stored(runner)
        assert session.state == {"asked": 1}
        (interrupted,) = invocations(session.events)
        assert (interrupted.status, interrupted.reason) == ("interrupted", "no result of pay_with_care")
        plan = plan_resume(session.events, interrupted.invocation_id, banker, is_resumable=True)
        assert plan is not None and plan.next_steps == ["banker asks for what its tools need a person for."]
        assert results(await resume(runner)) == []
        (item,) = pending_items((await stored(runner)).events)
        assert (item.kind, item.name, item.hint) == ("confirmation", "pay_with_care", "Pay 5?")
        events = await resume(runner, answer(item.call_id, "adk_request_confirmation", {"confirmed": True}))
        assert (results(events), texts(events)) == ([("pay_with_care", {"paid": 5})], ["handled"])
        assert (await stored(runner)).state == {"asked": 1}


class TestCallbacks:
    """What an agent's own callbacks said or changed is committed once, like everything else."""

    @staticmethod
    def _agent(called: list[str]) -> BaseAgent:
        def before(callback_context: CallbackContext) -> None:
            called.append("before")
            callback_context.state["before"] = True

        def after(callback_context: CallbackContext) -> types.Content:
            called.append("after")
            return types.ModelContent("one thing more")

        inner = llm_agent("a", "said", before_agent_callback=before, after_agent_callback=after)
        return SequentialAgent(name="s", sub_agents=[inner, llm_agent("b", "bye")])

    async def test_they_are_called_once_wherever_the_run_is_cut_off(self) -> None:
        called: list[str] = []
        whole = runner_for(self._agent(called), resumable=True)
        await run(whole)
        events = (await stored(whole)).events
        assert called == ["before", "after"]
        for kept in range(1, len(events) + 1):
            called.clear()
            await TestWorkflowAgents._resumed_equals(self._agent(called), events, kept)
            committed = [event.content is None for event in events[:kept] if "inspector_callback" in (event.custom_metadata or {})]
            assert len(called) + len(committed) == 2, f"resumed after {kept} events"

    async def test_an_answer_by_a_callback_is_not_given_twice(self) -> None:
        first = llm_agent("a", "never", before_agent_callback=lambda callback_context: types.ModelContent("instead"))
        root = SequentialAgent(name="s", sub_agents=[first, llm_agent("b", "bye")])
        whole = runner_for(root, resumable=True)
        await run(whole)
        events = (await stored(whole)).events
        assert texts(events) == ["go", "instead", "bye"]
        for kept in range(1, len(events) + 1):
            await TestWorkflowAgents._resumed_equals(root, events, kept)


class TestWorkflowAgents:
    """ "Agente Secuencial", "Agente de Bucle": what google-adk forgets is remembered (contract.md, Runtime)."""

    async def test_a_loop_remembers_that_it_was_told_to_escalate(self) -> None:
        worker = llm_agent("worker", Reply(calls=[("leave_loop", {})]), "again", tools=[TOOLS["leave_loop"]])
        loop = LoopAgent(name="loop", sub_agents=[worker, llm_agent("second", "second")], max_iterations=3)
        whole = runner_for(loop, resumable=True)
        await run(whole)
        events = (await stored(whole)).events
        for kept in range(1, len(events) + 1):
            await self._resumed_equals(loop, events, kept)

    async def test_a_parallel_inside_a_loop_loses_no_round(self) -> None:
        both = ParallelAgent(name="both", sub_agents=[llm_agent("a", "a1", "a2"), llm_agent("b", "b1", "b2")])
        loop = LoopAgent(name="loop", sub_agents=[both], max_iterations=2)
        whole = runner_for(loop, resumable=True)
        await run(whole)
        events = (await stored(whole)).events
        for kept in range(1, len(events) + 1):
            await self._resumed_equals(loop, events, kept)

    @staticmethod
    async def _resumed_equals(root: BaseAgent, events: list[Event], kept: int) -> None:
        service = InMemorySessionService()
        session = await service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events[:kept]:
            await service.append_event(session, event.model_copy(deep=True))
        runner = runner_for(root, service, resumable=True)
        await resume(runner)
        got = (await stored(runner)).events
        assert sorted(texts(got)) == sorted(texts(events)), f"resumed after {kept} events"
        assert len(got) == len(events), f"resumed after {kept} events"
        assert got[-1].actions.end_of_agent
