"""One tool of an MCP server."""

from __future__ import annotations

import asyncio
import inspect
import logging
import warnings
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from google.genai import types
from mcp.types import CallToolResult, Tool
from pydantic import BaseModel

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_headers import auth_headers
from runtime.auth.auth_schemes import AuthScheme
from runtime.auth.auth_tool import AuthConfig
from runtime.contexts.context import CallbackContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.errors.tool_error import ToolError
from runtime.events.marks import REQUEST_CALLS, SET_ANSWER_CALL, TRANSFER_CALL
from runtime.support.calling import call, call_bound, is_async
from runtime.tools.base_authenticated_tool import BaseAuthenticatedTool
from runtime.tools.confirmation import ask_for_confirmation
from runtime.tools.mcp_tool.mcp_connection import McpConnectionError
from runtime.tools.mcp_tool.mcp_package import MCPError, field, is_timeout
from runtime.tools.mcp_tool.mcp_session_manager import McpSession, MCPSessionManager

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

logger = logging.getLogger(__name__)

# A server's tool of such a name would be called in place of the runtime's own.
RESERVED_NAMES = frozenset({*REQUEST_CALLS, TRANSFER_CALL, SET_ANSWER_CALL})

_META = "_meta"
_SERVERS_OWN = frozenset({_META, "inputSchema", "outputSchema", "structuredContent"})  # fields whose content is not the protocol's

ProgressFnT: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
HeaderProvider: TypeAlias = Callable[[ReadonlyContext], dict[str, str] | Awaitable[dict[str, str]]]


@runtime_checkable
class ProgressCallbackFactory(Protocol):
    """A function that makes the progress callback of one call."""

    def __call__(self, tool_name: str, *, callback_context: CallbackContext | None = None, **kwargs: Any) -> ProgressFnT | None:
        """Return the callback; None for none.

        Args:
            tool_name: the tool that is called.
            callback_context: the call's context; the callback may write to its state.
            kwargs: more, in later versions.
        """


