"""Credentials of tools."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes, HttpAuth, HttpCredentials, OAuth2Auth
from runtime.auth.auth_schemes import AuthScheme, AuthSchemeType, OpenIdConnectWithConfig
from runtime.auth.auth_tool import AuthConfig

if TYPE_CHECKING:
    from runtime.auth.auth_handler import AuthHandler

__all__ = [
    "AuthConfig",
    "AuthCredential",
    "AuthCredentialTypes",
    "AuthHandler",
    "AuthScheme",
    "AuthSchemeType",
    "HttpAuth",
    "HttpCredentials",
    "OAuth2Auth",
    "OpenIdConnectWithConfig",
]


def __getattr__(name: str) -> Any:
    """Load what needs an HTTP library when it is first used."""
    if name != "AuthHandler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("runtime.auth.auth_handler").AuthHandler
