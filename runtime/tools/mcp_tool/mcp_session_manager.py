"""Connections to an MCP server: their parameters, and the connections of each run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeAlias, TypeVar, cast, runtime_checkable
from urllib.parse import urlsplit

from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client  # type: ignore[attr-defined]  # as google-adk imports it
from pydantic import BaseModel, ConfigDict

from runtime.tools.mcp_tool.mcp_connection import McpConnection, McpConnectionError
from runtime.tools.mcp_tool.mcp_package import MAJOR, http, read_timeout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx2

    from runtime.contexts.readonly_context import ReadonlyContext

T = TypeVar("T")

_DEFAULT_TIMEOUT = 5.0  # seconds
_SCRIPT = re.compile(r"^@[\w.-]+/[\w.@-]+$|\.(py|[cm]?js|ts)$")


@runtime_checkable
class CheckableMcpHttpClientFactory(Protocol):
    """A function that makes an HTTP client."""

    def __call__(
        self, headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        """Return a client, of httpx2; of httpx for version 1 of the package mcp."""


class StdioConnectionParams(BaseModel):
    """A server that is started as a process.

    Attributes:
        server_params: its command.
        timeout: seconds to wait for the handshake, and for each answer.
    """

    server_params: StdioServerParameters
    timeout: float = _DEFAULT_TIMEOUT


class _HttpParams(BaseModel):
    """A server at a URL.

    Attributes:
        headers: HTTP headers of all requests.
        timeout: seconds to wait for the connection and the handshake.
        sse_read_timeout: seconds to wait for each answer.
        httpx_client_factory: makes the HTTP client, of httpx2 (httpx with mcp 1), from `headers`, `timeout` and `auth`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    url: str
    headers: dict[str, Any] | None = None
    timeout: float = _DEFAULT_TIMEOUT
    sse_read_timeout: float = 60 * 5.0
    httpx_client_factory: CheckableMcpHttpClientFactory = create_mcp_http_client


class SseConnectionParams(_HttpParams):
    """A server at a URL, that of its event stream, that answers by server-sent events."""


class StreamableHTTPConnectionParams(_HttpParams):
    """A server at a URL that answers by the streamable HTTP transport.

    Attributes:
        terminate_on_close: whether to tell the server that the session has ended.
    """

    terminate_on_close: bool = True


SseServerParams = SseConnectionParams
StreamableHTTPServerParams = StreamableHTTPConnectionParams

ConnectionParams: TypeAlias = StdioServerParameters | StdioConnectionParams | SseConnectionParams | StreamableHTTPConnectionParams


class McpSession:
    """mcp's `ClientSession`, usable from any event loop: each of its methods runs on the connection's thread."""

    def __init__(self, connection: McpConnection) -> None:
        self._connection = connection

    async def call(self, function: Callable[[Any], Awaitable[T]]) -> T:
        """Call a function with the `ClientSession`; see `McpConnection.call`."""
        return await self._connection.call(function)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        """Return a method of the `ClientSession`."""

        async def forward(*args: Any, **kwargs: Any) -> Any:
            return await self._connection.call(lambda session: getattr(session, name)(*args, **kwargs))

        if name.startswith("_"):
            raise AttributeError(name)
        return forward


