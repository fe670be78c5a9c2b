"""Requests for credentials, and their answers."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_schemes import AuthSchemeType
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.oauth2_tokens import authorization_request, exchanged

_CONSENT = (AuthSchemeType.oauth2, AuthSchemeType.openIdConnect)


class AuthHandler:
    """Completes a request for a credential, and reads its answer."""

    def __init__(self, auth_config: AuthConfig) -> None:
        self.auth_config = auth_config

    def generate_auth_request(self) -> AuthConfig:
        """Return the request with the address where the user consents, if the scheme has one.

        Raises:
            ValueError: the OAuth2 client is missing or incomplete.
        """
        config = self.auth_config.model_copy(deep=True)
        if config.auth_scheme.type_ not in _CONSENT:
            return config
        done, raw = config.exchanged_auth_credential, config.raw_auth_credential
        if done and done.oauth2 and done.oauth2.auth_uri:
            return config
        if raw is None or raw.oauth2 is None:
            missing = "auth_credential" if raw is None else "oauth2 in auth_credential"
            raise ValueError(f"The auth scheme {config.auth_scheme.type_} requires {missing}: set raw_auth_credential.")
        config.exchanged_auth_credential = raw.model_copy(deep=True) if raw.oauth2.auth_uri else self.generate_auth_uri()
        return config

    def generate_auth_uri(self) -> AuthCredential:
        """Return the credential with the address where the user consents; see `generate_auth_request`."""
        raw = self.auth_config.raw_auth_credential
        if raw is None:
            raise ValueError("There is no raw_auth_credential.")
        return authorization_request(raw, self.auth_config.auth_scheme)

    def get_auth_response(self, state: MutableMapping[str, Any]) -> AuthCredential | None:
        """Return the credential that was given; None if there is none."""
        found: AuthCredential | None = state.get(f"temp:{self.auth_config.credential_key}")
        return found

    async def parse_and_store_auth_response(self, state: MutableMapping[str, Any]) -> None:
        """Keep the given credential for this run, exchanged for a token if it is a code."""
        credential = self.auth_config.exchanged_auth_credential
        if credential is not None and self.auth_config.auth_scheme.type_ in _CONSENT:
            credential = await self.exchange_auth_token()
        state[f"temp:{self.auth_config.credential_key}"] = credential

    async def exchange_auth_token(self) -> AuthCredential:
        """Return the given credential, exchanged for a token if it is a code.

        Raises:
            ValueError: no credential was given.
        """
        credential = self.auth_config.exchanged_auth_credential
        if credential is None:
            raise ValueError("There is no exchanged_auth_credential.")
        return await exchanged(credential, self.auth_config.auth_scheme) or credential
