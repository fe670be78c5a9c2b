"""Held calls that a person inspects and changes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from runtime.agents import LlmAgent
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.calls import CallEditError, ModelCall, RaisedByHandError, ToolCall
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import ScriptedLlm, last_message_text
from runtime.tools import AgentTool
from tests.seeds.running import stored, texts
from tests.unit.debugger.watched_run import WatchedRun, watching

PAID: list[int] = []


@pytest.fixture(autouse=True)
def nothing_paid() -> None:
    PAID.clear()


def pay(amount: int) -> dict[str, Any]:
    PAID.append(amount)
    return {"paid": amount}


def payer(**more: Any) -> LlmAgent:
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 6000}]]}, lambda request: "heard: " + last_message_text(request)])
    return LlmAgent(name="payer", model=llm, tools=[pay], instruction="Pay.", **more)


def before(when: Any, condition: str = "", **more: Any) -> Breakpoints:
    breakpoints = Breakpoints()
    breakpoints.add(condition, when=when, **more)
    return breakpoints


def marks(run: WatchedRun) -> list[Any]:
    return [(event.custom_metadata or {}).get("inspector_edited") for event in run.seen]


async def test_arguments_can_be_changed_while_held() -> None:
    async with watching(payer(), breakpoints=before("before tool", "call.pay.args.amount > 5000")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        assert (hold.place, hold.call.name, hold.call.args) == ("before tool", "pay", {"amount": 6000})
        hold.call.edit_args({"amount": 100})
    assert PAID == [100]
    call_id = run.seen[0].get_function_calls()[0].id
    edit = {"tool": "pay", "arguments": {"before": {"amount": 6000}, "after": {"amount": 100}}}
    assert marks(run) == [None, {"calls": {call_id: edit}}, None]
    assert run.seen[0].get_function_calls()[0].args == {"amount": 6000}  # the model's own call is kept
    kept = (await stored(run.runner)).events
    assert kept[2].custom_metadata == {"inspector_edited": {"calls": {call_id: edit}}}
    assert run.interception.unmarked_edits == {}


async def test_a_given_result_replaces_a_tool_call() -> None:
    async with watching(payer(), breakpoints=before("before tool")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.fail("not this one")
        hold.call.give_result({"paid": 1, "by": "hand"})
    assert PAID == []
    assert run.seen[1].get_function_responses()[0].response == {"paid": 1, "by": "hand"}
    assert texts(run.seen)[-1] == 'heard: pay {"paid": 1, "by": "hand"}'
    (edit,) = marks(run)[1]["calls"].values()
    assert edit == {"tool": "pay", "result": {"paid": 1, "by": "hand"}}


async def test_a_call_failed_manually_fails_the_run_and_is_recorded() -> None:
    async with watching(payer(), breakpoints=before("before tool")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.fail("the bank is closed")
    assert PAID == []
    assert isinstance(run.error, RaisedByHandError)
    (edit,) = run.interception.unmarked_edits["calls"].values()
    assert edit == {"tool": "pay", "failure": "the bank is closed"}


async def test_an_agent_handles_a_manual_failure_like_a_real_one() -> None:
    async def on_error(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, Any]:
        return {"error": f"handled {error}"}

    async with watching(payer(on_tool_error_callback=on_error), breakpoints=before("before tool")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.fail("the bank is closed")
    assert run.seen[1].get_function_responses()[0].response == {"error": "handled the bank is closed"}
    (edit,) = marks(run)[1]["calls"].values()
    assert edit["failure"] == "the bank is closed"


async def test_a_result_can_be_given_for_a_failed_tool() -> None:
    def breaks() -> None:
        raise ValueError("broken")

    agent = LlmAgent(name="a", model=ScriptedLlm(replies=[{"calls": [["breaks", {}]]}, "done"]), tools=[breaks])
    async with watching(agent, breakpoints=before("error")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        assert str(hold.call.error) == "broken"
        with pytest.raises(CallEditError, match="already been called"):
            hold.call.edit_args({})
        hold.call.give_result({"ok": True})
    assert run.error is None
    (edit,) = marks(run)[1]["calls"].values()
    assert edit == {"tool": "breaks", "result": {"ok": True}, "error": "ValueError: broken"}


async def test_the_whole_request_can_be_edited() -> None:
    async with watching(payer(), breakpoints=before("before model", after=1)) as run:
        hold = await run.next_hold()
        call = hold.call
        assert isinstance(call, ModelCall)
        request = call.json()
        assert request["model"] == "scripted"
        assert request["config"]["system_instruction"].startswith("Pay.")
        assert request["config"]["tools"][0]["function_declarations"][0]["name"] == "pay"
        assert [content["role"] for content in request["contents"]] == ["user", "model", "user"]
        request["contents"][2]["parts"][0]["function_response"]["response"] = {"paid": 7}
        request["config"]["temperature"] = 0.5
        call.edit_request(request)
        assert call.json() == request
    assert texts(run.seen)[-1] == 'heard: pay {"paid": 7}'
    assert marks(run)[:2] == [None, None]
    changes = marks(run)[2]["model"]["request"]
    assert [change["path"] for change in changes] == ["contents[2]", "config.temperature"]
    assert (changes[1]["before"], changes[1]["after"]) == (None, 0.5)


async def test_a_given_answer_replaces_a_model_call() -> None:
    async with watching(payer(), breakpoints=before("before model")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ModelCall)
        hold.call.answer("changed")
    assert texts(run.seen) == ["changed"]
    assert marks(run) == [{"model": {"answer": True}}]
    assert (await stored(run.runner)).events[-1].custom_metadata == {"inspector_edited": {"model": {"answer": True}}}


async def test_a_given_answer_may_contain_calls() -> None:
    async with watching(payer(), breakpoints=before("before model")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ModelCall)
        hold.call.answer({"content": {"role": "model", "parts": [{"function_call": {"name": "pay", "args": {"amount": 3}}}]}})
    assert PAID == [3]
    assert run.seen[0].get_function_calls()[0].id


async def test_undone_changes_are_not_recorded() -> None:
    async with watching(payer(), breakpoints=before("before model")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ModelCall)
        hold.call.answer("changed")
        hold.call.reset()
        assert hold.call.edits == {}
        run.debugger.breakpoints.clear()
        run.debugger.breakpoints.add(when="before tool")
        hold = await run.then(run.debugger.resume)
        assert isinstance(hold.call, ToolCall)
        hold.call.edit_args({"amount": 1})
        hold.call.give_result({})
        hold.call.reset()
    assert PAID == [6000]
    assert marks(run) == [None, None, None]


async def test_edits_inside_an_agent_tool_are_recorded_in_its_response() -> None:
    asker = LlmAgent(
        name="asker", model=ScriptedLlm(replies=[{"calls": [["payer", {"request": "pay"}]]}, "thanks"]), tools=[AgentTool(payer())]
    )
    async with watching(asker, breakpoints=before("before tool", tool="pay")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.edit_args({"amount": 2})
    assert PAID == [2]
    (edit,) = marks(run)[1]["calls"].values()
    (inside,) = edit["inside"]
    assert edit["tool"] == "payer"
    assert [one["arguments"]["after"] for one in inside["calls"].values()] == [{"amount": 2}]


async def test_results_that_arrive_while_a_sibling_is_held_are_reported() -> None:
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 1}], ["pay", {"amount": 2}]]}, "done"])
    agent = LlmAgent(name="a", model=llm, tools=[pay])
    async with watching(agent, breakpoints=before("before tool", "call.pay.args.amount == 1")) as run:
        await run.next_hold()
        while not run.reports:
            await run.debugger.wait_until_held()
            await _turn()
        assert PAID == [2]
    assert [(report.kind, report.text) for report in run.reports] == [
        ("arrived", "pay has returned; its result is committed when the run continues.")
    ]
    assert PAID == [2, 1]


async def test_a_tool_is_not_called_after_a_stop() -> None:
    async with watching(payer(), breakpoints=before("before tool")) as run:
        await run.next_hold()
        run.debugger.stop()
    assert (PAID, run.error, run.debugger.state) == ([], None, "finished")


async def test_none_of_several_held_calls_is_made_after_a_stop() -> None:
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 1}], ["pay", {"amount": 2}]]}, "done"])
    async with watching(LlmAgent(name="a", model=llm, tools=[pay]), breakpoints=before("before tool")) as run:
        await run.next_hold()
        while not run.debugger.waiting:
            await _turn()
        run.debugger.stop()
        await run.finished.wait()
        await asyncio.to_thread(lambda: None)  # sync tools run on threads: a called one would have run by now
    assert PAID == []


async def test_arguments_can_be_removed_and_a_manual_failure_precedes_the_agents_callback() -> None:
    def order(item: str, note: str = "none") -> dict[str, Any]:
        return {"item": item, "note": note}

    llm = ScriptedLlm(replies=[{"calls": [["order", {"item": "pen", "note": "blue"}]]}, "done"])
    async with watching(LlmAgent(name="a", model=llm, tools=[order]), breakpoints=before("before tool")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.edit_args({"item": "ink"})
    assert run.seen[1].get_function_responses()[0].response == {"item": "ink", "note": "none"}

    async def instead(tool: Any, args: Any, tool_context: Any) -> dict[str, Any]:
        return {"by": "callback"}

    async with watching(payer(before_tool_callback=instead), breakpoints=before("before tool")) as run:
        hold = await run.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.fail("no")
    assert isinstance(run.error, RaisedByHandError)


async def test_uncommitted_local_writes_are_listed() -> None:
    tool_agent = LlmAgent(
        name="a", model=ScriptedLlm(replies=[{"calls": [["write", {}], ["pay", {"amount": 1}]]}, "x"]), tools=[write, pay]
    )
    async with watching(tool_agent, breakpoints=before("before tool", tool="pay")) as run:
        await run.next_hold()
        assert run.debugger.uncommitted() == {"cart": [1]}
    assert run.debugger.uncommitted() == {}


def write(tool_context: Any) -> dict[str, Any]:
    tool_context.state["cart"] = [1]
    return {}


class Shape(BaseModel):
    x: int


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"more": 1}, "not more"),
        ({"contents": "hello"}, "contents"),
        ({"contents": [{"role": "user", "parts": [{"txt": 1}]}]}, r"contents\[0\]: parts.0.txt"),
        ({"config": {"temprature": 1}}, "temprature"),
        ({"config": {"temperature": "hot"}}, "temperature"),
        ({"config": []}, "config must be a JSON object"),
        ({"model": {"x": 1}}, "model"),
        ({"model": float("nan")}, "nan"),
    ],
)
def test_an_invalid_request_is_rejected_and_changes_nothing(edit: dict[str, Any], problem: str) -> None:
    request = LlmRequest(model="m")
    call = ModelCall(request)
    with pytest.raises(CallEditError, match=problem):
        call.edit_request({**call.json(), **edit})
    assert (call.edits, call.json()) == ({}, {"model": "m", "contents": [], "config": {}})


def test_bytes_in_an_edited_conversation_are_unchanged() -> None:
    picture = types.Part(inline_data=types.Blob(data=b"\xff\xfe\x00", mime_type="image/png"), thought_signature=b"\xfb\xff")
    request = LlmRequest(
        model="m", contents=[types.Content(role="user", parts=[picture]), types.Content(role="user", parts=[types.Part(text="x")])]
    )
    first = request.contents[0]
    call = ModelCall(request)
    edited = call.json()
    edited["contents"].reverse()
    edited["contents"][1]["parts"].append({"text": "look"})
    edited["contents"].append(call.json()["contents"][0])
    call.edit_request(edited)
    call.apply()
    assert [part.text for content in request.contents for part in content.parts or []] == ["x", None, "look", None]
    assert request.contents[1].parts is not None and request.contents[1].parts[0] == picture
    assert request.contents[2] is first


def test_non_json_values_in_a_request_are_named_and_kept() -> None:
    request = LlmRequest(model="m")
    request.set_output_schema(Shape)
    call = ModelCall(request)
    edited = call.json()
    assert "Shape" in edited["config"]["response_schema"]
    edited["model"] = "other"
    del edited["config"]["response_mime_type"]
    call.edit_request(edited)
    call.apply()
    assert (request.model, request.config.response_schema, request.config.response_mime_type) == ("other", Shape, None)


@pytest.mark.parametrize("answer", [{}, {"content": {"parts": []}}, {"content": 5}, [1], {"content": {"parts": [{"nothing": 1}]}}])
def test_an_invalid_answer_is_rejected(answer: Any) -> None:
    call = ModelCall(LlmRequest(model="m"))
    with pytest.raises(CallEditError):
        call.answer(answer)
    assert call.edits == {}


@pytest.mark.parametrize("value", [[1], "x", None, {"x": {1}}, {"x": float("inf")}])
def test_values_other_than_json_objects_are_rejected(value: Any) -> None:
    call = ToolCall("pay", "c", {"amount": 1})
    with pytest.raises(CallEditError):
        call.edit_args(value)
    with pytest.raises(CallEditError):
        call.give_result(value)
    assert call.edits == {}


async def _turn() -> None:
    await asyncio.sleep(0)
