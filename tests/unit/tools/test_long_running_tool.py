"""Long-running function tools."""

from __future__ import annotations

from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.unit.tools.tool_contexts import tool_context


def order_report(topic: str) -> dict[str, str]:
    """Orders a report."""
    return {"ticket": topic}


async def test_a_long_running_tool_tells_the_model_not_to_call_it_again() -> None:
    tool = LongRunningFunctionTool(order_report)

    assert tool.is_long_running
    assert tool.description == "Orders a report."
    assert await tool.run_async(args={"topic": "snow"}, tool_context=tool_context()) == {"ticket": "snow"}
    declaration = tool._get_declaration()
    assert declaration and declaration.description
    assert declaration.description.startswith("Orders a report.\n\n")
    assert "do not call it again" in declaration.description


def test_the_same_function_as_an_ordinary_tool_is_not_marked() -> None:
    LongRunningFunctionTool(order_report)._get_declaration()

    declaration = FunctionTool(order_report)._get_declaration()
    assert declaration and declaration.description == "Orders a report."
    assert not FunctionTool(order_report).is_long_running


def test_without_a_docstring_the_description_is_the_note() -> None:
    def bare() -> None:
        return

    declaration = LongRunningFunctionTool(bare)._get_declaration()
    assert declaration and declaration.description and declaration.description.startswith("This takes long")
