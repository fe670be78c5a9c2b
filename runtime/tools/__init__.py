"""Tools that agents can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.auth.auth_tool import AuthToolArguments
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

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.auth.auth_tool": "AuthToolArguments",
        "runtime.contexts.context": "ToolContext",
        "runtime.tools.agent_tool": "AgentTool",
        "runtime.tools.base_tool": "BaseTool",
        "runtime.tools.base_toolset": "BaseToolset",
        "runtime.tools.enterprise_search_tool": "enterprise_web_search=enterprise_web_search_tool",
        "runtime.tools.exit_loop_tool": "exit_loop",
        "runtime.tools.function_tool": "FunctionTool",
        "runtime.tools.get_user_choice_tool": "get_user_choice=get_user_choice_tool",
        "runtime.tools.google_maps_grounding_tool": "google_maps_grounding",
        "runtime.tools.google_search_tool": "google_search",
        "runtime.tools.load_artifacts_tool": "load_artifacts=load_artifacts_tool",
        "runtime.tools.load_memory_tool": "load_memory=load_memory_tool",
        "runtime.tools.long_running_tool": "LongRunningFunctionTool",
        "runtime.tools.mcp_tool.mcp_toolset": "MCPToolset McpToolset",
        "runtime.tools.preload_memory_tool": "preload_memory=preload_memory_tool",
        "runtime.tools.request_input_tool": "request_input",
        "runtime.tools.transfer_to_agent_tool": "TransferToAgentTool transfer_to_agent",
        "runtime.tools.url_context_tool": "url_context",
        "runtime.tools.vertex_ai_search_tool": "VertexAiSearchTool",
    },
)
