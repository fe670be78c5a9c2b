from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import ValidationError

from runtime.agents import BaseAgent, InvocationContext, LlmAgent
from runtime.debugger.breakpoints import Breakpoints, BreakpointsFileError, condition_for
from runtime.events import Event
from runtime.expressions import ExpressionError, parse
from runtime.models.scripted_llm import ScriptedLlm
from tests.agent_specs import Emit
from tests.seeds.running import scripted
from tests.unit.debugger.watched_run import said, watching
from tests.unit.expressions.examples import called, changed, responded
from tests.unit.expressions.examples import said as saying


def counting(**more: Any) -> Breakpoints:
    breakpoints = Breakpoints()
    breakpoints.add('author == "a"', **more)
    return breakpoints


def met(breakpoints: Breakpoints, times: int) -> list[bool]:
    return [bool(breakpoints.met("event", saying("x", "a"), None)) for _ in range(times)]


def test_hit_counts() -> None:
    assert met(counting(), 3) == [True, True, True]
    assert met(counting(after=2), 4) == [False, False, True, True]
    assert met(counting(every=2), 5) == [False, True, False, True, False]
    assert met(counting(after=1, every=3), 6) == [False, False, False, True, False, False]
    assert met(counting(enabled=False), 2) == [False, False]
    breakpoints = counting(after=1)
    met(breakpoints, 3)
    (one,) = breakpoints
    assert one.hits == 3
    breakpoints.reset_hits()
    assert (one.hits, met(breakpoints, 2)) == (0, [False, True])


def test_adding_changing_and_removing_notify() -> None:
    told: list[int] = []
    breakpoints = Breakpoints(on_change=lambda: told.append(len(breakpoints)))
    one, two = breakpoints.add("error"), breakpoints.add(when="before tool", tool="pay")
    assert (one.id, two.id, str(one), str(two)) == (1, 2, "error", "before tool pay")
    breakpoints.change(1, condition="text", enabled=False)
    assert (one.condition, one.enabled, breakpoints.get(1)) == ("text", False, one)
    breakpoints.remove(1)
    breakpoints.remove(1)
    assert [each.id for each in breakpoints] == [2]
    assert told == [1, 2, 2, 1]
    assert breakpoints.add("error").id == 3
    breakpoints.clear()
    assert len(breakpoints) == 0


def test_an_unreadable_condition_is_rejected_with_its_position_and_changes_nothing() -> None:
    breakpoints = counting()
    for refused in ({"condition": "autor"}, {"log": "x {"}):
        with pytest.raises(ExpressionError):
            breakpoints.add(**refused)  # type: ignore[arg-type]
        with pytest.raises(ExpressionError):
            breakpoints.change(1, **refused)
    with pytest.raises(ValidationError):
        breakpoints.add(every=0)
    assert [(one.condition, one.log) for one in breakpoints] == [('author == "a"', "")]


def test_breakpoints_are_stored_as_json_without_hits() -> None:
    breakpoints = counting(after=1)
    breakpoints.add("text", when="before model", enabled=False, every=4, log="{author}")
    breakpoints.remove(1)
    breakpoints.add(when="error")
    met(breakpoints, 2)
    other = Breakpoints()
    other.load_json(breakpoints.to_json())
    assert [one.model_dump() for one in other] == [one.model_dump() for one in breakpoints]
    assert other.add().id == 4


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"id": 1, "condition": "autor"}]', '[{"id": 1, "every": 0}]', '[{"new": 1}]', "[" * 9000]
)
def test_an_unreadable_file_changes_nothing(text: str) -> None:
    breakpoints = counting()
    with pytest.raises(BreakpointsFileError):
        breakpoints.load_json(text)
    assert len(breakpoints) == 1


@pytest.mark.parametrize(
    "event",
    [
        called(('od"d', {})),
        responded("pay", {}),
        Event(author="a", error_code="X"),
        changed(**{"user:x y": 1}),
        saying("hello", 'a"b\\'),
    ],
)
def test_a_suggested_condition_matches_its_event(event: Event) -> None:
    assert parse(condition_for(event)).matches(event)
    assert not parse(condition_for(event)).matches(saying("other", "somebody"))


async def test_a_run_is_held_where_a_condition_matches() -> None:
    breakpoints = Breakpoints()
    breakpoints.add('state["n"] changed and state.n == 2')
    async with watching(Emit(name="emit", lines=["1", "2", "3"], counter="n"), breakpoints=breakpoints) as run:
        hold = await run.next_hold()
        assert (said(hold), hold.reason, hold.breakpoint) == ("2", "breakpoint", 1)
        assert hold.text == 'an event of emit is committed; breakpoint 1 (state["n"] changed and state.n == 2).'
        assert len(run.seen) == 2


