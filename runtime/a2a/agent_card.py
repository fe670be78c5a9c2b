"""The description of a served agent that clients read first. Loading this module loads the package a2a-sdk."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from a2a import types as a2a
from a2a.client.card_resolver import parse_agent_card
from google.protobuf import json_format

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent
from runtime.support.bounded import parse, read_file
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset
from runtime.tools.example_tool import ExampleTool
from runtime.tools.function_tool import FunctionTool

logger = logging.getLogger(__name__)

_TEXT = ["text/plain"]
_KINDS: dict[type[BaseAgent], tuple[str, str, str]] = {  # class → tag, name of its skill, description where the agent has none
    LlmAgent: ("llm", "model", "An LLM-based agent"),
    SequentialAgent: ("sequential_workflow", "workflow", "A sequential workflow agent"),
    ParallelAgent: ("parallel_workflow", "workflow", "A parallel workflow agent"),
    LoopAgent: ("loop_workflow", "workflow", "A loop workflow agent"),
}
_OTHER = ("custom_agent", "custom", "A custom agent")


def given(agent_card: Any) -> Any:
    """Return the card that a program gave, read from its file; None if it gave none.

    Args:
        agent_card: a card, a file with one as JSON, or None.

    Raises:
        ValueError: the file has no card; the message says why.
    """
    if not isinstance(agent_card, str):
        return agent_card
    try:
        return parse_agent_card(parse(read_file(Path(agent_card))))
    except OSError as error:
        raise ValueError(f"The agent card {agent_card} cannot be read: {error.strerror}.") from error
    except (ValueError, json_format.ParseError) as error:
        raise ValueError(f"{agent_card} is no agent card: {error}") from error


def hosts_of(card: Any) -> set[str]:
    """Return the hosts that a card names.

    Args:
        card: an `a2a.types.AgentCard`.
    """
    return {urlsplit(interface.url).hostname or "" for interface in card.supported_interfaces} - {""}


async def made_from(agent: BaseAgent, url: str, schemes: dict[str, Any], security: list[dict[str, list[str]]]) -> Any:
    """Return the card of an agent. It has descriptions and names of tools, and no instruction.

    Args:
        agent: the agent.
        url: where it is asked.
        schemes: security schemes by name.
        security: what each skill requires.
    """
    skills = await _skills_of(agent)
    for sub_agent in agent.sub_agents:
        for skill in await _skills_of(sub_agent):
            tags = [f"sub_agent:{sub_agent.name}", *skill["tags"]]
            skills.append({**skill, "id": f"{sub_agent.name}_{skill['id']}", "name": f"{sub_agent.name}: {skill['name']}", "tags": tags})
    required = [{"schemes": {scheme: {"list": scopes} for scheme, scopes in one.items()}} for one in security]
    card = a2a.AgentCard()
    json_format.ParseDict(
        {
            "name": agent.name,
            "description": agent.description or "An ADK Agent",
            "version": "0.0.1",
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {"streaming": True},
            "defaultInputModes": _TEXT,
            "defaultOutputModes": _TEXT,
            "skills": [{**skill, "securityRequirements": required} for skill in skills],
        },
        card,
    )
    for name, scheme in schemes.items():
        card.security_schemes[name].CopyFrom(scheme)
    return card


async def _skills_of(agent: BaseAgent) -> list[dict[str, Any]]:
    tag, name, without = next((kind for cls, kind in _KINDS.items() if isinstance(agent, cls)), _OTHER)
    skills = [_skill(agent.name, name, agent.description or without, tag)]
    if not isinstance(agent, LlmAgent):
        told = [f"{sub_agent.name}: {sub_agent.description or 'No description'}" for sub_agent in agent.sub_agents]
        orchestration = _skill(f"{agent.name}-sub-agents", "sub-agents", "Orchestrates: " + "; ".join(told), tag, "orchestration")
        return [*skills, orchestration] if told else skills
    for tool in await _tools_of(agent):
        if isinstance(tool, ExampleTool):
            examples = tool.examples if isinstance(tool.examples, list) else []
            skills[0].setdefault("examples", ["\n".join(part.text for part in one.input.parts or [] if part.text) for one in examples])
        else:
            skills.append(_skill(f"{agent.name}-{tool.name}", tool.name, tool.description or "", "llm", "tools"))
    if agent.planner:
        skills.append(_skill(f"{agent.name}-planner", "planning", "Can think about the tasks to do and make plans", "llm", "planning"))
    if agent.code_executor:
        skills.append(_skill(f"{agent.name}-code-executor", "code-execution", "Can execute code", "llm", "code_execution"))
    return skills


def _skill(identifier: str, name: str, description: str, *tags: str) -> dict[str, Any]:
    return {"id": identifier, "name": name, "description": description, "tags": list(tags)}


async def _tools_of(agent: LlmAgent) -> list[BaseTool]:
    """Return the tools that can be named; a toolset whose server is absent has none."""
    tools: list[BaseTool] = []
    for one in agent.tools:
        if isinstance(one, BaseToolset):
            try:
                tools += await one.get_tools_with_prefix()
            except Exception as error:  # of any toolset; the agent is served without these in its card
                logger.warning("The card of %s does not name the tools of %s: %s", agent.name, type(one).__name__, error)
        else:
            tools.append(one if isinstance(one, BaseTool) else FunctionTool(one))
    return tools
