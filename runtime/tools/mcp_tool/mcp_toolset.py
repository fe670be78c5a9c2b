"""The tools of an MCP server."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from mcp.types import ListResourcesResult, PaginatedRequestParams, Resource, Tool

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_headers import auth_headers
from runtime.auth.auth_schemes import as_scheme
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.credential_manager import CredentialManager
from runtime.contexts.context import Context
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset, ToolPredicate
from runtime.tools.load_mcp_resource_tool import LoadMcpResourceTool
from runtime.tools.mcp_tool.mcp_connection import McpConnectionEndedError, McpConnectionError
from runtime.tools.mcp_tool.mcp_package import MCPError, field, is_timeout
from runtime.tools.mcp_tool.mcp_session_manager import (
    ConnectionParams,
    MCPSessionManager,
)
from runtime.tools.mcp_tool.mcp_tool import (
    RESERVED_NAMES,
    HeaderProvider,
    McpTool,
    ProgressCallbackFactory,
    ProgressFnT,
    as_json,
    merged_headers,
    provided_headers,
)

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT, SamplingFnT
    from mcp.types import SamplingCapability

    from runtime.contexts.readonly_context import ReadonlyContext

logger = logging.getLogger(__name__)

T = TypeVar("T")


class McpToolset(BaseToolset):
    """The tools of an MCP server, which is asked for them before each model call.

    A run connects to the server when it first needs a tool, and ends the connection, and the server's process, when it ends.

    Args:
        connection_params: how to connect: `StdioConnectionParams` or mcp's `StdioServerParameters` for a process,
            `SseConnectionParams` or `StreamableHTTPConnectionParams` for a URL.
        tool_filter: the names of the tools to offer, or a predicate of tool and context; all tools if None.
        tool_name_prefix: prepended to the tools' names, with an underscore.
        errlog: where a server's process writes its standard error.
        auth_scheme, auth_credential: the service's security scheme and the credential, which is sent in a header. The user is asked for
            what is missing before the tools are listed.
        require_confirmation: whether the user must approve each call, or a function of the arguments that returns this.
        header_provider: a sync or async function of the context that returns more HTTP headers.
        progress_callback: an async function that receives (progress, total, message) while a tool runs, or a
            `ProgressCallbackFactory` that returns one for each call.
        use_mcp_resources: also offer the server's resources, with the tool `load_mcp_resource`.
        tool_list_cache_ttl_seconds: use the server's list of tools again for this time; None: ask before each model call.
        sampling_callback, sampling_capabilities, elicitation_callback: see mcp's `ClientSession`; called on the connection's thread.
    """

    def __init__(
        self,
        *,
        connection_params: ConnectionParams,
        tool_filter: ToolPredicate | list[str] | None = None,
        tool_name_prefix: str | None = None,
        errlog: TextIO = sys.stderr,
        auth_scheme: Any | None = None,
        auth_credential: AuthCredential | None = None,
        require_confirmation: bool | Callable[..., bool] = False,
        header_provider: HeaderProvider | None = None,
        progress_callback: ProgressFnT | ProgressCallbackFactory | None = None,
        use_mcp_resources: bool | None = False,
        tool_list_cache_ttl_seconds: float | None = None,
        sampling_callback: SamplingFnT | None = None,
        sampling_capabilities: SamplingCapability | None = None,
        elicitation_callback: ElicitationFnT | None = None,
    ) -> None:
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        if not connection_params:
            raise ValueError("McpToolset needs connection_params, which say how to reach the server.")
        if tool_list_cache_ttl_seconds is not None and tool_list_cache_ttl_seconds <= 0:
            raise ValueError(f"tool_list_cache_ttl_seconds must be positive, not {tool_list_cache_ttl_seconds}.")
        self.connection_params = connection_params
        self.errlog = errlog
        self.auth_scheme = as_scheme(auth_scheme) if auth_scheme else None
        self.auth_credential = auth_credential
        self.require_confirmation = require_confirmation
        self.header_provider = header_provider
        self._progress_callback = progress_callback
        self._use_mcp_resources = use_mcp_resources
        self._cache_seconds = tool_list_cache_ttl_seconds
        self._cached: dict[tuple[tuple[str, str], ...], tuple[float, list[Tool]]] = {}
        callbacks = {
            "sampling_callback": sampling_callback,
            "sampling_capabilities": sampling_capabilities,
            "elicitation_callback": elicitation_callback,
        }
        given = {name: value for name, value in callbacks.items() if value is not None}
        self._mcp_session_manager = MCPSessionManager(connection_params, errlog, session_options=given)

    def get_auth_config(self) -> AuthConfig | None:
        """See `BaseToolset.get_auth_config`."""
        return AuthConfig(auth_scheme=self.auth_scheme, raw_auth_credential=self.auth_credential) if self.auth_scheme else None

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the server's tools.

        Args:
            readonly_context: the run that connects to the server; None: the connection is open until `close`.

        Raises:
            McpConnectionError: the server cannot be reached, or does not answer in time.
        """
        tools: list[BaseTool] = []
        for described in await self._tools(await self._headers(readonly_context), readonly_context):
            if described.name in RESERVED_NAMES:
                logger.info(
                    "The tool %s of the MCP server %s is left out: the name is the runtime's own.",
                    described.name,
                    self._mcp_session_manager.server,
                )
                continue
            tool = self._tool(described)
            if self._is_tool_selected(tool, readonly_context):
                tools.append(tool)
        return [*tools, LoadMcpResourceTool(self)] if self._use_mcp_resources else tools

    def _tool(self, described: Tool) -> McpTool:
        return McpTool(
            mcp_tool=described,
            mcp_session_manager=self._mcp_session_manager,
            auth_scheme=self.auth_scheme,
            auth_credential=self.auth_credential,
            require_confirmation=self.require_confirmation,
            header_provider=self.header_provider,
            progress_callback=self._progress_callback,
        )

    async def _tools(self, headers: dict[str, str], context: ReadonlyContext | None) -> list[Tool]:
        key = tuple(sorted(headers.items()))
        at, tools = self._cached.get(key, (0.0, []))
        if self._cache_seconds is not None and tools and time.monotonic() - at < self._cache_seconds:
            return tools
        pages = await self._ask(_all_tools, "list its tools", headers, context)
        if self._cache_seconds is not None:
            self._cached[key] = time.monotonic(), pages
        return pages

    async def list_resources(self, readonly_context: ReadonlyContext | None = None) -> list[str]:
        """Return the names of the server's resources."""
        return [resource.name for resource in await self._resources(readonly_context)]

    async def get_resource_info(self, name: str, readonly_context: ReadonlyContext | None = None) -> dict[str, Any]:
        """Return what the server says about a resource, such as `uri` and `mimeType`.

        Raises:
            ValueError: there is none of that name.
        """
        for resource in await self._resources(readonly_context):
            if resource.name == name:
                return as_json(resource)
        raise ValueError(f"The MCP server {self._mcp_session_manager.server} has no resource {name!r}.")

    async def read_resource(self, name: str, readonly_context: ReadonlyContext | None = None) -> list[Any]:
        """Return the contents of a resource, as mcp's objects with `text` or `blob`.

        Raises:
            ValueError: there is none of that name.
        """
        uri = (await self.get_resource_info(name, readonly_context))["uri"]
        headers = await self._headers(readonly_context)
        return list((await self._ask(lambda client: client.read_resource(uri), f"read {name}", headers, readonly_context)).contents)

    async def close(self) -> None:
        """Close the connections that no run has opened."""
        await self._mcp_session_manager.close()

    async def _resources(self, context: ReadonlyContext | None) -> list[Resource]:
        found: ListResourcesResult = await self._ask(
            lambda client: client.list_resources(), "list its resources", await self._headers(context), context
        )
        return found.resources

    async def _headers(self, context: ReadonlyContext | None) -> dict[str, str]:
        given = await provided_headers(self.header_provider, context) if context is not None else {}
        return merged_headers(given, auth_headers(await self._credential(context), self.auth_scheme))

    async def _credential(self, context: ReadonlyContext | None) -> AuthCredential | None:
        """Return the credential if it needs no user, or was given before."""
        config = self.get_auth_config()
        if config is None or context is None:
            return None
        return await CredentialManager(config).get_auth_credential(Context(context._invocation_context))

    async def _ask(self, function: Callable[[Any], Awaitable[T]], what: str, headers: dict[str, str], context: ReadonlyContext | None) -> T:
        """Call a function with the session, and once more on a new connection if the old one has ended."""
        try:
            return await self._ask_once(function, what, headers, context)
        except McpConnectionEndedError:
            return await self._ask_once(function, what, headers, context)

    async def _ask_once(
        self, function: Callable[[Any], Awaitable[T]], what: str, headers: dict[str, str], context: ReadonlyContext | None
    ) -> T:
        manager = self._mcp_session_manager
        session = await manager.create_session(headers, context=context)
        try:
            return await session.call(function)
        except MCPError as error:
            if is_timeout(error):
                raise McpConnectionError(f"The MCP server {manager.server} did not {what} in time.") from error
            raise McpConnectionError(f"The MCP server {manager.server} could not {what}: {error}") from error


class MCPToolset(McpToolset):
    """The old name of `McpToolset`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("MCPToolset is the old name of McpToolset.", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


async def _all_tools(client: Any) -> list[Tool]:
    tools: list[Tool] = []
    cursor = None
    while True:
        page = await client.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        tools += page.tools
        cursor = field(page, "next_cursor")
        if not cursor:
            return tools
