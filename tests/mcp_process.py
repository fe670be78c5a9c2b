"""The smallest MCP server over stdio, without the package `mcp`, whose import takes most of a server's start: `python mcp_process.py`.

Its tools are `process`, which returns its process id, `die` and `hang`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    if method == "initialize":
        about = {"name": "process", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("process", "die", "hang")]}
    if params["name"] == "die":
        os._exit(3)
    return {"content": [{"type": "text", "text": str(os.getpid())}]}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and request.get("params", {}).get("name") != "hang":
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result_of(request["method"], request.get("params", {}))}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
