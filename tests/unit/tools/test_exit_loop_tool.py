"""The tool that ends a loop."""

from __future__ import annotations

import pytest

from runtime.tools import FunctionTool, exit_loop
from tests.unit.tools.tool_contexts import tool_context


@pytest.mark.rule("R11")
async def test_exit_loop_escalates_and_skips_summarization() -> None:
    context = tool_context()
    tool = FunctionTool(exit_loop)

    assert await tool.run_async(args={}, tool_context=context) is None
    assert (context.actions.escalate, context.actions.skip_summarization) == (True, True)
    declaration = tool._get_declaration()
    assert declaration and (declaration.name, declaration.parameters) == ("exit_loop", None)
