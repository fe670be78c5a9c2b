"""Credentials as HTTP headers."""

from __future__ import annotations

import base64

from runtime.auth.auth_credential import AuthCredential, HttpAuth
from runtime.auth.auth_schemes import APIKey, APIKeyIn, AuthScheme


def auth_headers(credential: AuthCredential | None, scheme: AuthScheme | None) -> dict[str, str]:
    """Return the headers that carry a credential; empty if there is none.

    Args:
        credential: the credential.
        scheme: the service's scheme, which names the header of an API key.

    Raises:
        ValueError: the scheme wants an API key elsewhere than in a header.
    """
    if credential is None:
        return {}
    if credential.oauth2 and credential.oauth2.access_token:
        return {"Authorization": f"Bearer {credential.oauth2.access_token}"}
    if credential.http:
        return {**_authorization(credential.http), **(credential.http.additional_headers or {})}
    if credential.api_key:
        if not isinstance(scheme, APIKey) or scheme.in_ is not APIKeyIn.header:
            raise ValueError("An API key is sent in a header only: the scheme must be an APIKey with in_='header'.")
        return {scheme.name: credential.api_key}
    return {}


def _authorization(http: HttpAuth) -> dict[str, str]:
    given, scheme = http.credentials, http.scheme
    if scheme.lower() == "basic" and given.username and given.password:
        text = base64.b64encode(f"{given.username}:{given.password}".encode()).decode()
        return {"Authorization": f"Basic {text}"}
    if given.token:
        return {"Authorization": f"{'Bearer' if scheme.lower() == 'bearer' else scheme} {given.token}"}
    return {}
