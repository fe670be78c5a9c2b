"""The names that `runtime.tools` exports."""

from __future__ import annotations

import importlib

import pytest

import runtime.tools


@pytest.mark.parametrize("name", runtime.tools.__all__)
def test_every_exported_name_exists(name: str) -> None:
    exported = getattr(runtime.tools, name)
    if name != "ToolContext":  # another name for `Context`
        assert getattr(exported, "__name__", None) == name or exported.name in (name, f"adk_{name}", name.removesuffix("_grounding"))


def test_google_adks_deep_paths() -> None:
    for path, name in {
        "function_tool": "FunctionTool",
        "long_running_tool": "LongRunningFunctionTool",
        "exit_loop_tool": "exit_loop",
        "transfer_to_agent_tool": "transfer_to_agent",
        "tool_context": "ToolContext",
        "base_tool": "BaseTool",
    }.items():
        assert getattr(importlib.import_module(f"runtime.tools.{path}"), name) is getattr(runtime.tools, name)
