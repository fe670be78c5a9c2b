"""Comparison of two sessions whose first difference is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, LlmAgent, SequentialAgent, ToolContext
from runtime.compare import Comparison, compare, differences_of
from runtime.compare.comparison import prompt_of, state_differences
from runtime.compare.event_differences import Difference
from runtime.events import Event
from runtime.history.state_at import History
from runtime.models.scripted_llm import ScriptedLlm
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool
from tests.seeds.running import run, runner_for, stored


def pay(amount: int, tool_context: ToolContext) -> dict[str, int]:
    """Pays."""
    tool_context.state["paid"] = amount
    return {"paid": amount}


def agent(amount: int = 5, answer: str = "done", extra: bool = False) -> BaseAgent:
    payer = LlmAgent(name="payer", model=ScriptedLlm(replies=[{"calls": [["pay", {"amount": amount}]]}, answer]), tools=[pay])
    more = [LlmAgent(name="auditor", model=ScriptedLlm(replies=["checked"]))] if extra else []
    return SequentialAgent(name="root", sub_agents=[payer, *more, LlmAgent(name="closer", model=ScriptedLlm(replies=["bye"]))])


async def events_of(root: BaseAgent, *texts: str) -> list[Event]:
    runner = runner_for(root, InMemorySessionService())
    for text in texts or ("go",):
        await run(runner, text)
    return list((await stored(runner)).events)


Pair = tuple[Callable[[], BaseAgent], Callable[[], BaseAgent]]
NAMED: dict[str, tuple[Pair, tuple[int | None, int | None] | None, list[tuple[str, str, Any, Any]]]] = {
    "the same run twice": ((agent, agent), None, []),
    "another argument": (
        (agent, lambda: agent(amount=6)),
        (1, 1),
        [("arguments", "pay", {"amount": 5}, {"amount": 6})],
    ),
    "another answer": ((agent, lambda: agent(answer="finished")), (3, 3), [("text", "", "done", "finished")]),
    "one agent more": (
        (agent, lambda: agent(extra=True)),
        (None, 4),
        [("author", "", None, "auditor"), ("kind", "", None, "answer"), ("text", "", None, "checked")],
    ),
    "one agent less": (
        (lambda: agent(extra=True), agent),
        (4, None),
        [("author", "", "auditor", None), ("kind", "", "answer", None), ("text", "", "checked", None)],
    ),
}


@pytest.mark.parametrize("name", NAMED)
async def test_first_difference_of_each_pair(name: str) -> None:
    (make_left, make_right), first, expected = NAMED[name]
    left, right = await events_of(make_left()), await events_of(make_right())
    found = compare(left, right)
    assert _first(found) == first
    if first is None:
        assert found.differing == [] and all(row.same for row in found.rows)
        return
    one, other = (events[index] if index is not None else None for events, index in zip((left, right), first, strict=True))
    shown = [(each.area, each.name, each.left, each.right) for each in differences_of(one, other, found.call_ids) if each.area != "tokens"]
    assert shown == expected


def _first(found: Comparison) -> tuple[int | None, int | None] | None:
    if found.first_difference is None:
        return None
    row = found.rows[found.first_difference]
    return row.left, row.right


async def test_a_different_argument_changes_result_and_state_too() -> None:
    left, right = await events_of(agent()), await events_of(agent(amount=6))
    found = compare(left, right)
    assert [(row.left, row.right) for row in found.rows] == [(n, n) for n in range(5)]
    assert found.differing == [1, 2]
    assert differences_of(left[2], right[2], found.call_ids) == [
        Difference("result", "pay", {"paid": 5}, {"paid": 6}),
        Difference("state", "paid", 5, 6),
    ]
    one, other = History(left, baseline={}), History(right, baseline={})
    assert [(change.key, change.before, change.after) for change in state_differences(one, 4, other, 4)] == [("paid", 5, 6)]
    assert state_differences(one, 1, other, 1) == []


async def test_call_ids_in_requests_are_ignored() -> None:
    def careful() -> BaseAgent:
        tool = FunctionTool(pay, require_confirmation=True)
        return LlmAgent(name="payer", model=ScriptedLlm(replies=[{"calls": [["pay", {"amount": 5}]]}]), tools=[tool])

    left, right = await events_of(careful()), await events_of(careful())
    assert any(call.name == "adk_request_confirmation" for event in left for call in event.get_function_calls())
    assert compare(left, right).differing == []


async def test_totals() -> None:
    events = await events_of(agent(), "one", "two")
    found = compare(events, events[:3])
    assert (found.left.events, found.left.invocations, found.left.model_answers, found.left.tool_calls) == (8, 2, 5, 1)
    assert (found.right.events, found.right.invocations, found.right.tool_calls) == (3, 1, 1)
    assert found.left.tokens == found.left.prompt_tokens + found.left.answer_tokens > found.right.tokens > 0
    assert found.left.seconds == sum(
        group[-1].timestamp - group[0].timestamp
        for name in dict.fromkeys(event.invocation_id for event in events)
        for group in [[event for event in events if event.invocation_id == name]]
    )


async def test_the_prompt_is_the_conversation_sent_to_the_model() -> None:
    sent: list[list[types.Content]] = []

    def note(request: Any) -> str:
        sent.append([content.model_copy(deep=True) for content in request.contents])
        return "done"

    events = await events_of(agent(answer=note), "one")  # type: ignore[arg-type]  # a script's answer may be a function
    assert prompt_of(events, 3) == sent[0]


def test_token_counts_do_not_make_rows_differ_but_are_listed() -> None:
    def said(tokens: int) -> Event:
        usage = types.GenerateContentResponseUsageMetadata(total_token_count=tokens)
        return Event(author="a", content=types.Content(role="model", parts=[types.Part(text="x")]), usage_metadata=usage)

    assert compare([said(1)], [said(2)]).differing == []
    assert differences_of(said(1), said(2)) == [Difference("tokens", "", 1, 2)]


def test_true_differs_from_one() -> None:
    def changed(value: Any) -> Event:
        event = Event(author="a")
        event.actions.state_delta["k"] = value
        return event

    assert compare([changed(True)], [changed(1)]).differing == [0]
