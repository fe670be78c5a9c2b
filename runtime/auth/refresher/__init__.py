"""Refreshing of credentials."""

from runtime.auth.refresher.base_credential_refresher import BaseCredentialRefresher

__all__ = ["BaseCredentialRefresher"]
