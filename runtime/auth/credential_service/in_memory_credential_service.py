"""Credentials in memory."""

from __future__ import annotations

from typing import Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.credential_service.base_credential_service import BaseCredentialService


class InMemoryCredentialService(BaseCredentialService):
    """Keeps credentials until the process ends."""

    def __init__(self) -> None:
        self._credentials: dict[tuple[str, str, str | None], AuthCredential | None] = {}

    async def load_credential(self, auth_config: AuthConfig, callback_context: Any) -> AuthCredential | None:
        """See `BaseCredentialService`."""
        return self._credentials.get(_key(auth_config, callback_context))

    async def save_credential(self, auth_config: AuthConfig, callback_context: Any) -> None:
        """See `BaseCredentialService`."""
        self._credentials[_key(auth_config, callback_context)] = auth_config.exchanged_auth_credential


def _key(auth_config: AuthConfig, callback_context: Any) -> tuple[str, str, str | None]:
    run = callback_context._invocation_context
    return run.app_name, run.user_id, auth_config.credential_key
