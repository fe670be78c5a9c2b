"""Agents as tools that wait for an answer."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from runtime.events import Event
from runtime.events.marks import CONFIRMATION_CALL, INNER_RUN, INPUT_CALL
from runtime.history.invocations import PendingItem, invocations, pending_items
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.runners import Runner
from runtime.running.resume_plan import plan_resume
from runtime.sessions import InMemorySessionService
from runtime.storage.open_service import open_session_service
from runtime.tools import AgentTool, BaseTool, BaseToolset, FunctionTool, LongRunningFunctionTool, ToolContext, inner_runs
from runtime.tools.request_input_tool import request_input
from tests.seeds.running import answer, results, run, runner_for, scripted, stored, texts
from tests.unit.auth.test_credential_requests import answered, config, request_in

IS_SOAK = bool(os.environ.get("INSPECTOR_SOAK"))
ASK = Reply(calls=[("cashier", {"request": "pay 5"})])
PAY = Reply(calls=[("pay", {"amount": 5})])


class Desk:
    """A clerk that calls a cashier, which pays what a person confirms."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.asked = 0

    def pay(self, amount: int, tool_context: ToolContext) -> dict[str, Any]:
        """Pay an amount."""
        self.paid.append(amount)
        tool_context.state["paid"] = sum(self.paid)
        tool_context.state["temp:till"] = object()
        return {"paid": amount}

    def in_code(self, amount: int, tool_context: ToolContext) -> dict[str, Any]:
        """Pay an amount."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Pay?", payload={"amount": amount})
            return {"status": "asking"}
        if not tool_context.tool_confirmation.confirmed:
            return {"error": "refused"}
        return self.pay(amount, tool_context)

    @property
    def confirmed(self) -> FunctionTool:
        return FunctionTool(self.pay, require_confirmation=True)


def cashier(tool: Any, *replies: Any, name: str = "cashier", **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=[*replies] or [PAY, "paid"]), tools=[tool], **more)


def clerk(*agents: BaseAgent, replies: tuple[Any, ...] = (ASK, "It is paid."), tools: tuple[Any, ...] = ()) -> LlmAgent:
    return LlmAgent(name="clerk", model=ScriptedLlm(replies=[*replies]), tools=[*map(AgentTool, agents), *tools])


async def pending(runner: Runner) -> list[PendingItem]:
    return [item for item in pending_items((await stored(runner)).events) if item.kind != "interrupted"]


async def status(runner: Runner) -> str:
    return invocations((await stored(runner)).events)[-1].status


async def give(runner: Runner, item: PendingItem, response: dict[str, Any]) -> list[Event]:
    """Answer a pending item as the window does."""
    calls = {call.id: call for event in (await stored(runner)).events for call in event.get_function_calls()}
    return await send(runner, answer(item.call_id, calls[item.call_id].name or "", response))


async def send(runner: Runner, content: types.Content) -> list[Event]:
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=content)]


def last_result(events: list[Event], name: str = "cashier") -> Any:
    return [response for called, response in results(events) if called == name][-1]


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_confirmation_inside_is_asked_by_the_caller_and_its_answer_continues_the_agent(resumable: bool) -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(desk.confirmed)), resumable=resumable)
    events = await run(runner)
    assert texts(events) == [], "the caller waits"
    assert last_result(events)["status"] == "pending" and "pay waits for an answer" in last_result(events)["message"]
    (item,) = await pending(runner)
    assert (item.kind, item.name, item.args, item.author) == ("confirmation", "pay", {"amount": 5}, "clerk")
    assert await status(runner) == "paused" and not desk.paid
    events = await give(runner, item, {"confirmed": True})
    assert desk.paid == [5]
    assert last_result(events) == {"result": "paid"} and texts(events) == ["It is paid."]
    assert await status(runner) == "finished" and await pending(runner) == []
    assert (await stored(runner)).state == {"paid": 5}


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_refusal_reaches_the_agent(resumable: bool) -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(desk.confirmed, PAY, "not paid")), resumable=resumable)
    await run(runner)
    events = await give(runner, (await pending(runner))[0], {"confirmed": False})
    assert last_result(events) == {"result": "not paid"} and not desk.paid


def _in_code(desk: Desk) -> Any:
    def pay(amount: int, tool_context: ToolContext) -> dict[str, Any]:
        return desk.in_code(amount, tool_context)

    return pay


def _without_receipt(desk: Desk) -> Any:
    def pay(amount: int) -> None:
        desk.asked += 1

    return LongRunningFunctionTool(pay)


def _with_receipt(desk: Desk) -> Any:
    def pay(amount: int) -> dict[str, Any]:
        desk.asked += 1
        return {"status": "sent"}

    return LongRunningFunctionTool(pay)


WAYS: dict[str, tuple[Callable[[Desk], Any], str, dict[str, Any]]] = {
    "confirmation": (lambda desk: desk.confirmed, "confirmation", {"confirmed": True}),
    "in code": (_in_code, "confirmation", {"confirmed": True, "payload": {"amount": 5}}),
    "as text": (_in_code, "confirmation", {"response": '{"confirmed": true}'}),
    "long-running": (_without_receipt, "long_running", {"paid": 5}),
    "long-running with a receipt": (_with_receipt, "long_running", {"paid": 5}),
}


def _plain(tool: Any) -> BaseAgent:
    return cashier(tool)


def _text_before(tool: Any) -> BaseAgent:
    return cashier(tool, Reply(text="One moment.", calls=[("pay", {"amount": 5})]), "paid")


def _sequence(tool: Any) -> BaseAgent:
    return SequentialAgent(name="cashier", sub_agents=[cashier(tool, name="till"), cashier(tool, "paid", name="receipt")])


def _parallel(tool: Any) -> BaseAgent:
    return ParallelAgent(name="cashier", sub_agents=[cashier(tool, name="till"), cashier(tool, "counted", name="counter")])


def _loop(tool: Any) -> BaseAgent:
    return LoopAgent(name="cashier", max_iterations=1, sub_agents=[cashier(tool, name="till")])


def _transfer(tool: Any) -> BaseAgent:
    till = cashier(tool, name="till", description="pays")
    to_till = Reply(calls=[("transfer_to_agent", {"agent_name": "till"})])
    return LlmAgent(name="cashier", model=ScriptedLlm(replies=[to_till]), sub_agents=[till])


def _beside_a_call(tool: Any) -> BaseAgent:
    def look() -> str:
        return "seen"

    both = Reply(calls=[("look", {}), ("pay", {"amount": 5})])
    return LlmAgent(name="cashier", model=ScriptedLlm(replies=[both, "paid"]), tools=[look, tool])


def _inside_another(tool: Any) -> BaseAgent:
    ask = Reply(calls=[("till", {"request": "pay"})])
    return LlmAgent(name="cashier", model=ScriptedLlm(replies=[ask, "paid"]), tools=[AgentTool(cashier(tool, name="till"))])


SHAPES = [_plain, _text_before, _sequence, _parallel, _loop, _transfer, _beside_a_call, _inside_another]


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", WAYS)
async def test_each_kind_of_pause_in_each_kind_of_agent_waits_and_continues(
    way: str, shape: Callable[[Any], BaseAgent], resumable: bool
) -> None:
    if not resumable and way == "long-running with a receipt":
        pytest.skip("the agent's model continues after the receipt, as in google-adk")
    desk = Desk()
    tool, kind, response = WAYS[way][0](desk), *WAYS[way][1:]
    runner = runner_for(clerk(shape(tool)), resumable=resumable)
    events = await run(runner)
    assert texts(events) == [] and await status(runner) == "paused"
    (item,) = await pending(runner)
    assert (item.kind, item.name, item.args) == (kind, "pay", {"amount": 5})
    events = await give(runner, item, response)
    assert await status(runner) == "finished" and await pending(runner) == []
    assert texts(events)[-1:] == ["It is paid."]
    assert last_result(events)["result"].endswith("paid") or shape is _parallel
    assert desk.paid == ([5] if kind == "confirmation" else [])
    assert desk.asked == (0 if kind == "confirmation" else 1), "a long-running tool is started once"


async def test_a_long_running_tool_with_a_receipt_does_not_hold_an_app_that_is_not_resumable() -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(_with_receipt(desk), PAY, "it is on its way")))
    events = await run(runner)
    assert last_result(events) == {"result": "it is on its way"} and await status(runner) == "finished"


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_question_inside_is_asked_by_the_caller(resumable: bool) -> None:
    question = Reply(calls=[(INPUT_CALL, {"message": "How much?"})])
    runner = runner_for(clerk(cashier(request_input, question, "paid")), resumable=resumable)
    await run(runner)
    (item,) = await pending(runner)
    assert (item.kind, item.name, item.hint, item.author) == ("long_running", INPUT_CALL, "How much?", "clerk")
    events = await give(runner, item, {"result": "5"})
    assert last_result(events) == {"result": "paid"} and texts(events) == ["It is paid."]


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_credential_inside_is_asked_by_the_caller(resumable: bool) -> None:
    used: list[Any] = []

    def pay(amount: int, tool_context: ToolContext) -> dict[str, Any]:
        used.append(tool_context.get_auth_response(config()))
        if used[-1] is None:
            tool_context.request_credential(config())
            return {"status": "login needed"}
        return {"paid": amount}

    rules = [Rule(when="login needed", reply="Please log in."), Rule(when='"paid"', reply="paid"), Rule(reply=PAY)]
    inner = LlmAgent(name="cashier", model=ScriptedLlm(rules=rules), tools=[pay])
    runner = runner_for(clerk(inner), resumable=resumable)
    events = await run(runner)
    assert texts(events) == []
    (item,) = await pending(runner)
    assert (item.kind, item.author) == ("credential", "clerk")
    events = await give(runner, item, answered(request_in(events), "tok-1"))
    assert used[0] is None and used[1].oauth2.access_token == "tok-1"
    assert last_result(events) == {"result": "paid"} and texts(events) == ["It is paid."]
    written = [event.model_dump_json() for event in (await stored(runner)).events]
    assert sum("tok-" in text for text in written) == 1, "only the user's answer has it"


async def test_a_toolset_of_the_agent_asks_for_its_credential_by_the_caller() -> None:
    class Bank(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
            return [FunctionTool(balance)]

        async def close(self) -> None:
            pass

        def get_auth_config(self) -> Any:
            return config()

    def balance() -> int:
        return 5

    for resumable in (True, False):
        runner = runner_for(clerk(cashier(Bank(), Reply(calls=[("balance", {})]), "paid")), resumable=resumable)
        events = await run(runner)
        (item,) = await pending(runner)
        assert item.kind == "credential" and texts(events) == []
        events = await give(runner, item, answered(request_in(events)))
        assert last_result(events) == {"result": "paid"} and texts(events) == ["It is paid."]


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("together", [True, False])
async def test_several_questions_of_one_run_may_be_answered_together_or_one_by_one(together: bool, resumable: bool) -> None:
    desk = Desk()
    both = Reply(calls=[("pay", {"amount": 5}), ("pay", {"amount": 7})])
    runner = runner_for(clerk(cashier(desk.confirmed, both, "paid")), resumable=resumable)
    await run(runner)
    items = await pending(runner)
    assert [item.args for item in items] == [{"amount": 5}, {"amount": 7}]
    if together:
        parts = [part for item in items for part in answer(item.call_id, CONFIRMATION_CALL, {"confirmed": True}).parts or ()]
        events = await send(runner, types.Content(role="user", parts=parts))
    elif resumable:
        events = await give(runner, items[1], {"confirmed": True})
        assert texts(events) == [] and desk.paid == [7]
        assert [item.args for item in await pending(runner)] == [{"amount": 5}], "the user is not asked again"
        events = await give(runner, items[0], {"confirmed": True})
    else:
        return  # there, the agent's model continues after the first answer
    assert sorted(desk.paid) == [5, 7] and texts(events) == ["It is paid."]
    assert await status(runner) == "finished"


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_run_may_wait_several_times(resumable: bool) -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(desk.confirmed, PAY, PAY, Reply(calls=[("pay", {"amount": 7})]), "paid")), resumable=resumable)
    await run(runner)
    ids = set()
    for paid in ([5], [5, 5], [5, 5, 7]):
        (item,) = await pending(runner)
        ids.add(item.call_id)
        events = await give(runner, item, {"confirmed": True})
        assert desk.paid == paid
    assert texts(events) == ["It is paid."] and len(ids) == 3
    calls = [call.id for event in (await stored(runner)).events for call in event.get_function_calls()]
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize("resumable", [True, False])
async def test_two_agents_of_one_turn_wait_separately(resumable: bool) -> None:
    desk = Desk()
    both = Reply(calls=[("north", {"request": "pay"}), ("south", {"request": "pay"})])
    agents = [cashier(desk.confirmed, PAY, "paid north", name="north"), cashier(desk.confirmed, PAY, "paid south", name="south")]
    runner = runner_for(clerk(*agents, replies=(both, "It is paid.")), resumable=resumable)
    await run(runner)
    items = await pending(runner)
    assert len(items) == 2
    if resumable:
        events = await give(runner, items[1], {"confirmed": True})
        assert texts(events) == [] and len(await pending(runner)) == 1
        events = await give(runner, items[0], {"confirmed": True})
    else:
        parts = [part for item in items for part in answer(item.call_id, CONFIRMATION_CALL, {"confirmed": True}).parts or ()]
        events = await send(runner, types.Content(role="user", parts=parts))
    told = [result for result in results((await stored(runner)).events) if result[1] and "result" in result[1]]
    assert sorted(told) == [("north", {"result": "paid north"}), ("south", {"result": "paid south"})]
    assert texts(events) == ["It is paid."] and desk.paid == [5, 5]


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_call_of_the_caller_beside_it_runs_once(resumable: bool) -> None:
    desk, looked = Desk(), []

    def look() -> str:
        looked.append(1)
        return "seen"

    both = Reply(calls=[("cashier", {"request": "pay 5"}), ("look", {})])
    runner = runner_for(clerk(cashier(desk.confirmed), replies=(both, "It is paid."), tools=(look,)), resumable=resumable)
    await run(runner)
    events = await give(runner, (await pending(runner))[0], {"confirmed": True})
    assert desk.paid == [5] and looked == [1] and texts(events) == ["It is paid."]


async def test_a_function_that_calls_the_agent_waits_with_it() -> None:
    desk = Desk()
    helper = AgentTool(cashier(desk.confirmed))
    begun = []

    async def settle(bill: str, tool_context: ToolContext) -> Any:
        begun.append(bill)
        try:
            said = await helper.run_async(args={"request": bill}, tool_context=tool_context)
        except Exception as error:  # as careful functions do
            return {"error": str(error)}
        return f"settled: {said}"

    runner = runner_for(clerk(replies=(Reply(calls=[("settle", {"bill": "5"})]), "It is paid."), tools=(settle,)), resumable=True)
    await run(runner)
    assert await status(runner) == "paused"
    events = await give(runner, (await pending(runner))[0], {"confirmed": True})
    assert last_result(events, "settle") == {"result": "settled: paid"} and desk.paid == [5] and begun == ["5", "5"]


async def test_a_confirmed_function_that_calls_the_agent_is_not_confirmed_again() -> None:
    desk = Desk()
    helper = AgentTool(cashier(desk.confirmed))

    async def settle(bill: str, tool_context: ToolContext) -> Any:
        return await helper.run_async(args={"request": bill}, tool_context=tool_context)

    tool = FunctionTool(settle, require_confirmation=True)
    runner = runner_for(clerk(replies=(Reply(calls=[("settle", {"bill": "5"})]), "It is paid."), tools=(tool,)), resumable=True)
    await run(runner)
    for name in ("settle", "pay"):
        (item,) = await pending(runner)
        assert item.name == name
        events = await give(runner, item, {"confirmed": True})
    assert last_result(events, "settle") == {"result": "paid"} and desk.paid == [5]


async def test_outside_a_models_call_the_pause_is_an_error_that_names_the_call() -> None:
    desk = Desk()
    tool = AgentTool(cashier(desk.confirmed))

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await tool.run_async(args={"request": "pay 5"}, tool_context=ToolContext(ctx, function_call_id="x"))
        yield Event(author="agent")

    with pytest.raises(inner_runs.InnerPause, match=r"cashier is not finished: its call of pay waits.*AgentTool among an LlmAgent's tools"):
        await run(runner_for(scripted(body), resumable=True))


async def test_a_new_message_meanwhile_leaves_the_question_open() -> None:
    for resumable in (True, False):
        desk = Desk()
        runner = runner_for(clerk(cashier(desk.confirmed), replies=(ASK, "Nothing yet.", "It is paid.")), resumable=resumable)
        await run(runner)
        assert texts(await run(runner, "And?")) == ["Nothing yet."]
        (item,) = await pending(runner)
        events = await give(runner, item, {"confirmed": True})
        assert desk.paid == [5] and last_result(events) == {"result": "paid"}


async def test_the_callers_model_does_not_see_the_agents_calls() -> None:
    desk = Desk()
    requests: list[Any] = []

    class Listening(ScriptedLlm):
        def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            requests.append([part for content in llm_request.contents for part in content.parts or ()])
            return super().generate_content_async(llm_request, stream)

    agent = LlmAgent(name="clerk", model=Listening(replies=[ASK, "It is paid."]), tools=[AgentTool(cashier(_without_receipt(desk)))])
    runner = runner_for(agent, resumable=True)
    await run(runner)
    await give(runner, (await pending(runner))[0], {"paid": 5})
    assert [part.function_call.name for part in requests[-1] if part.function_call] == ["cashier"]
    assert [part.function_response.response for part in requests[-1] if part.function_response] == [{"result": "paid"}]


async def test_resuming_without_an_answer_waits_on() -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(desk.confirmed)), resumable=True)
    events = await run(runner)
    for _ in range(2):
        assert await run(runner, None, invocation_id=events[0].invocation_id) == []
    assert len(await pending(runner)) == 1 and not desk.paid


@pytest.mark.parametrize("lost", ["none", "unreadable", "without its beginning"])
async def test_a_lost_run_is_reported_to_the_caller(lost: str) -> None:
    desk = Desk()
    runner = runner_for(clerk(cashier(desk.confirmed), replies=(ASK, "I could not pay.")), resumable=True)
    await run(runner)
    session = await stored(runner)
    events = [event.model_copy(deep=True) for event in session.events]
    for event in events:
        mark = (event.custom_metadata or {}).get(INNER_RUN) or {}
        if "events" in mark:
            mark["events"] = {"none": [], "unreadable": [{"author": 5}], "without its beginning": mark["events"][1:]}[lost]
    service = InMemorySessionService()
    new = Runner(app=runner.app, session_service=service)
    other = await service.create_session(app_name="app", user_id="u", session_id="s")
    for event in events:
        await service.append_event(other, event)
    found = await give(new, (await pending(new))[0], {"confirmed": True})
    assert last_result(found)["error"].startswith("cashier cannot continue after the answer: its events")
    assert texts(found) == ["I could not pay."] and not desk.paid


async def test_what_is_kept_is_bounded_and_has_no_temporary_state(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()

    def begin(callback_context: Any) -> None:
        callback_context.state["temp:secret"] = "hidden"

    runner = runner_for(clerk(cashier(desk.confirmed, before_agent_callback=begin)), resumable=True)
    await run(runner)
    assert "hidden" not in "".join(event.model_dump_json() for event in (await stored(runner)).events)
    monkeypatch.setattr(inner_runs, "MAX_KEPT", 100)
    runner = runner_for(clerk(cashier(desk.confirmed)), resumable=True)
    events = await run(runner)
    assert "The events of cashier are too long to be kept" in last_result(events)["error"]
    assert texts(events) == ["It is paid."] and await pending(runner) == []


async def test_a_callback_after_the_tool_gets_the_receipt_and_then_the_result() -> None:
    desk, seen = Desk(), list[Any]()
    agent = clerk(cashier(desk.confirmed))
    agent.after_tool_callback = lambda tool, args, tool_context, tool_response: seen.append(tool_response)
    runner = runner_for(agent, resumable=True)
    await run(runner)
    await give(runner, (await pending(runner))[0], {"confirmed": True})
    assert [one if isinstance(one, str) else one["status"] for one in seen] == ["pending", "paid"]


@pytest.mark.parametrize("skip", [True, False])
async def test_an_answer_that_is_not_summarized_ends_the_turn_after_the_pause(skip: bool) -> None:
    desk = Desk()
    agent = LlmAgent(
        name="clerk", model=ScriptedLlm(replies=[ASK, "summary"]), tools=[AgentTool(cashier(desk.confirmed), skip_summarization=skip)]
    )
    runner = runner_for(agent, resumable=True)
    await run(runner)
    events = await give(runner, (await pending(runner))[0], {"confirmed": True})
    assert texts(events) == ["paid" if skip else "summary"] and await status(runner) == "finished"


async def test_the_plan_of_a_resume_names_the_tool_that_waits() -> None:
    desk = Desk()
    agent = clerk(cashier(desk.confirmed))
    runner = runner_for(agent, resumable=True)
    events = await run(runner)
    plan = plan_resume((await stored(runner)).events, events[0].invocation_id, agent, is_resumable=True)
    assert plan is not None and plan.next_steps == ["clerk waits for an answer to pay."] and plan.blocks == ["pay waits for an answer."]


class Snapshots(BasePlugin):
    """Copies the database after each event, of the run and of the agents inside its calls: what a kill would leave."""

    def __init__(self, source: Path, desk: Desk) -> None:
        super().__init__("snapshots")
        self.source = source
        self.desk = desk
        self.taken: list[tuple[Path, list[int]]] = []

    def take(self) -> None:
        copy = self.source.with_name(f"{self.source.stem}-{len(self.taken)}.db")
        with closing(sqlite3.connect(self.source)) as database, closing(sqlite3.connect(copy)) as target:
            database.backup(target)
        self.taken.append((copy, [*self.desk.paid]))

    async def on_inner_event_callback(self, **_: Any) -> None:
        self.take()


async def _to_its_end(runner: Runner, snapshots: Snapshots | None = None) -> list[str]:
    """Answer or resume until the invocation is finished, and return the last texts."""
    said: list[str] = []
    for _ in range(6):
        events = (await stored(runner)).events if await _exists(runner) else []
        items = [item for item in pending_items(events) if item.kind != "interrupted"]
        if not events:
            new: dict[str, Any] = {"new_message": types.UserContent("go")}
        elif items:
            new = {"new_message": answer(items[0].call_id, CONFIRMATION_CALL, {"confirmed": True})}
        else:
            new = {"invocation_id": events[0].invocation_id}
        count = 0
        async for event in runner.run_async(user_id="u", session_id="s", **new):
            if snapshots is not None:
                snapshots.take()
            said += texts([event])
            count += 1
        if not count:
            break
    return said


async def _exists(runner: Runner) -> bool:
    return await runner.session_service.get_session(app_name="app", user_id="u", session_id="s") is not None


@pytest.mark.parametrize("shape", [_plain, _inside_another] + [_sequence, _transfer, _beside_a_call] * IS_SOAK)
async def test_a_confirmed_call_runs_once_wherever_the_process_is_killed(tmp_path: Path, shape: Callable[[Any], BaseAgent]) -> None:
    desk = Desk()
    snapshots = Snapshots(tmp_path / "desk.db", desk)
    service = open_session_service(str(snapshots.source))
    runner = runner_for(clerk(shape(desk.confirmed)), service, resumable=True, plugins=[snapshots])
    assert (await _to_its_end(runner, snapshots))[-1:] == ["It is paid."] and desk.paid == [5]
    await service.close()
    assert len(snapshots.taken) > 10
    for copy, paid in snapshots.taken:
        new = Desk()
        again = open_session_service(str(copy))
        runner = runner_for(clerk(shape(new.confirmed)), again, resumable=True)
        said = await _to_its_end(runner)
        events = (await stored(runner)).events
        assert paid + new.paid == [5], f"killed at {copy.stem}"
        assert [call.name for call in _calls(events)].count(CONFIRMATION_CALL) == 1
        assert texts([events[-2]]) == ["It is paid."] and said in ([], ["It is paid."])
        assert (await stored(runner)).state["paid"] == 5
        assert invocations(events)[-1].status == "finished"
        await again.close()


def _calls(events: Sequence[Event]) -> list[types.FunctionCall]:
    return [call for event in events for call in event.get_function_calls()]
