"""Steps by agent level, on trees of real agents under a real Runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, ParallelAgent, SequentialAgent
from runtime.debugger.hold import RunningAgent
from runtime.events import Event
from runtime.models.scripted_llm import ScriptedLlm
from runtime.tools import AgentTool
from tests.agent_specs import Emit
from tests.seeds.running import Scripted, texts
from tests.unit.debugger.watched_run import said, watching
from tests.unit.expressions.examples import said as saying


def pay(amount: int) -> dict[str, Any]:
    return {"paid": amount}


def payer(*, name: str = "payer", **more: Any) -> LlmAgent:
    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 6000}]]}, f"{name} is done"])
    return LlmAgent(name=name, model=llm, tools=[pay], **more)


def chief() -> Scripted:
    """Yields a text, runs its two helpers, and yields another text."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield saying("before", "chief")
        for helper in agent.sub_agents:
            async for event in helper.run_async(ctx):
                yield event
        yield saying("between", "chief")
        yield saying("after", "chief")

    return Scripted(name="chief", body=body, sub_agents=[Emit(name="one", lines=["1a", "1b"]), Emit(name="two", lines=["2a"])])


async def test_every_event_in_order() -> None:
    async with watching(chief(), paused=True) as run:
        holds = [await run.next_hold()]
        for _ in range(5):
            holds.append(await run.then(run.debugger.step))
    assert [said(hold) for hold in holds] == ["before", "1a", "1b", "2a", "between", "after"]
    assert [hold.agent for hold in holds] == ["chief", "one", "one", "two", "chief", "chief"]
    assert [hold.reason for hold in holds] == ["start", *["step"] * 5]
    assert holds[1].text == "an event of one is committed; stepped."


async def test_step_over_runs_through_called_agents() -> None:
    async with watching(chief(), paused=True) as run:
        await run.to_event("before")
        assert said(await run.then(run.debugger.step_over)) == "between"
        assert said(await run.then(run.debugger.step_over)) == "after"
    assert len(run.seen) == 6


async def test_step_over_in_a_helper_stays_on_its_level_then_moves_to_caller_or_sibling() -> None:
    async with watching(chief(), paused=True) as run:
        await run.to_event("1a")
        assert said(await run.then(run.debugger.step_over)) == "1b"
        assert said(await run.then(run.debugger.step_over)) == "2a"
        assert said(await run.then(run.debugger.step_over)) == "between"


async def test_step_out_holds_at_the_agents_end() -> None:
    async with watching(chief(), paused=True) as run:
        await run.to_event("1a")
        hold = await run.then(run.debugger.step_out)
        assert (hold.place, hold.agent, hold.text) == ("agent end", "one", "one has ended; stepped out.")
        assert len(run.seen) == 3  # its last event is committed, and its caller has not resumed
        assert said(await run.then(run.debugger.step_out)) == "agent end chief"


async def test_step_into_holds_at_sub_agents_model_calls_and_tool_calls() -> None:
    tree = SequentialAgent(name="root", sub_agents=[payer(), Emit(name="last", lines=["x", "y"])])
    async with watching(tree) as run:
        run.debugger.pause()
        places = [await run.next_hold()]
        while places[-1].agent != "last":
            places.append(await run.then(run.debugger.step_into))
        shown = [f"{hold.place} {hold.agent}" for hold in places]
        assert shown == [
            "agent start root",
            "agent start payer",
            "before model payer",
            "before tool payer",
            "before model payer",
            "agent start last",
        ]
        assert places[3].text == "payer is about to call pay; stepped into."
        # `last` makes no call and is the last agent: the run ends
        run.debugger.step_into()
    assert [event.author for event in run.seen] == ["payer", "payer", "payer", "last", "last"]


async def test_step_into_does_not_run_past_an_agents_end() -> None:
    async with watching(chief(), paused=True) as run:
        await run.to_event("2a")
        assert said(await run.then(run.debugger.step_into)) == "between"


