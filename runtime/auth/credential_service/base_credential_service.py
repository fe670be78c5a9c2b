"""The base class of places for credentials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_tool import AuthConfig


class BaseCredentialService(ABC):
    """Keeps credentials by `AuthConfig.credential_key`, for each user of an app."""

    @abstractmethod
    async def load_credential(self, auth_config: AuthConfig, callback_context: Any) -> AuthCredential | None:
        """Return a credential; None if there is none."""

    @abstractmethod
    async def save_credential(self, auth_config: AuthConfig, callback_context: Any) -> None:
        """Keep the request's `exchanged_auth_credential`.

        Args:
            auth_config: the request with its answer.
            callback_context: the run.
        """
