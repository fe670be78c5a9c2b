"""Requests of OAuth2 for tokens."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from runtime.auth.auth_credential import AuthCredential, OAuth2Auth
from runtime.auth.auth_schemes import AuthScheme, OAuth2, OAuthGrantType, OpenIdConnectWithConfig

logger = logging.getLogger(__name__)

_TIMEOUT = 30.0  # seconds
# Of proof keys (RFC 7636): who exchanges a code proves that they asked for it. google-adk has no other method: `plain` proves nothing.
_CHALLENGE_METHOD = "S256"
_MARGIN = 60.0  # seconds before a token's end when it is refreshed


def grant_of(scheme: AuthScheme) -> OAuthGrantType | None:
    """Return the flow that a scheme describes; None if it is not OAuth2."""
    if isinstance(scheme, OAuth2):
        return OAuthGrantType.from_flow(scheme.flows)
    if isinstance(scheme, OpenIdConnectWithConfig):
        grants = scheme.grant_types_supported or ()
        is_client = OAuthGrantType.CLIENT_CREDENTIALS.value in grants
        return OAuthGrantType.CLIENT_CREDENTIALS if is_client else OAuthGrantType.AUTHORIZATION_CODE
    return None


def authorization_request(credential: AuthCredential, scheme: AuthScheme) -> AuthCredential:
    """Return a credential with the address where the user consents.

    A client without a secret, or one that asks for it with `code_challenge_method`, proves by PKCE that the code is its own.

    Raises:
        ValueError: the client's id or the scheme's address is missing, or the client asks for another method than S256.
    """
    oauth2 = credential.oauth2
    if oauth2 is None or not oauth2.client_id:
        raise ValueError("An OAuth2 credential needs oauth2 with client_id.")
    method = oauth2.code_challenge_method or (None if oauth2.client_secret else _CHALLENGE_METHOD)
    if method not in (None, _CHALLENGE_METHOD):
        raise ValueError(f"Unsupported code_challenge_method: {method}. Only {_CHALLENGE_METHOD!r} is supported.")
    verifier = oauth2.code_verifier or (secrets.token_urlsafe(48) if method else None)
    address, scopes = _authorization(scheme)
    if not address:
        raise ValueError("The OAuth2 scheme has no address where the user consents.")
    state = secrets.token_urlsafe(24)
    form = {
        "response_type": "code",
        "client_id": oauth2.client_id,
        "redirect_uri": oauth2.redirect_uri,
        "scope": " ".join(scopes) or None,
        "state": state,
        "access_type": "offline",
        "prompt": oauth2.prompt or "consent",
        "audience": oauth2.audience,
        "nonce": oauth2.nonce,
        "code_challenge": _challenge_of(verifier) if method and verifier else None,
        "code_challenge_method": method,
    }
    query = urlencode({name: value for name, value in form.items() if value})
    uri = f"{address}{'&' if urlsplit(address).query else '?'}{query}"
    made = {"auth_uri": uri, "state": state, "code_verifier": verifier, "code_challenge_method": method}
    return credential.model_copy(update={"oauth2": oauth2.model_copy(update=made)})


def code_of(oauth2: OAuth2Auth) -> str | None:
    """Return the code that the user's consent gave; None if there is none, or its state is another request's."""
    if not oauth2.auth_response_uri:
        return oauth2.auth_code
    answer = parse_qs(urlsplit(oauth2.auth_response_uri).query)
    if oauth2.state and answer.get("state", [oauth2.state])[0] != oauth2.state:
        logger.warning("The answer to an OAuth2 request has another request's state, so it is not used.")
        return None
    return answer.get("code", [oauth2.auth_code])[0]


async def exchanged(credential: AuthCredential, scheme: AuthScheme) -> AuthCredential | None:
    """Return a credential with a token in exchange for its code, or for the client's id and secret.

    Returns:
        None if it has a token already, or the server gives none; the reason is in the log.
    """
    oauth2, grant = credential.oauth2, grant_of(scheme)
    if oauth2 is None or oauth2.access_token:
        return None
    if grant is OAuthGrantType.CLIENT_CREDENTIALS:
        return await _fetch_tokens(credential, scheme, {"grant_type": grant.value})
    if grant is OAuthGrantType.AUTHORIZATION_CODE and (code := code_of(oauth2)):
        form = {"grant_type": grant.value, "code": code, "redirect_uri": oauth2.redirect_uri, "code_verifier": oauth2.code_verifier}
        return await _fetch_tokens(credential, scheme, {name: value for name, value in form.items() if value})
    return None


async def refreshed(credential: AuthCredential, scheme: AuthScheme) -> AuthCredential | None:
    """Return a credential with a new token if its own has ended, or ends within a minute.

    Returns:
        None if it has not, or the server gives none; the reason is in the log.
    """
    oauth2 = credential.oauth2
    if oauth2 is None or oauth2.expires_at is None or oauth2.expires_at >= time.time() + _MARGIN or not oauth2.refresh_token:
        return None
    return await _fetch_tokens(credential, scheme, {"grant_type": "refresh_token", "refresh_token": oauth2.refresh_token})


async def _fetch_tokens(credential: AuthCredential, scheme: AuthScheme, form: dict[str, str]) -> AuthCredential | None:
    """Return a credential with new tokens; None if there are none, with the reason in the log."""
    oauth2, address = credential.oauth2, _token_address(scheme)
    is_public = bool(oauth2 and not oauth2.client_secret and oauth2.code_challenge_method)
    if oauth2 is None or not oauth2.client_id or not (oauth2.client_secret or is_public) or not address:
        logger.warning("There is no OAuth2 token without the client's id and secret and the address of tokens in the scheme.")
        return None
    scopes = _scopes(scheme)
    if form["grant_type"] == OAuthGrantType.CLIENT_CREDENTIALS.value and scopes:
        form = {**form, "scope": " ".join(scopes)}
    if oauth2.audience:
        form = {**form, "audience": oauth2.audience}
    secret = oauth2.client_secret
    in_form = is_public or oauth2.token_endpoint_auth_method == "client_secret_post"
    if in_form:
        form = {**form, "client_id": oauth2.client_id, **({"client_secret": secret} if secret else {})}
    login = httpx.Auth() if in_form else httpx.BasicAuth(oauth2.client_id, secret or "")
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT) as client:
            response = await client.post(address, data=form, auth=login, headers={"Accept": "application/json"})
        tokens = response.json() if response.headers.get("content-type", "").startswith("application/json") else {}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        logger.warning("The OAuth2 server %s gave no token: %s", _host(address), type(error).__name__)
        return None
    if not isinstance(tokens, dict) or not isinstance(tokens.get("access_token"), str):
        reason = tokens.get("error") if isinstance(tokens, dict) else None
        logger.warning("The OAuth2 server %s gave no token: %s", _host(address), reason or f"status {response.status_code}")
        return None
    return credential.model_copy(update={"oauth2": oauth2.model_copy(update=_fields(tokens, oauth2))})


def _fields(tokens: dict[str, Any], old: OAuth2Auth) -> dict[str, Any]:
    lasts = tokens.get("expires_in")
    seconds = int(lasts) if isinstance(lasts, (int, float, str)) and str(lasts).isdigit() else None
    return {
        "access_token": tokens["access_token"],
        "refresh_token": tokens.get("refresh_token") or old.refresh_token,
        "id_token": tokens.get("id_token") or old.id_token,
        "code_verifier": None,  # used up
        "expires_in": seconds,
        "expires_at": int(time.time()) + seconds if seconds is not None else None,
    }


def _host(address: str) -> str:
    return urlsplit(address).hostname or "of the scheme"


def _token_address(scheme: AuthScheme) -> str | None:
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.token_endpoint
    flows = scheme.flows if isinstance(scheme, OAuth2) else None
    flow = flows and (flows.authorizationCode or flows.clientCredentials)
    return flow.tokenUrl if flow else None


def _scopes(scheme: AuthScheme) -> list[str]:
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.scopes or []
    flows = scheme.flows if isinstance(scheme, OAuth2) else None
    flow = flows and (flows.authorizationCode or flows.clientCredentials or flows.implicit or flows.password)
    return list(flow.scopes) if flow else []


def _authorization(scheme: AuthScheme) -> tuple[str | None, list[str]]:
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.authorization_endpoint, _scopes(scheme)
    flows = scheme.flows if isinstance(scheme, OAuth2) else None
    flow = flows and (flows.authorizationCode or flows.implicit)
    return (flow.authorizationUrl if flow else None), _scopes(scheme)


def _challenge_of(verifier: str) -> str:
    """Return what the request for consent tells of a secret."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
