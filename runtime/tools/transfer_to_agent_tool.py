"""The tool with which a model transfers to another agent."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.contexts.context import ToolContext
from runtime.tools.function_tool import FunctionTool


def transfer_to_agent(agent_name: str, tool_context: ToolContext, *, transfer_reason: str = "") -> None:
    """Hand the question over to another agent that is better suited to answer it.

    Args:
        agent_name: the name of that agent.
        transfer_reason: why that agent is better suited.
    """
    tool_context.actions.transfer_to_agent = agent_name
    tool_context.actions.transfer_reason = transfer_reason or None


def _without_reason(agent_name: str, tool_context: ToolContext) -> None:
    """Hand the question over to another agent that is better suited to answer it.

    Args:
        agent_name: the name of that agent.
    """
    transfer_to_agent(agent_name, tool_context)


_without_reason.__name__ = transfer_to_agent.__name__  # the name that models call


class TransferToAgentTool(FunctionTool):
    """`transfer_to_agent` with the names of the available agents in its declaration.

    Args:
        agent_names: the available agents.
        include_transfer_reason: the model also gives its reason, which becomes `actions.transfer_reason`.
    """

    def __init__(self, agent_names: list[str], include_transfer_reason: bool = False) -> None:
        super().__init__(transfer_to_agent if include_transfer_reason else _without_reason)
        self.agent_names = agent_names

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        declaration = super()._get_declaration()
        if declaration and declaration.parameters and declaration.parameters.properties:
            properties = declaration.parameters.properties
            properties["agent_name"] = properties["agent_name"].model_copy(update={"enum": list(self.agent_names)})
        return declaration

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Transfer; the name of an unavailable agent is reported to the model."""
        name = args.get("agent_name")
        if name is not None and name not in self.agent_names:
            return {"error": f"There is no agent {name!r} to hand over to. Choose one of: {', '.join(self.agent_names)}."}
        return await super().run_async(args=args, tool_context=tool_context)
