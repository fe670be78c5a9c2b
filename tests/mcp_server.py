"""An MCP server for tests, over stdio or HTTP: `python -m tests.mcp_server TRANSPORT [PORT]`.

Its tools tell, for the tests, which process answers, which headers arrived, and how often it was called.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("shop", log_level="CRITICAL")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def process() -> int:
    """Return the server's process."""
    return os.getpid()


@server.tool()
def header(name: str, ctx: Context) -> str:
    """Return a header of the request."""
    return str((ctx.headers or {}).get(name))


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Report progress."""
    for number in range(to):
        await ctx.report_progress(number + 1, to, f"step {number + 1}")
    return "counted"


@server.tool()
async def hang() -> None:
    """Never answer."""
    await asyncio.Event().wait()


@server.tool()
def die() -> None:
    """End the process."""
    os._exit(3)


@server.tool()
def fail() -> None:
    """Fail."""
    raise ValueError("no stock")


@server.tool(name="transfer_to_agent")
def transfer() -> None:
    """Have a name that is the runtime's own."""


@server.prompt()
def greeting(customer: str) -> str:
    """Greet."""
    return f"Greet {customer} politely."


@server.resource("shop://prices", name="prices")
def prices() -> str:
    """Return the prices."""
    return "tea: 3"


if __name__ == "__main__":
    transport = sys.argv[1]
    settings = {} if transport == "stdio" else {"port": int(sys.argv[2])}
    server.run(transport, **settings)  # type: ignore[arg-type]
