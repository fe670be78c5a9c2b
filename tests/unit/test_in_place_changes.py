"""Lists and dicts that tools and callbacks read from the state and change in place are committed, as in google-adk 2.13."""

from __future__ import annotations

import asyncio
import datetime
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent, ParallelAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import DatabaseSessionService, InMemorySessionService
from runtime.sessions.state import State
from runtime.tools import ToolContext
from tests.seeds.running import run, runner_for

pytestmark = pytest.mark.timeout(60)

FIRST = {"cart": ["a"], "order": {"lines": [{"n": 1}], "note": ""}, "user:likes": {"colours": ["red"]}, "count": 1}


async def outcome(agent: Any, tmp_path: Path, *, service: str = "memory", resumable: bool = False) -> tuple[list[Any], dict[str, Any]]:
    """Run an agent; return the committed deltas and the state, as read from the service."""
    made: Any = InMemorySessionService() if service == "memory" else DatabaseSessionService(f"sqlite+aiosqlite:///{tmp_path}/s.db")
    runner = runner_for(agent, made, resumable=resumable)
    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await made.create_session(**names, state=FIRST)
    await run(runner)
    session = await made.get_session(**names)
    deltas = [dict(event.actions.state_delta) for event in session.events if event.actions.state_delta]
    await made.close()
    return deltas, dict(session.state)


def calling(*tools: Any, **more: Any) -> LlmAgent:
    calls: list[tuple[str, dict[str, Any]]] = [(tool.__name__, {}) for tool in tools]
    return LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=calls), "done"]), tools=list(tools), **more)


def change(context: Any) -> None:
    context.state["cart"].append("b")
    context.state.get("order")["lines"][0]["n"] = True
    context.state["user:likes"]["colours"].clear()
    assert context.state["cart"] == ["a", "b"]


CHANGED = {"cart": ["a", "b"], "order": {"lines": [{"n": True}], "note": ""}, "user:likes": {"colours": []}}


@pytest.mark.rule("S11")
@pytest.mark.parametrize("service", ["memory", "sqlite"])
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_tools_changes_are_in_its_results_delta(is_async: bool, resumable: bool, service: str, tmp_path: Path) -> None:
    def tool(tool_context: ToolContext) -> str:
        change(tool_context)
        return "ok"

    async def atool(tool_context: ToolContext) -> str:
        change(tool_context)
        return "ok"

    deltas, state = await outcome(calling(atool if is_async else tool), tmp_path, service=service, resumable=resumable)
    assert deltas == [CHANGED]
    assert state == {**FIRST, **CHANGED}
    assert state["order"]["lines"][0]["n"] is True


@pytest.mark.rule("S11")
@pytest.mark.parametrize("hook", ["before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool"])
async def test_a_callbacks_changes_are_committed_once(hook: str, tmp_path: Path) -> None:
    done: list[Any] = []

    def callback(*_: Any, **named: Any) -> None:
        if not done:
            done.append(change(named.get("callback_context") or named["tool_context"]))

    def tool() -> str:
        return "ok"

    deltas, state = await outcome(calling(tool, **{f"{hook}_callback": callback}), tmp_path)
    assert deltas == [CHANGED]
    assert state == {**FIRST, **CHANGED}


@pytest.mark.rule("S11")
@pytest.mark.parametrize("service", ["memory", "sqlite"])
@pytest.mark.parametrize("resumable", [False, True])
async def test_parallel_calls_lose_nothing(resumable: bool, service: str, tmp_path: Path) -> None:
    has_read, may_end = asyncio.Event(), asyncio.Event()

    async def slow(tool_context: ToolContext) -> str:
        cart = tool_context.state["cart"]
        cart.append("slow")
        has_read.set()
        await may_end.wait()
        cart.append("slow again")
        return "ok"

    async def fast(tool_context: ToolContext) -> str:
        await has_read.wait()
        tool_context.state["cart"].append("fast")
        return "ok"

    async def last(tool_context: ToolContext) -> str:
        await has_read.wait()
        for _ in range(30):  # the result of `fast` is committed meanwhile
            await asyncio.sleep(0)
        tool_context.state["cart"].append("last")
        may_end.set()
        return "ok"

    _, state = await outcome(calling(slow, fast, last), tmp_path, service=service, resumable=resumable)
    assert sorted(state["cart"]) == ["a", "fast", "last", "slow", "slow again"]


