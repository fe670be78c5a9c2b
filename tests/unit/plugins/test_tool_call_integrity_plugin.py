"""Calls in a session are signed, and run only as they were signed."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import LlmAgent, RunConfig
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import ToolCallIntegrityError, ToolCallIntegrityPlugin
from runtime.plugins.plugin_manager import PluginError
from runtime.runners import Runner
from runtime.tools import AgentTool
from tests.seeds.running import results, run, runner_for, stored, texts

STAMPS = "__adk_internal_fc_hmac"


def look_up(word: str) -> str:
    """Look a word up."""
    return f"of {word}"


def runner(*more: Any, replies: Any = (), tools: Any = (look_up,), plugins: Any = None) -> Runner:
    replies = replies or [Reply(calls=[("look_up", {"word": "one"}), ("look_up", {"word": "two"})]), "done", "again"]
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=list(replies)), tools=list(tools))
    return runner_for(agent, plugins=[ToolCallIntegrityPlugin(b"key", **dict(more))] if plugins is None else plugins)


async def change(runner: Runner, edit: Any) -> None:
    """Change the stored event with the calls."""
    session = await stored(runner)
    calling = next(event for event in session.events if event.get_function_calls())
    edit(calling)
    await runner.session_service.delete_session(app_name="app", user_id="u", session_id="s")
    fresh = await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    for event in session.events:
        await runner.session_service.append_event(fresh, event)


def other_word(event: Any) -> None:
    event.get_function_calls()[0].args["word"] = "three"


def other_name(event: Any) -> None:
    event.get_function_calls()[0].name = "delete"


def no_stamp(event: Any) -> None:
    del event.custom_metadata[STAMPS][event.get_function_calls()[0].id]


def no_call(event: Any) -> None:
    del event.content.parts[0]


def malformed(event: Any) -> None:
    event.custom_metadata[STAMPS] = ["v1:"]


def other_author(event: Any) -> None:
    event.author = "other"


async def test_signed_calls_run_and_are_checked_before_the_next_run() -> None:
    one = runner()
    assert results(await run(one)) == [("look_up", {"result": "of one"}), ("look_up", {"result": "of two"})]
    assert texts(await run(one)) == ["again"]
    calling = next(event for event in (await stored(one)).events if event.get_function_calls())
    assert calling.custom_metadata is not None
    assert calling.custom_metadata[STAMPS].keys() == {call.id for call in calling.get_function_calls()}


@pytest.mark.parametrize("edit", [other_word, other_name, no_stamp, no_call, malformed, other_author])
async def test_a_changed_session_is_refused(edit: Any) -> None:
    one = runner()
    await run(one)
    await change(one, edit)
    with pytest.raises(PluginError) as caught:
        await run(one)
    assert isinstance(caught.value.__cause__, ToolCallIntegrityError)


@pytest.mark.logs("has no integrity stamp")
async def test_calls_without_a_stamp_can_be_allowed() -> None:
    one = runner(("allow_unstamped_calls", True))
    await run(one)
    await change(one, no_stamp)
    assert texts(await run(one)) == ["again"]


async def test_arguments_that_another_plugin_changes_are_refused() -> None:
    def change_arguments(tool: Any, args: Any, tool_context: Any) -> None:
        args["word"] = "other"

    class Changing(ToolCallIntegrityPlugin):
        async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
            change_arguments(tool, tool_args, tool_context)
            await super().before_tool_callback(tool=tool, tool_args=tool_args, tool_context=tool_context)

    with pytest.raises(PluginError, match="do not match its stored call"):
        await run(runner(plugins=[Changing(b"key")]))


async def test_an_agent_that_runs_as_a_tool_can_call_its_tools() -> None:
    calls = Reply(calls=[("look_up", {"word": "in"})])
    inner = LlmAgent(name="inner", model=ScriptedLlm(replies=[calls, "found"]), tools=[look_up])
    outer = runner(replies=[Reply(calls=[("inner", {"request": "go"})]), "done"], tools=[AgentTool(inner)])
    assert texts(await run(outer)) == ["done"]


async def test_a_run_cannot_bring_its_own_marks() -> None:
    one = runner(replies=["done"])
    await run(one, run_config=RunConfig(custom_metadata={STAMPS: {"x": "v1:"}, "mine": 1}))
    assert [event.custom_metadata for event in (await stored(one)).events] == [{"mine": 1}, {"mine": 1}]


@pytest.mark.parametrize("key", [b"", [], [b"one", b""], ["text"], "text"])
def test_a_key_of_nothing_is_refused(key: Any) -> None:
    with pytest.raises(ValueError, match="secret_key needs at least one key"):
        ToolCallIntegrityPlugin(key)
