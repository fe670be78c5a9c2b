"""A run of a tree whose agents share names is cut off anywhere; resumed, it ends like the uninterrupted run."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agents import BaseAgent, LlmAgent, ToolContext
from runtime.events import Event
from runtime.events.marks import AGENT_PLACE, agent_key, is_replayed_checkpoint
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.running.resume_plan import plan_resume
from runtime.sessions import InMemorySessionService
from tests import sweep
from tests.agent_specs import build_agent, message, shown
from tests.seeds.running import runner_for, stored

pytestmark = pytest.mark.logs("agents are named", "sub-agents named")

STEPS = (" x", " y")
NAMES = st.sampled_from("ab")
# A leaf: its name and kind. A workflow: its name, kind and sub-agents.
LEAVES = st.tuples(NAMES, st.sampled_from(["says", "calls", "steps"]))


def trees(depth: int = 2) -> st.SearchStrategy[Any]:
    """Shapes of trees with two names for all agents."""
    if depth == 0:
        return LEAVES
    subs = st.lists(trees(depth - 1), min_size=1, max_size=3)
    workflow = st.tuples(NAMES, st.sampled_from(["sequential", "parallel", "loop"]), subs)
    return st.one_of(LEAVES, workflow, workflow) if depth < 2 else workflow


class Attempt:
    """Runs of one tree in one session.

    Attributes:
        effects: id of a call → how often its tool ran.
    """

    def __init__(self, shape: Any) -> None:
        self._shape = shape
        self.effects: Counter[str | None] = Counter()
        self.service = InMemorySessionService()

    def agent(self) -> BaseAgent:
        return self._build(self._shape, itertools.count())

    def _build(self, shape: Any, numbers: Iterator[int]) -> BaseAgent:
        """Build agents whose work names them by a number of their own."""
        name, kind, number = shape[0], shape[1], next(numbers)
        if len(shape) == 3:
            agent = build_agent({"type": kind, "name": name, **({"max_iterations": 2} if kind == "loop" else {})})
            subs = [self._build(sub, numbers) for sub in shape[2]]
            return agent.clone({"sub_agents": subs})
        if kind == "steps":
            steps = [{"name": step, "text": f"{number}{step}", "state": {f"{number}{step}": 1}} for step in STEPS]
            return build_agent({"type": "steps", "name": name, "steps": steps})

        def note(who: str, tool_context: ToolContext) -> dict[str, str]:
            self.effects[tool_context.function_call_id] += 1
            tool_context.state[f"noted_{who}"] = True
            return {"noted": who}

        rules = [Rule(when=rf"^note .*\b{number}!", reply=f"{number} is done")]
        if kind == "calls":
            rules.append(Rule(reply=Reply(calls=[("note", {"who": f"{number}!"})])))
        llm = ScriptedLlm(rules=[*rules, Rule(reply=f"{number} speaks")])
        return LlmAgent(name=name, model=llm, tools=[note], output_key=f"{number}_said")

    async def begin_with(self, events: list[Event]) -> None:
        session = await self.service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events:
            await self.service.append_event(session, event.model_copy(deep=True))

    async def run(self, *, at_most: int | None = None, **more: Any) -> None:
        """Run to the end, or until a number of events are committed, as a kill would."""
        stream = runner_for(self.agent(), self.service, resumable=True).run_async(user_id="u", session_id="s", **more)
        count = 0
        async for _ in stream:
            count += 1
            if count == at_most:
                break
        await stream.aclose()

    async def stored(self) -> tuple[list[Event], dict[str, Any]]:
        session = await stored(runner_for(self.agent(), self.service))
        return list(session.events), session.state


async def check(shape: Any, cut: int, second_cut: int, *, without_places: bool = False) -> None:
    whole = Attempt(shape)
    await whole.run(new_message=message("go"))
    events, state = await whole.stored()
    resumed = Attempt(shape)
    kept = events[: 1 + cut % len(events)]
    await resumed.begin_with([without_place(event) for event in kept] if without_places else kept)
    await resumed.run(invocation_id=events[0].invocation_id, at_most=1 + second_cut)
    before, _ = await resumed.stored()
    plan = plan_resume(before, events[0].invocation_id, resumed.agent(), is_resumable=True)
    await resumed.run(invocation_id=events[0].invocation_id)
    after, after_state = await resumed.stored()
    assert work(after) == work(events)
    assert after_state == state
    assert set(resumed.effects.values()) <= {1, 2}
    results = {response.id for event in kept for response in event.get_function_responses()}
    assert not results & set(resumed.effects), "a tool with a committed result ran again"
    check_plan(plan, before, after[len(before) :], may_repeat="'loop'" in str(shape))


def work(events: list[Event]) -> list[str]:
    """Return the effects of a run, independent of the order of parallel branches. Steps may be repeated, so they count once."""
    rows = [(str(shown(event)), shown(event).get("text", [""])[0]) for event in events if not is_replayed_checkpoint(event)]
    return sorted([row for row, text in rows if text[-2:] not in STEPS] + list({row for row, text in rows if text[-2:] in STEPS}))


def check_plan(plan: Any, before: list[Event], after: list[Event], *, may_repeat: bool) -> None:
    """Check that the plan told what happened. In a loop's next round a finished agent may be the first to run."""
    calls = {call.id for event in before for call in event.get_function_calls()}
    results = {response.id for event in before for response in event.get_function_responses()}
    given = {response.id for event in after for response in event.get_function_responses()}
    assert {run.call_id for run in plan.runs_again} == (calls - results) & given
    assert plan.changed == [], plan.changed
    assert not (plan.blocks and after)
    assert plan.blocks or ((plan.next_steps or plan.starts_over) and after)
    first = next((event for event in after if event.content), None)
    assert first is None or may_repeat or agent_key(first) not in plan.finished, "a finished agent runs first"


def without_place(event: Event) -> Event:
    """Return an event as google-adk stores it."""
    kept = {key: value for key, value in (event.custom_metadata or {}).items() if key != AGENT_PLACE}
    return event.model_copy(update={"custom_metadata": kept or None})


def trees_of_google_adk() -> st.SearchStrategy[Any]:
    """Shapes whose events tell which agent they are from even without recorded places: parallel siblings of one name do not."""
    return trees().filter(lambda shape: not _has_equal_branches(shape))


def _has_equal_branches(shape: Any) -> bool:
    if len(shape) < 3:
        return False
    names = [sub[0] for sub in shape[2]]
    return (shape[1] == "parallel" and len({*names}) < len(names)) or any(map(_has_equal_branches, shape[2]))


@pytest.mark.rule("C13")
@pytest.mark.sweep
@settings(max_examples=sweep.count(40, 3_000), deadline=None)
@given(trees_of_google_adk(), st.integers(0, 60), st.integers(0, 20))
def test_agents_of_one_name_are_told_apart_in_a_session_of_google_adk(shape: Any, cut: int, second_cut: int) -> None:
    asyncio.run(check(shape, cut, second_cut, without_places=True))


@pytest.mark.rule("C13")
@pytest.mark.sweep
@settings(max_examples=sweep.count(50, 3_000), deadline=None)
@given(trees(), st.integers(0, 60), st.integers(0, 20))
def test_agents_of_one_name_are_told_apart_when_a_run_is_resumed(shape: Any, cut: int, second_cut: int) -> None:
    asyncio.run(check(shape, cut, second_cut))
