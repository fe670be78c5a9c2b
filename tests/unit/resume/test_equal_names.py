"""Agents of one tree that share a name are told apart; see also `tests/properties/test_resume_equal_names.py`."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from runtime.events import Event
from runtime.events.marks import AGENT_PLACE, agent_key
from runtime.history.agent_places import AgentPlaces
from runtime.history.invocations import invocations
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.running.resume_plan import ResumePlan, plan_resume
from runtime.tools import LongRunningFunctionTool
from tests.seeds.running import run, runner_for, stored, texts

pytestmark = pytest.mark.logs("agents are named", "sub-agents named")


def says(name: str, text: str) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=[text]))


def tree() -> SequentialAgent:
    return SequentialAgent(
        name="s",
        sub_agents=[
            says("a", "one"),
            LoopAgent(name="l", sub_agents=[says("a", "two")], max_iterations=2),
            ParallelAgent(name="p", sub_agents=[says("a", "three"), says("a", "four"), says("b", "five")]),
            says("a", "six"),
        ],
    )


async def whole(agent: BaseAgent) -> list[Event]:
    runner = runner_for(agent, resumable=True)
    await run(runner)
    return list((await stored(runner)).events)


def plan_after(events: list[Event], text: str, agent: BaseAgent, more: int = 0) -> ResumePlan:
    """Return the plan of a run that ended some events after the one with that text."""
    kept = next(index for index, event in enumerate(events) if texts([event]) == [text]) + 1 + more
    plan = plan_resume(events[:kept], events[0].invocation_id, agent, is_resumable=True)
    assert plan is not None
    return plan


@pytest.mark.rule("C13")
async def test_only_events_of_agents_that_share_a_name_record_their_place() -> None:
    events = await whole(tree())
    spoke = {texts([event])[0]: (event.custom_metadata or {}).get(AGENT_PLACE) for event in events if texts([event])}
    assert spoke == {
        "go": None,
        "one": "s.a[1]",
        "two": "s.l.a",
        "three": "s.p.a[1]",
        "four": "s.p.a[2]",
        "five": None,
        "six": "s.a[2]",
    }
    assert {event.branch for event in events if agent_key(event).startswith("s.p.a")} == {"p.a[1]", "p.a[2]"}
    assert all(event.custom_metadata is None for event in events if event.author in "slpb" or event.author == "user")


@pytest.mark.rule("C13")
async def test_the_plan_names_agents_that_share_a_name_by_their_places() -> None:
    events = await whole(tree())
    assert plan_after(events, "one", tree()).next_steps == ["s.a[1] has answered; only its end remains to be recorded."]
    assert plan_after(events, "one", tree(), 1).next_steps == ["s.a[1] is finished; s continues with l."]
    assert plan_after(events, "two", tree(), 1).next_steps == ["s.l.a is finished; l continues with its next round."]
    assert plan_after(events, "six", tree()).next_steps == ["s.a[2] has answered; only its end remains to be recorded."]
    assert plan_after(events, "six", tree()).finished == ["s.a[1]", "l", "p"]
    assert invocations(events)[0].checkpoint["s.a[2]"] == "end"


@pytest.mark.rule("C13")
async def test_an_agent_does_not_inherit_the_progress_of_one_that_was_renamed() -> None:
    events = await whole(SequentialAgent(name="s", sub_agents=[says("a", "one"), says("a", "two"), says("c", "three")]))
    renamed = SequentialAgent(name="s", sub_agents=[says("b", "one"), says("a", "two"), says("c", "three")])
    plan = plan_after(events, "one", renamed, 1)
    assert "a" not in plan.finished
    assert "s.a[1] took part and is no longer in the agent tree." in plan.changed


@pytest.mark.rule("C13")
@pytest.mark.parametrize("resumable", [True, False])
async def test_an_answer_continues_the_agent_that_asked(resumable: bool) -> None:
    def order(what: str) -> dict[str, str]:
        """Order something."""
        return {"status": "pending"}

    asks = ScriptedLlm(replies=["", Reply(calls=[("order", {"what": "tea"})]), "second got it", "second again"])
    agents = [says("a", "first"), LlmAgent(name="a", model=asks, tools=[LongRunningFunctionTool(order)])]
    runner = runner_for(SequentialAgent(name="s", sub_agents=agents), resumable=resumable)
    await run(runner)
    (call,) = [call for event in (await stored(runner)).events for call in event.get_function_calls()]
    if resumable:
        assert invocations((await stored(runner)).events)[0].pending[0].author == "s.a[2]"
    assert texts(await answer(runner, call))[0].startswith("second")


async def answer(runner: Runner, call: types.FunctionCall) -> list[Event]:
    response = types.FunctionResponse(id=call.id, name=call.name, response={"status": "done"})
    content = types.Content(role="user", parts=[types.Part(function_response=response)])
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=content)]


@pytest.mark.rule("C13")
async def test_an_agent_that_transfers_to_one_of_its_name_continues_there() -> None:
    def agents() -> LlmAgent:
        inner = SequentialAgent(name="flow", sub_agents=[says("desk", "inner"), says("last", "done")])
        hand_over = Reply(calls=[("transfer_to_agent", {"agent_name": "flow"})])
        return LlmAgent(name="desk", model=ScriptedLlm(replies=[hand_over, "inner"]), sub_agents=[inner])

    events = await whole(agents())
    for kept in range(1, len(events)):
        runner = runner_for(agents(), resumable=True)
        session = await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events[:kept]:
            await runner.session_service.append_event(session, event.model_copy(deep=True))
        async for _ in runner.run_async(user_id="u", session_id="s", invocation_id=events[0].invocation_id):
            pass
        assert texts(list((await stored(runner)).events)) == ["go", "inner", "done"], kept


def test_places_are_names_from_the_root_down() -> None:
    places = AgentPlaces(tree())
    keys = ["s", "s.a[1]", "l", "s.l.a", "p", "s.p.a[1]", "s.p.a[2]", "b", "s.a[2]"]
    root = tree()
    places = AgentPlaces(root)
    assert [places.key(agent) for agent in (root, *root.descendants())] == keys
    assert [places.with_key(key) for key in keys] == [root, *root.descendants()]
    assert places.with_key("a") is None