async def test_step_into_enters_an_agent_that_runs_as_a_tool() -> None:
    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=[{"calls": [["pay", {"amount": 1}]]}, "helped"]), tools=[pay])
    asker = LlmAgent(
        name="asker", model=ScriptedLlm(replies=[{"calls": [["helper", {"request": "help"}]]}, "thanks"]), tools=[AgentTool(helper)]
    )
    async with watching(asker, paused=True) as run:
        assert said(await run.next_hold()) == "helper()"
        assert said(await run.then(run.debugger.step_into)) == "before tool asker"
        assert said(await run.then(run.debugger.step_into)) == "agent start helper"
        assert said(await run.then(run.debugger.step_into)) == "before model helper"
        hold = await run.then(run.debugger.step)
        assert (said(hold), hold.inner, hold.agent) == ("pay()", True, "helper")
        assert run.debugger.held is run.seen[-1]
        assert said(await run.then(run.debugger.step_over)) == "result"
        assert said(await run.then(run.debugger.step_out)) == "agent end helper"
        hold = await run.then(run.debugger.step)
        assert (said(hold), hold.inner, hold.agent) == ("result", False, "asker")
        assert said(await run.then(run.debugger.step_over)) == "thanks"
    assert [event.author for event, _ in run.inner] == ["helper"] * 3
    assert {ids for _, ids in run.inner} == {(run.seen[0].get_function_calls()[0].id,)}


async def test_step_over_an_agent_that_runs_as_a_tool() -> None:
    helper = Emit(name="helper", lines=["x", "y"])
    asker = LlmAgent(
        name="asker", model=ScriptedLlm(replies=[{"calls": [["helper", {"request": "help"}]]}, "thanks"]), tools=[AgentTool(helper)]
    )
    async with watching(asker, paused=True) as run:
        await run.next_hold()
        hold = await run.then(run.debugger.step_over)
        assert (said(hold), hold.inner) == ("result", False)


async def test_run_to_a_kind() -> None:
    async with watching(payer(), paused=True) as run:
        await run.next_hold()
        hold = await run.then(lambda: run.debugger.run_to("answer"))
        assert (said(hold), hold.reason) == ("payer is done", "run to kind")


async def test_pause_holds_before_a_call_too() -> None:
    async with watching(payer(), paused=True) as run:
        await run.next_hold()
        run.debugger.resume()
        run.debugger.pause()
        hold = await run.next_hold()
        assert (hold.place, hold.reason, len(run.seen)) == ("before tool", "pause", 1)


async def test_a_hold_names_the_held_branch_and_the_running_ones() -> None:
    fan = ParallelAgent(name="fan", sub_agents=[payer(name="a"), payer(name="b"), Emit(name="c", lines=["x"])])
    async with watching(fan) as run:
        run.debugger.breakpoints.add(when="before tool", condition='branch == "fan.a"')
        hold = await run.next_hold()
        assert (hold.agent, hold.branch) == ("a", "fan.a")
        assert RunningAgent("b", "fan.b") in hold.runs_on
        # the others continue in parallel, and step over stays on its branch
        hold = await run.then(run.debugger.step_over)
        assert (hold.branch, said(hold)) == ("fan.a", "result")
        hold = await run.then(run.debugger.step_over)
        assert (hold.branch, said(hold)) == ("fan.a", "a is done")


async def test_holds_of_parallel_branches_are_queued() -> None:
    fan = ParallelAgent(name="fan", sub_agents=[payer(name="a"), payer(name="b")])
    async with watching(fan) as run:
        run.debugger.breakpoints.add(when="before tool", tool="pay")
        first = await run.next_hold()
        while not run.debugger.waiting:
            await run.debugger.wait_until_held()
            await asyncio.sleep(0)
        (second,) = run.debugger.waiting
        assert {first.branch, second.branch} == {"fan.a", "fan.b"}
        assert await run.then(run.debugger.resume) is second
        run.debugger.resume()
    assert len([event for event in run.seen if event.get_function_responses()]) == 2
    assert run.debugger.state == "finished"


