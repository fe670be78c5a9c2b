"""An agent tree that was changed between interruption and resume: the plan, and the resumed run.

This tests the section on changed workflows of the specification.
"""

from __future__ import annotations

from typing import Any

import pytest

from runtime.errors import ResumeError
from runtime.events import Event
from runtime.running.resume_plan import ResumePlan, plan_resume
from runtime.sessions import InMemorySessionService
from tests.agent_specs import TOOLS, build_agent
from tests.crash.trees import Spec, hands_over, loop, par, says, seq, steps, works
from tests.seeds.running import run, runner_for, stored, texts

A, B, C, N = says("a"), says("b"), says("c"), says("n")
FETCH = [["fetch_prices", {"item": "x"}]]


async def _until(spec: Spec, last: str) -> list[Event]:
    """Run a tree and return its events up to the one whose text, call or checkpoint is `last`."""
    runner = runner_for(build_agent(spec, TOOLS), resumable=True)
    await run(runner)
    events = list((await stored(runner)).events)
    for count, event in enumerate(events, 1):
        if last in [*texts([event]), *(call.name for call in event.get_function_calls()), str(event.actions.agent_state)]:
            return events[:count]
    raise AssertionError(f"no event {last}")


def _plan(events: list[Event], spec: Spec) -> ResumePlan:
    plan = plan_resume(events, events[0].invocation_id, build_agent(spec, TOOLS), is_resumable=True)
    assert plan is not None
    return plan


async def _resumed(events: list[Event], spec: Spec) -> list[Event]:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    for event in events:
        await service.append_event(session, event.model_copy(deep=True))
    return await run(runner_for(build_agent(spec, TOOLS), service, resumable=True), None, invocation_id=events[0].invocation_id)


AT_B = "{'current_sub_agent': 'b'}"
CHANGES: dict[str, tuple[Spec, str, Spec, list[str], list[str]]] = {
    # change → the tree, the last committed event, the changed tree, the plan's sentences, the resumed run's texts
    "nothing": (seq("s", A, B), AT_B, seq("s", A, B), [], ["b is done"]),
    "the current agent renamed": (
        seq("s", A, B),
        "b is done",
        seq("s", A, N),
        [
            "b took part and is no longer in the agent tree.",
            "s was at b, which is no longer one of its agents: it starts with its first one.",
        ],
        ["a is done", "n is done"],
    ),
    "an agent that is finished removed": (
        seq("s", A, B),
        AT_B,
        seq("s", B),
        ["a took part and is no longer in the agent tree."],
        ["b is done"],
    ),
    "one added before the current": (
        seq("s", A, B),
        AT_B,
        seq("s", A, N, B),
        ["n is now before b in s and was not called: it is skipped."],
        ["b is done"],
    ),
    "one added after the current": (seq("s", A, B), AT_B, seq("s", A, B, N), [], ["b is done", "n is done"]),
    "the order changed": (
        seq("s", A, B, C),
        AT_B,
        seq("s", B, A, C),
        ["a was called before b in s and is now after it: it runs again."],
        ["b is done", "a is done", "c is done"],
    ),
    "the order in a loop changed": (
        loop("l", A, B),
        "{'current_sub_agent': 'b', 'times_looped': 1}",
        loop("l", B, A),
        ["a was called before b in l and is now after it: it runs again."],
        ["b is done", "a is done"],
    ),
    "the root renamed": (
        seq("s", A, B),
        AT_B,
        seq("t", A, B),
        ["s took part and is no longer in the agent tree."],
        ["a is done", "b is done"],
    ),
    "a loop made of a sequence": (
        seq("x", A, B),
        AT_B,
        loop("x", A, B, rounds=1),
        [],
        ["b is done"],
    ),
    "an agent made a sequence of agents": (
        seq("s", A, B),
        "a is done",
        seq("s", seq("a", N), B),
        ["a produced messages and is now a SequentialAgent, which produces none: it starts again."],
        ["n is done", "b is done"],
    ),
    "a sequence made an agent": (
        seq("s", A, B),
        AT_B,
        says("s"),
        [
            "a took part and is no longer in the agent tree.",
            "s has the checkpoint {\"current_sub_agent\": \"b\"} and is now an LlmAgent, which keeps none.",
        ],
        ["s is done"],
    ),
    "one taken out of a parallel and one put in": (
        par("p", A, B),
        "a is done",
        par("p", A, N),
        [],
        ["n is done"],
    ),
    "a tool with an open call removed": (
        works("w", FETCH),
        "fetch_prices",
        {**works("w", FETCH), "tools": []},
        ["w called fetch_prices, a tool it no longer has: its model receives an error instead."],
        ["w is done"],
    ),
    "the agent that was transferred to removed": (
        hands_over("r", "sub", works("sub", FETCH)),
        "fetch_prices",
        {**hands_over("r", "sub"), "script": [{"text": "r says"}]},
        [
            "sub took part and is no longer in the agent tree.",
            "r transferred to sub, which is no longer in the agent tree: r calls its own model instead.",
        ],
        ["r says"],
    ),
}  # fmt: skip


@pytest.mark.logs("which is no longer its sub-agent")
@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_tree_is_explained_and_resumed_accordingly(change: str) -> None:
    before, last, after, says_so, then = CHANGES[change]
    events = await _until(before, last)
    plan = _plan(events, after)
    assert plan.changed == says_so
    assert plan.blocks == [] and plan.next_steps
    assert sorted(texts(await _resumed(events, after))) == sorted(then)


async def test_a_call_of_a_removed_tool_gets_an_error_and_is_not_listed_to_run() -> None:
    before, last, after, _, _ = CHANGES["a tool with an open call removed"]
    events = await _until(before, last)
    plan = _plan(events, after)
    assert (plan.runs_again, plan.next_steps) == ([], ["w calls its model."])
    (response,) = [response for event in await _resumed(events, after) for response in event.get_function_responses()]
    assert "There is no tool named 'fetch_prices'" in (response.response or {})["error"]


KINDS: dict[str, tuple[Spec, str, Spec, Any]] = {
    "a sequence made of a loop": (
        loop("x", A, B),
        "{'current_sub_agent': 'b', 'times_looped': 0}",
        seq("x", A, B),
        'x is now a SequentialAgent, and its checkpoint {"current_sub_agent": "b", "times_looped": 0} belongs to another type.',
    ),
    "a parallel made of a sequence": (
        seq("x", A, B),
        AT_B,
        par("x", A, B),
        'x is now a ParallelAgent, and its checkpoint {"current_sub_agent": "b"} belongs to another type.',
    ),
    "a custom agent of another class": (seq("x", A, B), AT_B, steps("x", A, B), None),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_checkpoint_of_another_type_is_rejected(kind: str) -> None:
    before, last, after, blocked = KINDS[kind]
    events = await _until(before, last)
    assert _plan(events, after).blocks == ([blocked] if blocked else [])
    with pytest.raises(ResumeError, match=r"The checkpoint of 'x', .* does not fit .*The agent was changed since"):
        await _resumed(events, after)
