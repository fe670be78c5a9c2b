"""Agent trees: parents, names, lookup, cloning, and code that exits."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import ValidationError

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, ParallelAgent, SequentialAgent
from runtime.errors.agent_code_error import AgentExitError
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.seeds.running import run, runner_for, said, scripted, stored, texts


def test_an_agent_has_one_parent() -> None:
    leaf = BaseAgent(name="leaf")
    root = BaseAgent(name="root", sub_agents=[leaf])
    assert leaf.parent_agent is root
    assert leaf.root_agent is root.root_agent is root
    with pytest.raises(ValueError, match="'leaf' already has the parent 'root'"):
        BaseAgent(name="other", sub_agents=[leaf])


@pytest.mark.rule("R11")
def test_duplicate_sub_agent_names_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        root = BaseAgent(name="root", sub_agents=[BaseAgent(name="twin") for _ in range(3)])
    assert caplog.text.count("twin") == 1
    assert "'root' has several sub-agents named 'twin'" in caplog.text
    assert root.find_agent("twin") is root.sub_agents[0]


@pytest.mark.rule("R11")
def test_equal_names_anywhere_in_a_tree_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def branch(name: str, *below: str) -> BaseAgent:
        return BaseAgent(name=name, sub_agents=[BaseAgent(name=each) for each in below])

    with caplog.at_level(logging.WARNING):
        root = BaseAgent(name="root", sub_agents=[branch("one", "writer", "critic"), branch("two", "writer")])
        BaseAgent(name="top", sub_agents=[root])
    assert [record.getMessage() for record in caplog.records] == [
        "Two agents are named 'writer': root.one.writer and root.two.writer. Rename one: only the first can be found by name, such as for a"
        " transfer."
    ]
    caplog.clear()
    BaseAgent(name="same", sub_agents=[branch("middle", "same")])
    assert "Two agents are named 'same': same and same.middle.same." in caplog.text


@pytest.mark.parametrize(
    ("name", "why"), [("two words", "not an agent name"), ("1st", "not an agent name"), ("", "not an agent name"), ("user", "user")]
)
def test_invalid_names_are_rejected(name: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        BaseAgent(name=name)


@pytest.mark.rule("R11")
def test_find_agent_searches_the_tree_below() -> None:
    leaf = BaseAgent(name="leaf")
    middle = BaseAgent(name="middle", sub_agents=[leaf])
    root = BaseAgent(name="root", sub_agents=[middle])
    assert (root.find_agent("root"), root.find_sub_agent("root")) == (root, None)
    assert root.find_agent("leaf") is root.find_sub_agent("leaf") is leaf
    assert middle.find_agent("root") is None
    assert list(leaf.ancestors()) == [middle, root]
    assert list(root.descendants()) == [middle, leaf]


@pytest.mark.rule("R11")
def test_a_clone_is_an_independent_tree() -> None:
    root = SequentialAgent(name="root", sub_agents=[LlmAgent(name="leaf", model=ScriptedLlm(replies=["x"]), instruction="Do.")])
    copy = root.clone(update={"name": "copy"})
    assert (type(copy), copy.name, copy.parent_agent) == (SequentialAgent, "copy", None)
    (leaf,) = copy.sub_agents
    assert leaf is not root.sub_agents[0]
    assert isinstance(leaf, LlmAgent)
    assert (leaf.parent_agent, leaf.instruction) == (copy, "Do.")
    assert root.sub_agents[0].parent_agent is root


def test_clone_rejects_unknown_fields_and_the_parent() -> None:
    for update in ({"parent_agent": BaseAgent(name="p")}, {"no_such_field": 1}):
        with pytest.raises(ValueError, match=next(iter(update))):
            BaseAgent(name="a").clone(update=update)


async def test_an_agent_without_an_implementation_raises() -> None:
    with pytest.raises(NotImplementedError, match="_run_async_impl"):
        await run(runner_for(BaseAgent(name="idle")))


async def test_changes_of_a_list_of_callbacks_are_one_event() -> None:
    def first(callback_context: object) -> None:
        callback_context.state["first"] = True  # type: ignore[attr-defined]

    async def second(callback_context: object) -> None:
        callback_context.state["second"] = True  # type: ignore[attr-defined]

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=["x"]), before_agent_callback=[first, second])
    runner = runner_for(agent)
    before, answer = await run(runner)
    assert (before.author, before.content, before.actions.state_delta) == ("agent", None, {"first": True, "second": True})
    assert answer.actions.state_delta == {}
    assert (await stored(runner)).state == {"first": True, "second": True}


def _leave() -> str:
    """Leave."""
    sys.exit(4)


def _parse() -> str:
    """Parse."""
    return str(argparse.ArgumentParser().parse_args(["--unknown"]))


async def _leaves(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    _leave()
    yield said(agent, "never")


def _caller(*tools: Any, **more: Any) -> LlmAgent:
    calls: list[tuple[str, dict[str, Any]]] = [(tool.__name__, {}) for tool in tools]
    return LlmAgent(name="caller", model=ScriptedLlm(replies=[Reply(calls=calls), "on we go"]), tools=list(tools), **more)


@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize(
    ("agent", "who"),
    [
        (lambda: _caller(_leave), "tool '_leave'"),
        (lambda: _caller(_leave, _parse), "tool '_(leave|parse)'"),
        (lambda: _caller(before_agent_callback=lambda callback_context: _leave()), "agent 'caller'"),
        (lambda: _caller(_parse, before_tool_callback=lambda tool, args, tool_context: _leave()), "agent 'caller'"),
        (lambda: scripted(_leaves), "agent 'agent'"),
        (lambda: ParallelAgent(name="both", sub_agents=[scripted(_leaves, "one"), scripted(_leaves, "other")]), "agent '(one|other)'"),
    ],
    ids=["tool", "two tools", "callback", "tool callback", "own agent", "in parallel"],
)
async def test_code_that_calls_sys_exit_fails_only_its_run(agent: Any, who: str, resumable: bool) -> None:
    with pytest.raises(AgentExitError, match=f"The {who} tried to end the program"):
        await run(runner_for(agent(), resumable=resumable))


async def test_a_tool_that_calls_sys_exit_is_reported_to_error_callbacks() -> None:
    told = []

    def on_error(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        told.append(type(error))
        return {"error": "not here"}

    events = await run(runner_for(_caller(_leave, on_tool_error_callback=on_error)))
    assert (texts(events), told) == (["on we go"], [AgentExitError])


def test_callbacks_are_lists_by_google_adks_names() -> None:
    def one(callback_context: Any) -> None: ...

    agent = LlmAgent(name="agent", model="gemini-2.5-flash", before_agent_callback=one, after_model_callback=[one, one])
    assert agent.canonical_before_agent_callbacks == [one] and agent.canonical_after_agent_callbacks == []
    assert agent.canonical_after_model_callbacks == [one, one] and agent.canonical_on_tool_error_callbacks == []


@pytest.mark.parametrize("setting", [{"timeout": 5}, {"rerun_on_resume": True}])
def test_a_setting_of_graphs_nodes_needs_the_other_engine(setting: dict[str, Any]) -> None:
    with pytest.raises(EngineNeededError, match="of a workflow graph's node, needs google-adk"):
        BaseAgent(name="agent", **setting)
    assert BaseAgent(name="agent", timeout=None, rerun_on_resume=False).name == "agent"  # google-adk's defaults


def test_an_agent_may_have_a_field_of_such_a_name() -> None:
    class Patient(BaseAgent):
        timeout: float = 1.0

    assert Patient(name="agent", timeout=2).timeout == 2