async def test_transfers_are_a_level_deeper() -> None:
    bob = LlmAgent(name="bob", description="b", model=ScriptedLlm(replies=["bob here"]))
    ann = LlmAgent(name="ann", model=ScriptedLlm(replies=[{"calls": [["transfer_to_agent", {"agent_name": "bob"}]]}]), sub_agents=[bob])
    async with watching(ann, paused=True, resumable=True) as run:
        await run.next_hold()
        hold = await run.then(run.debugger.step)
        assert hold.agent == "ann"
        assert said(await run.then(run.debugger.step_into)) == "agent start bob"
        assert said(await run.then(run.debugger.step_out)) == "agent end bob"
        assert said(await run.then(run.debugger.step_over)) == "no content"  # the end of ann


async def test_steps_of_an_agent_whose_callback_answered_do_not_confuse_levels() -> None:
    async def answer(callback_context: Any) -> Any:
        return saying("instead").content

    silent = Emit(name="silent", lines=["never"], before_agent_callback=answer)
    tree = SequentialAgent(name="root", sub_agents=[silent, Emit(name="loud", lines=["x", "y"])])
    async with watching(tree, paused=True) as run:
        hold = await run.next_hold()
        assert (said(hold), hold.agent) == ("instead", "silent")
        hold = await run.then(run.debugger.step)
        assert (said(hold), hold.agent) == ("x", "loud")
        assert said(await run.then(run.debugger.step_over)) == "y"


async def test_pause_holds_one_branch_while_the_others_run() -> None:
    ready, begin = asyncio.Semaphore(0), asyncio.Event()

    async def wait(callback_context: Any) -> None:
        ready.release()
        await begin.wait()

    fan = ParallelAgent(name="fan", sub_agents=[payer(name=name, before_agent_callback=wait) for name in "ab"])
    async with watching(fan) as run:
        for _ in "ab":
            await ready.acquire()
        run.debugger.pause()
        begin.set()
        held = await run.next_hold()
        assert held.place == "before model"  # a hold at an event would hold the whole run
        while [event.author for event in run.seen if event.author != held.agent][2:] == []:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert (run.debugger.waiting, run.debugger.hold) == ((), held)


async def test_agents_that_returned_unnoticed_do_not_count_as_running() -> None:
    async def answer(callback_context: Any) -> Any:
        return saying("instead").content

    silent = Emit(name="silent", lines=["never"], before_agent_callback=answer)
    left = SequentialAgent(name="left", sub_agents=[silent, Emit(name="loud", lines=["x"] * 9)])
    right = SequentialAgent(name="right", sub_agents=[Emit(name="slow", lines=["y"] * 4), payer()])
    async with watching(ParallelAgent(name="fan", sub_agents=[left, right])) as run:
        run.debugger.breakpoints.add(when="before tool")
        assert (await run.next_hold()).runs_on == (RunningAgent("loud", "fan.left"),)


async def test_cancelling_a_held_branch_removes_its_hold() -> None:
    async def fails(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await held.wait()
        raise ValueError("the sibling breaks")
        yield

    async def rescues(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            async for event in agent.sub_agents[0].run_async(ctx):
                yield event
        except ValueError:
            states.append(run.debugger.state)
            yield saying("rescued")

    held, states = asyncio.Event(), []  # type: ignore[var-annotated]
    fan = ParallelAgent(name="fan", sub_agents=[payer(), Scripted(name="fails", body=fails)])
    async with watching(Scripted(name="rescues", body=rescues, sub_agents=[fan])) as run:
        run.debugger.breakpoints.add(when="before tool")
        await run.next_hold()
        held.set()
        await run.finished.wait()
    assert (texts(run.seen)[-1], run.error, states) == ("rescued", None, ["running"])
