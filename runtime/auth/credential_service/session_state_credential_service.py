"""Credentials in a session's state."""

from __future__ import annotations

from typing import Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.credential_service.base_credential_service import BaseCredentialService


class SessionStateCredentialService(BaseCredentialService):
    """Keeps credentials in the session's state. They are stored in the database as they are: use it only where that is safe."""

    async def load_credential(self, auth_config: AuthConfig, callback_context: Any) -> AuthCredential | None:
        """See `BaseCredentialService`."""
        found = callback_context.state.get(auth_config.credential_key)
        return AuthCredential.model_validate(found) if isinstance(found, dict) else found

    async def save_credential(self, auth_config: AuthConfig, callback_context: Any) -> None:
        """See `BaseCredentialService`."""
        given = auth_config.exchanged_auth_credential
        callback_context.state[auth_config.credential_key] = given and given.model_dump(mode="json", by_alias=True, exclude_none=True)
