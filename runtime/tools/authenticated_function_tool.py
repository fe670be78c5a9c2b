"""Functions that need a credential, as tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig
from runtime.support.calling import is_async
from runtime.tools.base_authenticated_tool import BaseAuthenticatedTool
from runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

_PARAMETER = "credential"


class AuthenticatedFunctionTool(FunctionTool):
    """Lets a model call a function that needs a credential, which its parameter `credential` receives. The model does not see it.

    The other arguments are those of `BaseAuthenticatedTool`.
    """

    def __init__(
        self,
        *,
        func: Callable[..., Any],
        auth_config: AuthConfig | None = None,
        response_for_auth_required: dict[str, Any] | str | None = None,
    ) -> None:
        super().__init__(func)
        self._login = _Login(self, auth_config, response_for_auth_required)

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        return _plain(self.func, None)._get_declaration()

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Get the credential and call the function; see `BaseTool.run_async`."""
        return await self._login.run_async(args=args, tool_context=tool_context)


class _Login(BaseAuthenticatedTool):
    """Gets the credential for the function."""

    def __init__(self, tool: FunctionTool, auth_config: AuthConfig | None, response: dict[str, Any] | str | None) -> None:
        super().__init__(name=tool.name, description=tool.description, auth_config=auth_config, response_for_auth_required=response)
        self._func = tool.func

    async def _run_async_impl(self, *, args: dict[str, Any], tool_context: ToolContext, credential: AuthCredential | None) -> Any:
        return await _plain(self._func, credential).run_async(args=args, tool_context=tool_context)


def _plain(func: Callable[..., Any], credential: AuthCredential | None) -> FunctionTool:
    """Return a tool of the function without its parameter for the credential."""
    signature = inspect.signature(func)
    if _PARAMETER not in signature.parameters:
        return FunctionTool(func)

    def called(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs, **{_PARAMETER: credential})

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await func(*args, **kwargs, **{_PARAMETER: credential})

    plain: Any = functools.wraps(func)(awaited if is_async(func) else called)
    kept = [parameter for name, parameter in signature.parameters.items() if name != _PARAMETER]
    plain.__signature__ = signature.replace(parameters=kept)
    return FunctionTool(plain)
