"""Outlines of agents in other processes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector_app.engines.adk_worker.plugin_file import plugin
from inspector_app.engines.agent_outline import agent_outline
from runtime.agents import BaseAgent, LlmAgent, LoopAgent, SequentialAgent
from runtime.history.key_writers import reading_agents
from runtime.running.tree_changes import has_tool


def described(name: str, kind: str = "LlmAgent", *below: dict[str, object], tools: tuple[str, ...] = ()) -> dict[str, object]:
    return {"name": name, "type": kind, "description": "", "model": "m", "tools": list(tools), "sub_agents": list(below)}


def test_names_kinds_and_tools_are_those_of_the_description() -> None:
    root = agent_outline(described("root", "SequentialAgent", described("a", tools=("weather",)), described("b", "LoopAgent")))
    assert (type(root), [type(one) for one in root.sub_agents]) == (SequentialAgent, [LlmAgent, LoopAgent])
    a = root.find_agent("a")
    assert isinstance(a, LlmAgent) and has_tool(a, "weather") and not has_tool(a, "other")


def test_a_toolset_may_have_any_tool() -> None:
    agent = agent_outline(described("a", tools=("McpToolset",)))
    assert isinstance(agent, LlmAgent) and has_tool(agent, "any")


def test_a_kind_that_is_not_known_is_a_plain_agent() -> None:
    root = agent_outline(described("graph", "Workflow", described("node", "FunctionNode")))
    assert type(root) is BaseAgent and [one.name for one in root.sub_agents] == ["node"]


@pytest.mark.parametrize("global_text", ["", "Greet {user:name}."])
@pytest.mark.parametrize(
    "text",
    ["", "Use {story} and {user:name?}.", "{ story }{app:x}", "{{story}}", "${story}", "{story", "{artifact.story}", lambda context: ""],
)
def test_an_outline_reads_the_keys_that_its_agent_reads(text: Any, global_text: str) -> None:
    below = [
        LlmAgent(name="writer", instruction=text),
        SequentialAgent(name="all", sub_agents=[LlmAgent(name="last", instruction="{story}")]),
    ]
    agent = LlmAgent(name="root", sub_agents=below, global_instruction=global_text, static_instruction="Rules for {story}.")
    outline = agent_outline(json.loads(json.dumps(plugin.describe_agent(agent))))
    for key in ("story", "user:name", "app:x", "other"):
        assert reading_agents(outline, key) == reading_agents(agent, key)


def test_a_name_that_no_agent_can_have_is_left_out() -> None:
    root = agent_outline(described("root", "LlmAgent", described("has a space"), described("a")))
    assert [one.name for one in root.sub_agents] == ["a"]
    assert agent_outline(described("has a space")).name == "agent"
