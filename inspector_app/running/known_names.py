"""The names in an agent tree, and conditions with unknown names. No Qt.

A condition on an unknown tool or argument is valid but never true, so the user is warned while typing.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runtime.events.marks import ASKING_CALLS, SET_ANSWER_CALL, TRANSFER_CALL
from runtime.expressions import Expression
from runtime.expressions.parser import Mention
from runtime.history.agent_tree import AgentTree
from runtime.support.json_schema import parameters_schema
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.agents import llm_agent
    from runtime.agents.base_agent import BaseAgent
    from runtime.tools import agent_tool, base_tool, base_toolset, function_tool
else:
    llm_agent = lazy_module("runtime.agents.llm_agent")
    agent_tool = lazy_module("runtime.tools.agent_tool")
    base_tool = lazy_module("runtime.tools.base_tool")
    base_toolset = lazy_module("runtime.tools.base_toolset")
    function_tool = lazy_module("runtime.tools.function_tool")

_CALL_FIELDS = ("args", "id", "name")
_ADDED_TOOLS = ASKING_CALLS | {TRANSFER_CALL, SET_ANSWER_CALL}  # calls that the runtime adds to an agent's tools
_MOST = 12  # names listed in a warning


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names in an agent tree.

    Attributes:
        agents: names of the agents.
        tools: tool → its arguments; None if they are unknown.
        all_tools: whether `tools` is complete; False with a toolset, whose tools are known only while the agent runs.
    """

    agents: Collection[str] = ()
    tools: Mapping[str, Collection[str] | None] = field(default_factory=dict)
    all_tools: bool = False


def names_of(root: BaseAgent) -> KnownNames:
    """Return the names of an agent and all agents below it, including those called as tools."""
    agents = list(_agents(root))
    tools: dict[str, Collection[str] | None] = {}
    has_toolset = False
    for agent in agents:
        for given in agent.tools if isinstance(agent, llm_agent.LlmAgent) else ():
            if isinstance(given, base_toolset.BaseToolset):
                has_toolset = True
                continue
            tool = given if isinstance(given, base_tool.BaseTool) else function_tool.FunctionTool(given)
            arguments = _arguments(tool)
            known = tools.get(tool.name, ())
            tools[tool.name] = None if arguments is None or known is None else [*known, *arguments]
    return KnownNames([agent.name for agent in agents], tools, not has_toolset)


def unknown_name(expression: Expression, known: KnownNames) -> str:
    """Return a sentence about a name in a condition that the agent does not have; empty if all are known.

    Args:
        expression: the condition.
        known: the agent's names.
    """
    return next(filter(None, (_unknown(mention, known) for mention in expression.mentions)), "")


def unknown_tool(name: str, known: KnownNames) -> str:
    """Return a sentence that the agent does not have the tool; empty if it has or may have it."""
    if not known.all_tools or name in known.tools or name in _ADDED_TOOLS:
        return ""
    return f"This agent has no tool `{name}`{_instead(name, known.tools, 'its tools are', 'it has none')}"


def _unknown(mention: Mention, known: KnownNames) -> str:
    if mention.name == "author" and mention.steps:
        author = mention.steps[0]
        if not known.agents or author in known.agents or author in ("user", "system"):
            return ""
        return f"There is no author `{author}`{_instead(str(author), [*known.agents, 'user'], 'the authors are', '')}"
    if mention.name not in ("call", "response") or not mention.steps or not isinstance(mention.steps[0], str):
        return ""
    tool, *rest = mention.steps
    if unknown := unknown_tool(str(tool), known):
        return unknown
    if mention.name == "response" or not rest or not isinstance(rest[0], str):
        return ""
    if rest[0] not in _CALL_FIELDS:
        return f"A call has `args`, `id` and `name`; write an argument as call.{tool}.args.{rest[0]}"
    arguments = known.tools.get(str(tool))
    if rest[0] != "args" or len(rest) < 2 or not isinstance(rest[1], str) or arguments is None or rest[1] in arguments:
        return ""
    return f"`{tool}` has no argument `{rest[1]}`{_instead(rest[1], arguments, 'it takes', 'it takes none')}"


def _instead(name: str, there: Collection[str], lists: str, none: str) -> str:
    if not there:
        return f"; {none}."
    near = difflib.get_close_matches(name, list(there), 1)
    listed = ", ".join(sorted(dict.fromkeys(there))[:_MOST]) + (", …" if len(there) > _MOST else "")
    return f"; did you mean `{near[0]}`? ({lists.capitalize()} {listed}.)" if near else f"; {lists} {listed}."


def _agents(root: AgentTree) -> Iterator[AgentTree]:
    for agent in (root, *root.descendants()):
        yield agent
        for tool in agent.tools if isinstance(agent, llm_agent.LlmAgent) else ():
            if isinstance(tool, agent_tool.AgentTool):
                yield from _agents(tool.agent)


def _arguments(tool: base_tool.BaseTool) -> Collection[str] | None:
    try:
        declaration = tool._get_declaration()
    except Exception:  # user code may raise anything; the model's request will report it
        return None
    if declaration is None:
        return None
    properties = parameters_schema(declaration).get("properties")
    return list(properties) if isinstance(properties, dict) else None
