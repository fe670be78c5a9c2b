"""Tools of MCP servers (the extra `mcp`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.errors.missing_package_error import require
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.tools.mcp_tool.mcp_session_manager import (
        SseConnectionParams,
        StdioConnectionParams,
        StreamableHTTPConnectionParams,
    )
    from runtime.tools.mcp_tool.mcp_tool import MCPTool, McpTool
    from runtime.tools.mcp_tool.mcp_toolset import MCPToolset, McpToolset

require("mcp", "mcp", "MCP tools", oldest="1.24")

__all__ = [
    "MCPTool",
    "MCPToolset",
    "McpTool",
    "McpToolset",
    "SseConnectionParams",
    "StdioConnectionParams",
    "StreamableHTTPConnectionParams",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "MCPTool": "runtime.tools.mcp_tool.mcp_tool",
        "MCPToolset": "runtime.tools.mcp_tool.mcp_toolset",
        "McpTool": "runtime.tools.mcp_tool.mcp_tool",
        "McpToolset": "runtime.tools.mcp_tool.mcp_toolset",
        "SseConnectionParams": "runtime.tools.mcp_tool.mcp_session_manager",
        "StdioConnectionParams": "runtime.tools.mcp_tool.mcp_session_manager",
        "StreamableHTTPConnectionParams": "runtime.tools.mcp_tool.mcp_session_manager",
    },
)
