"""Descriptions of an app's agents for google-adk's pages: their instructions and tools, and the tree they form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.genai import types
from pydantic import BaseModel

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.apps.app import App
from runtime.errors import KnownError
from runtime.models.base_llm import BaseLlm
from runtime.support.texts import text_of

# As in google-adk, callbacks are left out; the parent would be a circle.
_SKIPPED = {"parent_agent", "sub_agents", "tools"}


class NotAnLlmAgentError(KnownError):
    """Only apps whose root agent is an LlmAgent are described."""


async def agents_info(root: LlmAgent) -> dict[str, Any]:
    """Return name → description, instruction, tools and sub-agents of all LlmAgents of a tree."""
    found: dict[str, Any] = {}
    for agent in _llm_agents(root):
        declared = [declaration for tool in await agent.canonical_tools() if (declaration := tool._get_declaration())]
        tools = [types.Tool(function_declarations=[declaration]) for declaration in declared]
        found[agent.name] = {
            "name": agent.name,
            "description": agent.description,
            "instruction": _instruction(agent.instruction),
            "tools": [json.loads(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools],
            "sub_agents": [below.name for below in agent.sub_agents if isinstance(below, LlmAgent)],
        }
    return found


def _llm_agents(agent: LlmAgent) -> Iterator[LlmAgent]:
    for below in agent.sub_agents:
        if isinstance(below, LlmAgent):
            yield from _llm_agents(below)
    yield agent


def _instruction(instruction: Any) -> str:
    if isinstance(instruction, str):
        return instruction
    return f"<InstructionProvider: {getattr(instruction, '__name__', None) or type(instruction).__name__}>"


def app_tree(app: App, readme: str | None = None) -> dict[str, Any]:
    """Return an app as one tree of JSON values, in the form of google-adk's `build_graph`."""
    found: dict[str, Any] = {"name": app.name, "root_agent": agent_tree(app.root_agent)}
    if app.plugins:
        found["plugins"] = [{"name": plugin.name} for plugin in app.plugins]
    for name in ("context_cache_config", "resumability_config"):
        if (config := getattr(app, name)) is not None:
            found[name] = _plain(config)
    return {**found, "readme": readme} if readme else found


def agent_tree(agent: BaseAgent) -> dict[str, Any]:
    """Return an agent's fields, with its sub-agents and the names of its tools."""
    found: dict[str, Any] = {}
    for name, field in type(agent).model_fields.items():
        value = getattr(agent, name, None)
        if name in _SKIPPED or name.endswith("_callback") or field.exclude or value is None or callable(value):
            continue
        found[name] = value.model if isinstance(value, BaseLlm) else _plain(value)
    found["sub_agents"] = [agent_tree(below) for below in agent.sub_agents]
    if isinstance(agent, LlmAgent):
        names = {below.name for below in agent.sub_agents}
        found["tools"] = [{"name": name, "type": "tool"} for tool in agent.tools if (name := _tool_name(tool)) not in names]
    return found


def _tool_name(tool: Any) -> str:
    name = getattr(tool, "__name__", None) or getattr(tool, "name", None)
    return name if isinstance(name, str) else type(tool).__name__


def _plain(value: Any) -> Any:
    """Return a JSON value; what is none becomes its text."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="python", exclude_none=True)
    try:
        return json.loads(json.dumps(value, default=text_of))
    except (TypeError, ValueError):
        return text_of(value)
