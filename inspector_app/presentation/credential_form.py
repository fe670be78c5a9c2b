"""The form for a credential that an agent requests, and the response made from it. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector_app.presentation.form_fields import FormField


def fields_for(auth_config: Mapping[str, Any]) -> list[FormField] | None:
    """Return the fields for a request's scheme; None for a scheme without a form.

    Args:
        auth_config: the request's `authConfig`, in camelCase as stored.
    """
    scheme = auth_config.get("authScheme") or {}
    kind, name = str(scheme.get("type") or ""), str(scheme.get("scheme") or "").lower()
    if kind == "apiKey":
        where = f"sent as {scheme['name']} in the {scheme.get('in', 'request')}" if scheme.get("name") else ""
        return [FormField("apiKey", "secret", label="API key", hint=where)]
    if kind == "http" and name == "basic":
        return [FormField("username", "text", label="User name"), FormField("password", "secret", label="Password")]
    if kind == "http":
        return [FormField("token", "secret", label="Token", hint=f"sent as {scheme.get('scheme') or 'bearer'} token")]
    if kind in ("oauth2", "openIdConnect"):
        return [
            FormField("authResponseUri", "text", required=False, label="Redirect address", hint="the full address after the consent"),
            FormField("authCode", "secret", required=False, label="or code", hint="the code in that address"),
            FormField("accessToken", "secret", required=False, label="or token", hint="an access token that you already have"),
        ]
    return None


def consent_page(auth_config: Mapping[str, Any]) -> str:
    """Return the address of the consent page; empty if there is none."""
    for credential in (auth_config.get("exchangedAuthCredential"), auth_config.get("rawAuthCredential")):
        uri = ((credential or {}).get("oauth2") or {}).get("authUri")
        if uri:
            return str(uri)
    return ""


def answer(auth_config: Mapping[str, Any], filled_in: Mapping[str, Any]) -> dict[str, Any]:
    """Return the function response to a request: its configuration with the credential, as google-adk expects it.

    Args:
        auth_config: as for `fields_for`.
        filled_in: the form's values.
    """
    scheme = auth_config.get("authScheme") or {}
    kind = str(scheme.get("type") or "")
    if kind == "apiKey":
        credential: dict[str, Any] = {"authType": "apiKey", "apiKey": filled_in["apiKey"]}
    elif kind == "http":
        credential = {"authType": "http", "http": {"scheme": scheme.get("scheme") or "bearer", "credentials": dict(filled_in)}}
    else:
        known = auth_config.get("exchangedAuthCredential") or auth_config.get("rawAuthCredential") or {}
        credential = {**known, "authType": kind, "oauth2": {**(known.get("oauth2") or {}), **filled_in}}
    return {**auth_config, "exchangedAuthCredential": credential}
