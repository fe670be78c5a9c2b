"""Credentials requested by tools."""

from runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes, HttpAuth, HttpCredentials, OAuth2Auth
from runtime.auth.auth_tool import AuthConfig

__all__ = ["AuthConfig", "AuthCredential", "AuthCredentialTypes", "HttpAuth", "HttpCredentials", "OAuth2Auth"]
