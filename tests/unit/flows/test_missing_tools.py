"""Calls of tools that do not exist."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.models.scripted_llm import Reply
from runtime.plugins import BasePlugin
from tests.seeds.running import llm_agent, results, run, runner_for, stored, texts

MISSING = Reply(calls=[("fetch", {"page": 1})])


def look() -> str:
    """Look."""
    return "seen"


class Answering(BasePlugin):
    """Answers failed calls, and records what it was given."""

    def __init__(self, answer: Any) -> None:
        super().__init__("answering")
        self.answer = answer
        self.given: list[Any] = []

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> Any:
        self.given.append((tool.name, tool.description, tool_args, tool_context.function_call_id, error))
        return self.answer


@pytest.mark.rule("R12")
async def test_the_agents_error_callback_answers_for_a_missing_tool() -> None:
    given: list[Any] = []

    def on_error(tool: Any, args: Any, tool_context: Any, error: Exception) -> Any:
        given.append((tool.name, args, tool_context.agent_name, str(error)))
        tool_context.state["missing"] = tool.name
        return {"answered": True}

    runner = runner_for(llm_agent("agent", MISSING, "done", tools=[look], on_tool_error_callback=on_error))
    events = await run(runner)
    assert results(events) == [("fetch", {"answered": True})]
    assert given == [("fetch", {"page": 1}, "agent", "There is no tool named 'fetch'. The tools are: look.")]
    assert (await stored(runner)).state == {"missing": "fetch"}


@pytest.mark.parametrize(("answer", "result"), [({"from": "plugin"}, {"from": "plugin"}), (None, {"from": "agent"})])
async def test_a_plugin_is_asked_before_the_agent(answer: Any, result: Any) -> None:
    plugin = Answering(answer)
    agent = llm_agent("agent", MISSING, "done", on_tool_error_callback=lambda tool, args, tool_context, error: {"from": "agent"})
    events = await run(runner_for(agent, plugins=[plugin]))
    assert results(events) == [("fetch", result)]
    ((name, description, args, call_id, error),) = plugin.given
    assert (name, description, args) == ("fetch", "Tool not found", {"page": 1})
    assert type(error) is ValueError and "The tools are: none." in str(error)
    assert call_id == events[0].get_function_calls()[0].id


async def test_without_an_answer_the_model_learns_which_tools_exist() -> None:
    plugin = Answering(None)
    agent = llm_agent("agent", MISSING, "done", tools=[look], on_tool_error_callback=lambda tool, args, tool_context, error: None)
    events = await run(runner_for(agent, plugins=[plugin]))
    assert results(events) == [("fetch", {"error": "There is no tool named 'fetch'. The tools are: look."})]
    assert texts(events) == ["done"]


async def test_a_callback_before_the_tool_can_answer_and_callbacks_after_it_see_no_missing_tool() -> None:
    called: list[str] = []

    def after(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
        called.append(tool.name)

    def before(tool: Any, args: Any, tool_context: Any) -> Any:
        return {"before": True} if args["page"] == 2 else None

    two = Reply(calls=[("fetch", {"page": 1}), ("fetch", {"page": 2})])
    agent = llm_agent("agent", two, "done", before_tool_callback=before, after_tool_callback=after)
    (_, first), (_, second) = results(await run(runner_for(agent)))
    assert "no tool named" in first["error"] and second == {"before": True}
    assert called == ["fetch"]