async def test_conditions_see_the_state_before_the_event() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for number in (1, 1, 2):
            yield Event(author="agent", actions={"state_delta": {"n": number}})  # type: ignore[arg-type]

    breakpoints = Breakpoints()
    breakpoints.add("state.n changed", log="n is {state.n}")
    async with watching(scripted(body), breakpoints=breakpoints) as run:
        await run.finished.wait()
    assert [report.text for report in run.reports] == ["n is 1", "n is 2"]


async def test_a_logpoint_reports_and_does_not_hold() -> None:
    breakpoints = Breakpoints()
    breakpoints.add("text", log="{author} said {text}")
    breakpoints.add(when="before tool", log="calling {call} with {call.*.args}")
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 5}]]}, "done"])
    async with watching(LlmAgent(name="payer", model=llm, tools=[pay]), breakpoints=breakpoints) as run:
        await run.finished.wait()
    assert [(report.kind, report.text, report.breakpoint) for report in run.reports] == [
        ("log", 'calling pay with {"amount": 5}', 2),
        ("log", "payer said done", 1),
    ]


async def test_a_condition_that_is_too_costly_is_reported_and_does_not_hold() -> None:
    breakpoints = Breakpoints()
    breakpoints.add(" or ".join(f'text ~ "(a|b|ab|ba|[ab]{{1,30}})*{letter}$"' for letter in "cdef"))
    async with watching(Emit(name="emit", lines=["ab" * 60_000, "ab" * 60_000]), breakpoints=breakpoints) as run:
        await run.finished.wait()
    assert [(report.kind, report.breakpoint) for report in run.reports] == [("problem", 1)]


def pay(amount: int) -> dict[str, Any]:
    if amount > 9:
        raise ValueError("too much")
    return {"paid": amount}


async def test_an_error_of_a_tool_is_held_once_where_it_happens() -> None:
    breakpoints = Breakpoints()
    breakpoints.add(when="error")
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 10}]]}, "done"])
    async with watching(LlmAgent(name="payer", model=llm, tools=[pay]), breakpoints=breakpoints) as run:
        hold = await run.next_hold()
        assert (hold.place, hold.text) == ("error", "pay failed: ValueError: too much; breakpoint 1 (on an error).")
    assert isinstance(run.error, ValueError)
    assert breakpoints.get(1) is None  # `watching` cleared them


async def test_a_call_that_is_cancelled_is_no_error() -> None:
    async def patient() -> None:
        await asyncio.Event().wait()

    breakpoints = Breakpoints()
    breakpoints.add(when="error", log="{call} failed")
    llm = ScriptedLlm(replies=[{"calls": [["patient", {}], ["pay", {"amount": 10}]]}])
    async with watching(LlmAgent(name="payer", model=llm, tools=[patient, pay]), breakpoints=breakpoints) as run:
        await run.finished.wait()
    assert [report.text for report in run.reports if report.kind == "log"] == ["pay failed"]


async def test_an_error_of_a_model_is_held() -> None:
    breakpoints = Breakpoints()
    breakpoints.add('error.message contains "overload"', when="error")
    async with watching(LlmAgent(name="a", model=ScriptedLlm(replies=[OSError("overloaded")])), breakpoints=breakpoints) as run:
        hold = await run.next_hold()
        assert (hold.place, hold.agent, type(hold.error)) == ("error", "a", OSError)


async def test_an_error_of_an_agent_is_held_at_the_end_of_the_run() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield saying("one")
        raise KeyError("cart")

    breakpoints = Breakpoints()
    breakpoints.add(when="error")
    async with watching(scripted(body), breakpoints=breakpoints) as run:
        hold = await run.next_hold()
        assert (hold.place, hold.text) == ("error", "The agent failed: KeyError: 'cart'; breakpoint 1 (on an error).")
        assert run.debugger.held is run.seen[-1]
    assert isinstance(run.error, KeyError)


async def test_an_event_with_an_error_is_held_as_an_error() -> None:
    breakpoints = Breakpoints()
    breakpoints.add(when="error")
    llm = ScriptedLlm(replies=[{"error": ["SAFETY", "no"]}])
    async with watching(LlmAgent(name="a", model=llm), breakpoints=breakpoints) as run:
        hold = await run.next_hold()
        assert (hold.place, hold.event is run.seen[-1]) == ("event", True)