async def test_sync_calls_and_parallel_agents_build_on_each_other(tmp_path: Path) -> None:
    def one(tool_context: ToolContext) -> str:
        tool_context.state["cart"].append("one")
        return "ok"

    def two(tool_context: ToolContext) -> str:
        tool_context.state["cart"].append("two")
        return "ok"

    agents = [calling(one, two).clone({"name": f"agent{number}"}) for number in range(2)]
    _, state = await outcome(ParallelAgent(name="both", sub_agents=agents), tmp_path)
    assert sorted(state["cart"]) == ["a", "one", "one", "two", "two"]


@pytest.mark.rule("S4")
@pytest.mark.parametrize("resumable", [False, True])
async def test_changes_of_a_tool_that_raised_are_reverted(resumable: bool, tmp_path: Path) -> None:
    def before(tool: Any, args: Any, tool_context: ToolContext) -> None:
        tool_context.state["cart"].append("before")

    def failing(tool_context: ToolContext) -> str:
        change_all = tool_context.state["cart"]
        change_all.append("half")
        assert tool_context.actions.state_delta["cart"] is change_all
        tool_context.state["cart"] = change_all
        tool_context.state["order"]["lines"].clear()
        raise ValueError("half-way")

    def answer(tool: Any, args: Any, tool_context: ToolContext, error: Exception) -> dict[str, Any]:
        tool_context.state["cart"].append("answered")
        return {"answered": True}

    agent = calling(failing, before_tool_callback=before, on_tool_error_callback=answer)
    deltas, state = await outcome(agent, tmp_path, resumable=resumable)
    assert deltas == [{"cart": ["a", "before", "answered"]}]
    assert state == {**FIRST, "cart": ["a", "before", "answered"]}


@pytest.mark.rule("S4")
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("is_running", [False, True])
async def test_what_a_sibling_appended_stays(is_running: bool, resumable: bool, tmp_path: Path) -> None:
    appended, wrote, failed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def answer(*_: Any, **__: Any) -> dict[str, Any]:
        failed.set()
        return {"answered": True}

    async def failing(tool_context: ToolContext) -> str:
        tool_context.state["cart"].append("half")
        appended.set()
        await wrote.wait()
        tool_context.state["order"]["note"] = "half"
        raise ValueError("no")

    async def sibling(tool_context: ToolContext) -> str:
        await appended.wait()
        tool_context.state["cart"].append("sibling")
        wrote.set()
        if is_running:
            await failed.wait()
        return "ok"

    agent = calling(failing, sibling, on_tool_error_callback=answer)
    _, state = await outcome(agent, tmp_path, resumable=resumable)
    assert "sibling" in state["cart"]
    assert state["order"] == FIRST["order"]


@pytest.mark.rule("S11")
async def test_reading_alone_and_values_that_cannot_be_stored_write_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def tool(tool_context: ToolContext) -> str:
        tool_context.state["order"]["lines"].append(1)
        tool_context.state["order"]["lines"].pop()
        tool_context.state["cart"].append(datetime.date.today())
        return "ok"

    deltas, state = await outcome(calling(tool), tmp_path)
    assert deltas == []
    assert state == FIRST
    assert "not stored: cart" in caplog.text


def test_plain_values_are_not_tracked() -> None:
    state = State({"count": 1, "text": "a", "list": [1]}, {})
    assert [state["count"], state.get("text"), state.get("missing")] == [1, "a", None]
    assert not state._read
    state.setdefault("list", []).append(2)
    assert state.has_delta()
    assert state.delta == {"list": [1, 2]}
