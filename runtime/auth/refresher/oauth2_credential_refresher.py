"""Refreshing of OAuth2 tokens."""

from __future__ import annotations

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_schemes import AuthScheme
from runtime.auth.oauth2_tokens import fetch_tokens, is_expired
from runtime.auth.refresher.base_credential_refresher import BaseCredentialRefresher


class OAuth2CredentialRefresher(BaseCredentialRefresher):
    """Refreshes tokens that have ended, with their refresh token."""

    async def is_refresh_needed(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> bool:
        """Return whether the token has ended, or ends within a minute; see `BaseCredentialRefresher`."""
        return auth_credential.oauth2 is not None and is_expired(auth_credential.oauth2)

    async def refresh(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> AuthCredential:
        """Return a credential with a new token, or the given one if the server gives none; the reason is logged."""
        oauth2 = auth_credential.oauth2
        if oauth2 is None or auth_scheme is None or not oauth2.refresh_token:
            return auth_credential
        form = {"grant_type": "refresh_token", "refresh_token": oauth2.refresh_token}
        return await fetch_tokens(auth_credential, auth_scheme, form) or auth_credential