class McpTool(BaseAuthenticatedTool):
    """A tool that an MCP server runs.

    Args:
        mcp_tool: the tool as the server describes it.
        mcp_session_manager: connects to the server.
        auth_scheme, auth_credential: the service's security scheme and the credential, which is sent in a header; the user is asked for
            what is missing.
        require_confirmation: whether the user must approve each call, or a function of the arguments that returns this.
        header_provider: returns more HTTP headers for a run's requests.
        progress_callback: an async function that receives (progress, total, message) while the tool runs, or a
            `ProgressCallbackFactory`.

    Raises:
        ValueError: the tool has the name of one of the runtime's own.
    """

    def __init__(
        self,
        *,
        mcp_tool: Tool,
        mcp_session_manager: MCPSessionManager,
        auth_scheme: AuthScheme | None = None,
        auth_credential: AuthCredential | None = None,
        require_confirmation: bool | Callable[..., bool] = False,
        header_provider: HeaderProvider | None = None,
        progress_callback: ProgressFnT | ProgressCallbackFactory | None = None,
    ) -> None:
        if mcp_tool.name in RESERVED_NAMES:
            raise ValueError(f"The MCP server {mcp_session_manager.server} has a tool {mcp_tool.name!r}, which is the runtime's own name.")
        config = AuthConfig(auth_scheme=auth_scheme, raw_auth_credential=auth_credential) if auth_scheme else None
        super().__init__(name=mcp_tool.name, description=mcp_tool.description or "", auth_config=config)
        self._mcp_tool = mcp_tool
        self._mcp_session_manager = mcp_session_manager
        self._require_confirmation = require_confirmation
        self._header_provider = header_provider
        self._progress_callback = progress_callback

    @property
    def raw_mcp_tool(self) -> Tool:
        """The tool as the server describes it."""
        return self._mcp_tool

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=field(self._mcp_tool, "input_schema"),
            response_json_schema=field(self._mcp_tool, "output_schema"),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Call the tool; see `BaseTool.run_async`.

        Returns:
            The server's answer as JSON, with `content`, `isError` and, if it has one, `structuredContent`; or a dict with `error` if
            the call needs a confirmation.

        Raises:
            ToolError: the server cannot be reached, ended, did not answer in time, or refused the call.
        """
        if await self._needs_confirmation(args, tool_context) and (refusal := ask_for_confirmation(self.name, tool_context)):
            return {"error": refusal}
        return await super().run_async(args=args, tool_context=tool_context)

    async def _run_async_impl(self, *, args: dict[str, Any], tool_context: ToolContext, credential: AuthCredential | None) -> Any:
        context = ReadonlyContext(tool_context._invocation_context)
        server = self._mcp_session_manager.server
        try:
            session = await self._mcp_session_manager.create_session(await self._headers(tool_context, credential), context=context)
            result = await self._call(session, args, await self._progress_function(tool_context))
        except McpConnectionError as error:
            raise ToolError(str(error)) from error
        except MCPError as error:
            if is_timeout(error):
                raise ToolError(f"The MCP server {server} did not answer the call of {self._mcp_tool.name} in time.") from error
            raise ToolError(f"The MCP server {server} could not run {self._mcp_tool.name}: {error}") from error
        return as_json(result)

    async def _headers(self, tool_context: ToolContext, credential: AuthCredential | None) -> dict[str, str]:
        scheme = self._auth_config.auth_scheme if self._auth_config else None
        given = await provided_headers(self._header_provider, ReadonlyContext(tool_context._invocation_context))
        return merged_headers(given, auth_headers(credential, scheme))

    async def _needs_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        required = self._require_confirmation
        if not callable(required):
            return required
        given = {**args, "tool_context": tool_context}
        parameters = inspect.signature(required).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            given = {name: value for name, value in given.items() if name in parameters}
        return bool(await call_bound(tool_context._invocation_context.sync_calls, required, [], given))

    async def _progress_function(self, tool_context: ToolContext) -> ProgressFnT | None:
        given: Any = self._progress_callback
        if given is None or is_async(given):
            return given  # type: ignore[no-any-return]
        factory = call_bound(tool_context._invocation_context.sync_calls, given, [self.name], {"callback_context": tool_context})
        return await factory  # type: ignore[no-any-return]

    async def _call(self, session: McpSession, args: dict[str, Any], report: ProgressFnT | None) -> CallToolResult:
        name = self._mcp_tool.name
        if report is None:
            return await session.call(lambda client: client.call_tool(name, arguments=args))
        # The server's reports arrive on the connection's thread; the agent's function is called here.
        loop = asyncio.get_running_loop()
        reports: asyncio.Queue[tuple[float, float | None, str | None] | None] = asyncio.Queue()

        async def forward(progress: float, total: float | None, message: str | None) -> None:
            loop.call_soon_threadsafe(reports.put_nowait, (progress, total, message))

        outcome: CallToolResult | Exception
        async with asyncio.TaskGroup() as group:
            group.create_task(_report(report, reports, name))
            try:
                outcome = await session.call(lambda client: client.call_tool(name, arguments=args, progress_callback=forward))
            except Exception as error:  # raised below: the group would wrap it
                outcome = error
            finally:
                reports.put_nowait(None)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class MCPTool(McpTool):
    """The old name of `McpTool`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("MCPTool is the old name of McpTool.", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


def merged_headers(given: dict[str, str], auth: dict[str, str]) -> dict[str, str]:
    """Return a provider's headers with those of a credential, which take precedence."""
    taken = {name.lower() for name in auth}
    return {**{name: value for name, value in given.items() if name.lower() not in taken}, **auth}


async def provided_headers(provider: HeaderProvider | None, context: ReadonlyContext) -> dict[str, str]:
    """Return the headers of a provider, which may be sync or async; none if there is no provider."""
    if provider is None:
        return {}
    return dict(await call(context._invocation_context.sync_calls, provider, readonly_context=context) or {})


def as_json(model: BaseModel) -> dict[str, Any]:
    """Return one of the protocol's objects as JSON, with the names that google-adk gives its fields: those of the protocol, and `meta`."""
    dumped: dict[str, Any] = _with_meta(model.model_dump(mode="json", by_alias=True, exclude_none=True))
    dumped.pop("resultType", None)
    return dumped


def _with_meta(value: Any) -> Any:
    if isinstance(value, dict):
        return {"meta" if key == _META else key: item if key in _SERVERS_OWN else _with_meta(item) for key, item in value.items()}
    return [_with_meta(item) for item in value] if isinstance(value, list) else value


async def _report(function: ProgressFnT, reports: asyncio.Queue[tuple[float, float | None, str | None] | None], tool: str) -> None:
    while (report := await reports.get()) is not None:
        try:
            await function(*report)
        except Exception:  # a report is not worth the call's failure
            logger.exception("The progress callback of %s failed.", tool)
