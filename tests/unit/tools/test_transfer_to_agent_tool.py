"""Transfers to another agent."""

from __future__ import annotations

import pytest

from runtime.tools import FunctionTool, TransferToAgentTool, transfer_to_agent
from tests.unit.tools.tool_contexts import tool_context


async def test_transfer_sets_the_target_in_the_actions() -> None:
    context = tool_context()

    await FunctionTool(transfer_to_agent).run_async(args={"agent_name": "billing"}, tool_context=context)

    assert context.actions.transfer_to_agent == "billing"


@pytest.mark.rule("R11")
async def test_only_available_agents_are_accepted() -> None:
    tool = TransferToAgentTool(agent_names=["billing", "tech"])
    context = tool_context()

    declaration = tool._get_declaration()
    assert declaration and declaration.parameters and declaration.parameters.properties
    assert declaration.name == "transfer_to_agent"
    assert declaration.parameters.properties["agent_name"].enum == ["billing", "tech"]

    result = await tool.run_async(args={"agent_name": "sales"}, tool_context=context)
    assert "'sales'" in result["error"] and "billing, tech" in result["error"]
    assert context.actions.transfer_to_agent is None

    assert await tool.run_async(args={"agent_name": "tech"}, tool_context=context) is None
    assert context.actions.transfer_to_agent == "tech"
    assert "missing: agent_name." in (await tool.run_async(args={}, tool_context=context))["error"]


async def test_a_model_may_give_its_reason() -> None:
    context = tool_context()
    tool = TransferToAgentTool(["billing"], include_transfer_reason=True)
    declaration, plain = tool._get_declaration(), TransferToAgentTool(["billing"])._get_declaration()
    assert declaration and declaration.parameters and declaration.parameters.required == ["agent_name"]
    assert list(declaration.parameters.properties or ()) == ["agent_name", "transfer_reason"]
    assert plain and plain.parameters and list(plain.parameters.properties or ()) == ["agent_name"]
    assert plain.name == declaration.name == "transfer_to_agent"
    await tool.run_async(args={"agent_name": "billing", "transfer_reason": "an invoice"}, tool_context=context)
    assert (context.actions.transfer_to_agent, context.actions.transfer_reason) == ("billing", "an invoice")


def test_two_tools_do_not_share_their_agents() -> None:
    one, other = TransferToAgentTool(["a"]), TransferToAgentTool(["b"])
    one._get_declaration()

    declaration = other._get_declaration()
    assert declaration and declaration.parameters and declaration.parameters.properties
    assert declaration.parameters.properties["agent_name"].enum == ["b"]
