"""Tools that need a credential."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.credential_manager import CredentialManager
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

PENDING = "Pending User Authorization."  # the model's answer while the user is asked


class BaseAuthenticatedTool(BaseTool):
    """A tool whose `_run_async_impl` gets a credential. If there is none, the user is asked, and the call is run again with the answer.

    Args:
        name, description: see `BaseTool`.
        auth_config: the request for the credential; without it, none is needed.
        response_for_auth_required: the call's result while the user is asked.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        auth_config: AuthConfig | None = None,
        response_for_auth_required: dict[str, Any] | str | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self._auth_config = auth_config
        self._credentials_manager = CredentialManager(auth_config) if auth_config is not None else None
        self._response_for_auth_required = response_for_auth_required

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Get the credential and run the tool; see `BaseTool.run_async`."""
        credential = None
        if self._credentials_manager is not None:
            credential = await self._credentials_manager.get_auth_credential(tool_context)
            if credential is None:
                await self._credentials_manager.request_credential(tool_context)
                return self._response_for_auth_required or PENDING
        return await self._run_async_impl(args=args, tool_context=tool_context, credential=credential)

    @abstractmethod
    async def _run_async_impl(self, *, args: dict[str, Any], tool_context: ToolContext, credential: AuthCredential | None) -> Any:
        """Run the tool with its credential, which is None if it needs none; see `BaseTool.run_async`."""
