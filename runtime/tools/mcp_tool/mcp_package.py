"""The package `mcp`, version 1 or 2: what the two name differently.

An environment with google-adk often has version 1, because other packages of its agents need it.
"""

from __future__ import annotations

import importlib
from datetime import timedelta
from importlib import metadata
from typing import Any

import mcp
from mcp import types

MAJOR = int(metadata.version("mcp").split(".")[0])

MCPError: type[Exception] = mcp.MCPError if MAJOR > 1 else getattr(mcp, "McpError")  # noqa: B009  # unknown to version 2

# The HTTP library: httpx2 for version 2.
http: Any = importlib.import_module("httpx2" if MAJOR > 1 else "httpx")

_TIMEOUT = types.REQUEST_TIMEOUT if MAJOR > 1 else 408  # version 1 uses HTTP's status
_TERMINATED = "Session terminated"  # the message when a server, started again perhaps, does not know the session
_OLD_NAMES = {"input_schema": "inputSchema", "mime_type": "mimeType", "next_cursor": "nextCursor", "output_schema": "outputSchema"}


def field(model: Any, name: str) -> Any:
    """Return a field of one of the protocol's objects.

    Args:
        model: the object.
        name: the field's name in version 2, such as `input_schema`.
    """
    return getattr(model, name if MAJOR > 1 else _OLD_NAMES[name])


def is_timeout(error: Any) -> bool:
    """Return whether an `MCPError` says that the server did not answer in time."""
    return bool(error.error.code == _TIMEOUT)


def is_end(error: Any) -> bool:
    """Return whether an `MCPError` says that the connection has ended."""
    return bool(error.error.code == types.CONNECTION_CLOSED or error.error.message == _TERMINATED)


def read_timeout(seconds: float) -> Any:
    """Return a time as `ClientSession` takes it.

    Args:
        seconds: the longest time to wait for an answer.
    """
    return seconds if MAJOR > 1 else timedelta(seconds=seconds)
