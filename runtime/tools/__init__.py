"""Tools that agents can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.tools.agent_tool import AgentTool
    from runtime.tools.base_tool import BaseTool
    from runtime.tools.base_toolset import BaseToolset
    from runtime.tools.enterprise_search_tool import enterprise_web_search_tool as enterprise_web_search
    from runtime.tools.exit_loop_tool import exit_loop
    from runtime.tools.function_tool import FunctionTool
    from runtime.tools.get_user_choice_tool import get_user_choice_tool as get_user_choice
    from runtime.tools.google_maps_grounding_tool import google_maps_grounding
    from runtime.tools.google_search_tool import google_search
    from runtime.tools.load_artifacts_tool import load_artifacts_tool as load_artifacts
    from runtime.tools.load_memory_tool import load_memory_tool as load_memory
    from runtime.tools.long_running_tool import LongRunningFunctionTool
    from runtime.tools.mcp_tool.mcp_toolset import MCPToolset, McpToolset
    from runtime.tools.preload_memory_tool import preload_memory_tool as preload_memory
    from runtime.tools.request_input_tool import request_input
    from runtime.tools.transfer_to_agent_tool import TransferToAgentTool, transfer_to_agent
    from runtime.tools.url_context_tool import url_context
    from runtime.tools.vertex_ai_search_tool import VertexAiSearchTool

__all__ = [
    "AgentTool",
    "BaseTool",
    "BaseToolset",
    "FunctionTool",
    "LongRunningFunctionTool",
    "MCPToolset",
    "McpToolset",
    "ToolContext",
    "TransferToAgentTool",
    "VertexAiSearchTool",
    "enterprise_web_search",
    "exit_loop",
    "get_user_choice",
    "google_maps_grounding",
    "google_search",
    "load_artifacts",
    "load_memory",
    "preload_memory",
    "request_input",
    "transfer_to_agent",
    "url_context",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AgentTool": "runtime.tools.agent_tool",
        "BaseTool": "runtime.tools.base_tool",
        "BaseToolset": "runtime.tools.base_toolset",
        "FunctionTool": "runtime.tools.function_tool",
        "LongRunningFunctionTool": "runtime.tools.long_running_tool",
        "MCPToolset": "runtime.tools.mcp_tool.mcp_toolset",
        "McpToolset": "runtime.tools.mcp_tool.mcp_toolset",
        "ToolContext": "runtime.contexts.context",
        "TransferToAgentTool": "runtime.tools.transfer_to_agent_tool",
        "VertexAiSearchTool": "runtime.tools.vertex_ai_search_tool",
        "enterprise_web_search": "runtime.tools.enterprise_search_tool:enterprise_web_search_tool",
        "exit_loop": "runtime.tools.exit_loop_tool",
        "get_user_choice": "runtime.tools.get_user_choice_tool:get_user_choice_tool",
        "google_maps_grounding": "runtime.tools.google_maps_grounding_tool",
        "google_search": "runtime.tools.google_search_tool",
        "load_artifacts": "runtime.tools.load_artifacts_tool:load_artifacts_tool",
        "load_memory": "runtime.tools.load_memory_tool:load_memory_tool",
        "preload_memory": "runtime.tools.preload_memory_tool:preload_memory_tool",
        "request_input": "runtime.tools.request_input_tool",
        "transfer_to_agent": "runtime.tools.transfer_to_agent_tool",
        "url_context": "runtime.tools.url_context_tool",
    },
)
