"""The read-only context passed to instruction providers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from runtime.auth.auth_credential import AuthCredential
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.contexts.run_config import RunConfig
    from runtime.sessions.session import Session


class ReadonlyContext:
    """A read-only view of a running invocation."""

    def __init__(self, invocation_context: InvocationContext) -> None:
        self._invocation_context = invocation_context

    @property
    def user_content(self) -> types.Content | None:
        """The message that began the invocation."""
        return self._invocation_context.user_content

    @property
    def invocation_id(self) -> str:
        """The invocation's id."""
        return self._invocation_context.invocation_id

    @property
    def agent_name(self) -> str:
        """The name of the agent that is running; `unknown` if none is."""
        name: str = getattr(self._invocation_context.agent, "name", None) or "unknown"
        return name

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self._invocation_context.user_id

    @property
    def run_config(self) -> RunConfig | None:
        """The settings of this run."""
        return self._invocation_context.run_config

    @property
    def is_aborted(self) -> bool:
        """Whether the caller has ended the run; a sync tool that runs for long can look at it and return."""
        return self._invocation_context.is_aborted

    @property
    def custom_metadata(self) -> Mapping[str, Any]:
        """The run's metadata, as in `Context.custom_metadata`; read-only."""
        return MappingProxyType(self._invocation_context.shared.custom_metadata)

    def get_credential(self, key: str) -> AuthCredential | None:
        """Return a credential that was resolved for this invocation, such as a toolset's.

        Args:
            key: the `credential_key` of the `AuthConfig`.
        """
        return self._invocation_context.shared.credentials.get(key)

    @property
    def session(self) -> Session:
        """The session; must not be changed."""
        return self._invocation_context.session

    @property
    def state(self) -> Mapping[str, Any]:
        """The state of all scopes, including uncommitted changes; read-only."""
        return MappingProxyType(self._invocation_context.session.state)
