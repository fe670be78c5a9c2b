"""An outline of an agent tree that is in another process: names, kinds and instructions, without code.

What reads a stored session needs no more of the agents: the preflight of a resume, forks, and the question who wrote a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset

_KINDS: dict[str, type[BaseAgent]] = {
    "LlmAgent": LlmAgent,
    "Agent": LlmAgent,
    "SequentialAgent": SequentialAgent,
    "LoopAgent": LoopAgent,
    "ParallelAgent": ParallelAgent,
}


class _UnknownTools(BaseToolset):
    """A toolset, whose tools are known in a run only."""

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return nothing."""
        return []


def agent_outline(described: Mapping[str, Any]) -> BaseAgent:
    """Return agents with the names and kinds of a description; see `AgentDescription.root`.

    An agent of a kind that is not known here, such as a custom agent or a graph's node, becomes a `BaseAgent`. An agent whose name no agent
    can have here is left out, with those below it.
    """
    return _outline(described) or BaseAgent(name="agent")


def _outline(described: Mapping[str, Any]) -> BaseAgent | None:
    kind = _KINDS.get(str(described.get("type")), BaseAgent)
    fields: dict[str, Any] = {"name": str(described.get("name")), "description": str(described.get("description") or "")}
    if kind is LlmAgent:
        fields["tools"] = [_tool(str(name)) for name in described.get("tools") or ()]
        fields |= {name: _text(told) for name, told in (described.get("texts") or {}).items() if name in LlmAgent.model_fields}
    below = [found for one in described.get("sub_agents") or () if (found := _outline(one)) is not None]
    try:
        return kind(**fields, sub_agents=below)
    except (ValidationError, ValueError):  # two agents of one name, or a name with a space
        return None


def _text(told: Any) -> Any:
    """Return what an agent's author wrote; for a function, one that returns nothing."""
    return (lambda context: "") if isinstance(told, Mapping) and "function" in told else told


def _tool(name: str) -> BaseTool | BaseToolset:
    return _UnknownTools() if name.endswith(("Toolset", "ToolSet")) else BaseTool(name=name, description="")
