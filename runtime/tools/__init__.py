"""What agents can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.agents.tool_context import ToolContext
    from runtime.tools.agent_tool import AgentTool
    from runtime.tools.base_tool import BaseTool
    from runtime.tools.exit_loop_tool import exit_loop
    from runtime.tools.function_tool import FunctionTool
    from runtime.tools.long_running_tool import LongRunningFunctionTool
    from runtime.tools.transfer_to_agent_tool import TransferToAgentTool, transfer_to_agent

__all__ = [
    "AgentTool",
    "BaseTool",
    "FunctionTool",
    "LongRunningFunctionTool",
    "ToolContext",
    "TransferToAgentTool",
    "exit_loop",
    "transfer_to_agent",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AgentTool": "runtime.tools.agent_tool",
        "BaseTool": "runtime.tools.base_tool",
        "FunctionTool": "runtime.tools.function_tool",
        "LongRunningFunctionTool": "runtime.tools.long_running_tool",
        "ToolContext": "runtime.agents.tool_context",
        "TransferToAgentTool": "runtime.tools.transfer_to_agent_tool",
        "exit_loop": "runtime.tools.exit_loop_tool",
        "transfer_to_agent": "runtime.tools.transfer_to_agent_tool",
    },
)
