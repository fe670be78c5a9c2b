"""The resume plan, compared with the resumed run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.running.resume_plan import ResumePlan, plan_resume
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool
from tests.agent_specs import build_agent, message
from tests.fixture_paths import fixtures_dir
from tests.seeds.running import run, runner_for, stored

TREES = {tree["name"]: tree for tree in json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))}


async def _run(tree: dict[str, Any], kept: list[Event] | None = None) -> Runner:
    """Run a tree to its end, or resume it after the kept events."""
    service = InMemorySessionService()
    runner = runner_for(build_agent(tree["agent"]), service, resumable=True)
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    more: dict[str, Any] = {"new_message": message("go")} if kept is None else {"invocation_id": kept[0].invocation_id}
    for event in kept or []:
        await service.append_event(session, event.model_copy(deep=True))
    async for _ in runner.run_async(user_id="u", session_id="s", **more):
        pass
    return runner


def _plan(tree: dict[str, Any], events: list[Event], **more: Any) -> ResumePlan:
    plan = plan_resume(events, events[0].invocation_id, build_agent(tree["agent"]), **({"is_resumable": True} | more))
    assert plan is not None
    return plan


def _ids(events: list[Event]) -> tuple[set[str | None], set[str | None]]:
    calls = {call.id for event in events for call in event.get_function_calls()}
    return calls, {response.id for event in events for response in event.get_function_responses()}


@pytest.mark.parametrize("name", list(TREES))
async def test_the_plan_after_every_prefix_matches_the_resumed_run(name: str) -> None:
    tree = TREES[name]
    whole = list((await stored(await _run(tree))).events)
    for kept in range(1, len(whole) + 1):
        before = whole[:kept]
        plan = _plan(tree, before)
        after = list((await stored(await _run(tree, before))).events)[kept:]
        calls, results = _ids(before)
        assert {run.call_id for run in plan.runs_again} == (calls - results) & _ids(after)[1], f"after {kept} events"
        first = next((event for event in after if event.content), None)
        assert first is None or first.author not in plan.finished, f"after {kept} events"
        # A finished invocation may only get the missing end of an agent.
        assert not plan.blocks or all(event.actions.end_of_agent for event in after), f"after {kept} events"
        assert plan.blocks or after, f"after {kept} events"
        assert plan.next_steps or plan.starts_over or plan.blocks, f"after {kept} events"


@pytest.mark.rule("C10")
@pytest.mark.parametrize(
    ("name", "kept", "says"),
    [
        ("seq_llm", 2, "a calls its model."),
        ("seq_llm", 3, "a has answered; only its end remains to be recorded."),
        ("seq_llm", 4, "a is finished; seq continues with b."),
        ("loop_llm", 7, "b is finished; lp continues with its next round."),
        ("solo_tool", 2, "solo runs fetch_prices."),
        ("steps", 4, 'flow continues from its checkpoint {"step": 1, "done": ["one"]}.'),
        ("transfer", 4, "sub runs fetch_prices."),
    ],
)
async def test_next_steps_are_described(name: str, kept: int, says: str) -> None:
    whole = list((await stored(await _run(TREES[name]))).events)
    assert _plan(TREES[name], whole[:kept]).next_steps == [says]


async def test_an_agent_without_checkpoints_is_one_that_starts_over_and_no_step() -> None:
    whole = list((await stored(await _run(TREES["emit_seq"]))).events)
    plan = _plan(TREES["emit_seq"], whole[:3])
    assert (plan.starts_over, plan.next_steps, plan.blocks) == (["e1"], [], [])


async def test_agents_finished_before_a_sequences_last_checkpoint_are_listed() -> None:
    whole = list((await stored(await _run(TREES["seq_llm"]))).events)
    ended = next(index for index, event in enumerate(whole) if event.author == "a" and event.actions.end_of_agent)
    assert [_plan(TREES["seq_llm"], whole[:kept]).finished for kept in (ended, ended + 1, ended + 2, ended + 3)] == [
        [],
        ["a"],
        ["a"],
        ["a"],
    ]
    loop = list((await stored(await _run(TREES["loop_llm"]))).events)
    round_2 = [index for index, event in enumerate(loop) if event.author == "lp" and event.actions.agent_state][2]
    assert _plan(TREES["loop_llm"], loop[: round_2 + 1]).finished == [], "it runs again in the next round"


async def test_blocking_reasons_are_listed() -> None:
    whole = list((await stored(await _run(TREES["lro_seq"]))).events)
    assert _plan(TREES["lro_seq"], whole).blocks == ["slow_report waits for an answer."]
    done = list((await stored(await _run(TREES["seq_llm"]))).events)
    assert _plan(TREES["seq_llm"], done).blocks == ["The invocation is finished: seq reached its end."]
    assert _plan(TREES["seq_llm"], done[:3], is_resumable=False).blocks[0].startswith("The app is not resumable")
    assert plan_resume(done, "nowhere", build_agent(TREES["seq_llm"]["agent"]), is_resumable=True) is None


async def test_a_request_is_named_by_its_call() -> None:
    def pay(amount: int) -> None:
        """Pay."""

    agent = LlmAgent(
        name="clerk",
        model=ScriptedLlm(replies=[Reply(calls=[("pay", {"amount": 1})])]),
        tools=[FunctionTool(pay, require_confirmation=True)],
    )
    events = await run(runner_for(agent, resumable=True))
    plan = plan_resume(events, events[0].invocation_id, agent, is_resumable=True)
    assert plan is not None
    assert plan.next_steps == ["clerk waits for an answer to pay."]


async def test_a_changed_tree_is_explained() -> None:
    whole = list((await stored(await _run(TREES["seq_llm"]))).events)
    changed = build_agent({**TREES["seq_llm"]["agent"], "sub_agents": TREES["seq_llm"]["agent"]["sub_agents"][1:]})
    plan = plan_resume(whole[:3], whole[0].invocation_id, changed, is_resumable=True, temp_keys=["temp:raw"])
    assert plan is not None
    assert plan.changed == [
        "a took part and is no longer in the agent tree.",
        "seq was at a, which is no longer one of its agents: it starts with its first one.",
    ]
    assert plan.next_steps == ["seq starts with b."]
    assert plan.lost_temp == ["temp:raw"]


async def test_calls_of_an_agent_under_a_custom_agent_run_again() -> None:
    tool = {
        "type": "llm",
        "name": "g",
        "script": [{"calls": [["fetch_prices", {"item": "x"}]]}, {"text": "done"}],
        "tools": ["fetch_prices"],
    }
    tree = {"agent": {"type": "steps", "name": "flow", "sub_agents": [tool], "steps": [{"name": "gen", "run": "g"}]}}
    whole = list((await stored(await _run(tree))).events)
    (called,) = [index for index, event in enumerate(whole) if event.get_function_calls()]
    plan = _plan(tree, whole[: called + 1])
    assert [(run.agent, run.name, run.args) for run in plan.runs_again] == [("g", "fetch_prices", {"item": "x"})]
    assert plan.next_steps == ['flow continues from its checkpoint {"step": 0, "done": []}.', "g runs fetch_prices."]
