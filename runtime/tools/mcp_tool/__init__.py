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

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.tools.mcp_tool.mcp_session_manager": "SseConnectionParams StdioConnectionParams StreamableHTTPConnectionParams",
        "runtime.tools.mcp_tool.mcp_tool": "MCPTool McpTool",
        "runtime.tools.mcp_tool.mcp_toolset": "MCPToolset McpToolset",
    },
)
