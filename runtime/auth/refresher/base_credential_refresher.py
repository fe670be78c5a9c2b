"""The base class of refreshers."""

from __future__ import annotations

import abc

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_schemes import AuthScheme


class CredentialRefresherError(Exception):
    """A credential cannot be refreshed."""


class BaseCredentialRefresher(abc.ABC):
    """Refreshes credentials of one kind."""

    @abc.abstractmethod
    async def is_refresh_needed(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> bool:
        """Return whether a credential has ended."""

    @abc.abstractmethod
    async def refresh(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> AuthCredential:
        """Return a new credential.

        Raises:
            CredentialRefresherError: it cannot be refreshed.
        """