class MCPSessionManager:
    """Connects to a server when a session is first needed, and again after a connection has ended.

    The connections that a run opened are closed when the run ends; the others by `close`. There is one for each set of headers.

    Args:
        connection_params: how to connect.
        errlog: where the process of a server writes its standard error.
        session_options: more arguments of mcp's `ClientSession`.

    Raises:
        ValueError: the parameters are of another type.
    """

    def __init__(
        self, connection_params: ConnectionParams, errlog: TextIO = sys.stderr, *, session_options: dict[str, Any] | None = None
    ) -> None:
        if isinstance(connection_params, StdioServerParameters):
            connection_params = StdioConnectionParams(server_params=connection_params)
        if not isinstance(connection_params, (StdioConnectionParams, SseConnectionParams, StreamableHTTPConnectionParams)):
            raise ValueError(
                f"A {type(connection_params).__name__} does not say how to reach an MCP server: use StdioConnectionParams,"
                " SseConnectionParams or StreamableHTTPConnectionParams."
            )
        self._params = connection_params
        self._errlog = errlog
        self._session_options = session_options or {}
        self._own: dict[Any, McpConnection] = {}

    @property
    def server(self) -> str:
        """The server, as messages name it: a program or a URL without its secrets."""
        if isinstance(self._params, StdioConnectionParams):
            server = self._params.server_params
            # Not all arguments: one of them may be a key.
            named = [arg for before, arg in pairwise(["", *server.args]) if before == "-m" or _SCRIPT.search(arg)]
            return " ".join([server.command, *named[:1]])
        url = urlsplit(self._params.url)
        return f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}{url.path}"

    @property
    def timeout(self) -> float:
        """Seconds until the server must have answered a request for its tools, prompts or resources."""
        return self._params.timeout

    async def create_session(self, headers: dict[str, str] | None = None, *, context: ReadonlyContext | None = None) -> McpSession:
        """Return an open session.

        Args:
            headers: more HTTP headers; they have no effect on a process.
            context: the run that the session belongs to; None: the session is open until `close`.

        Raises:
            McpConnectionError: the server cannot be reached, or does not answer in time.
        """
        merged = None if isinstance(self._params, StdioConnectionParams) else {**(self._params.headers or {}), **(headers or {})}
        pool: MutableMapping[Any, Any] = self._own if context is None else context._invocation_context.shared.resources
        key = (id(self), json.dumps(merged, sort_keys=True, default=str))
        connection = pool.get(key)
        if connection is None or connection.is_over:
            connection = pool[key] = self._connect(merged)
        await connection.opened()
        return McpSession(connection)

    async def close(self) -> None:
        """Close the connections that no run has opened."""
        while self._own:
            _, connection = self._own.popitem()
            await connection.close()

    def _connect(self, headers: dict[str, Any] | None) -> McpConnection:
        seconds = self._params.timeout if isinstance(self._params, StdioConnectionParams) else self._params.sse_read_timeout
        return McpConnection(
            self.server,
            lambda: self._transport(headers),
            timeout=self._params.timeout,
            session_options={"read_timeout_seconds": read_timeout(seconds), **self._session_options},
        )

    def _transport(self, headers: dict[str, Any] | None) -> AbstractAsyncContextManager[Any]:
        params = self._params
        if isinstance(params, StdioConnectionParams):
            return stdio_client(params.server_params, errlog=_writable(self._errlog))
        if isinstance(params, StreamableHTTPConnectionParams):
            return _streamable_http(params, headers)
        return sse_client(
            params.url,
            headers=headers,
            timeout=params.timeout,
            sse_read_timeout=params.sse_read_timeout,
            httpx_client_factory=partial(_client, params),
        )


@asynccontextmanager
async def _streamable_http(params: StreamableHTTPConnectionParams, headers: dict[str, Any] | None) -> AsyncGenerator[Any]:
    timeout = http.Timeout(params.timeout, read=params.sse_read_timeout)
    async with (
        _client(params, headers=headers, timeout=timeout) as client,
        streamable_http_client(params.url, http_client=client, terminate_on_close=params.terminate_on_close) as streams,
    ):
        yield streams


def _client(params: _HttpParams, **settings: Any) -> httpx2.AsyncClient:
    client = params.httpx_client_factory(**settings)
    if not isinstance(client, http.AsyncClient):
        given = f"{type(client).__module__}.{type(client).__name__}"
        raise McpConnectionError(f"its httpx_client_factory returned a {given}; mcp {MAJOR} needs {http.__name__}.AsyncClient")
    return cast("httpx2.AsyncClient", client)


def _writable(errlog: Any) -> Any:
    """Return a file that a process can write to: a window has none, and a test's may be in memory."""
    try:
        errlog.fileno()
    except (AttributeError, OSError, ValueError):
        return subprocess.DEVNULL
    return errlog
