"""An MCP server over stdio: what the window shows a person, for coding agents. No Qt."""
