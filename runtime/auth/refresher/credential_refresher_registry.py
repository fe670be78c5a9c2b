"""Refreshers by kind of credential."""

from __future__ import annotations

from runtime.auth.auth_credential import AuthCredentialTypes
from runtime.auth.refresher.base_credential_refresher import BaseCredentialRefresher


class CredentialRefresherRegistry:
    """Finds the refresher of a kind of credential."""

    def __init__(self) -> None:
        self._refreshers: dict[AuthCredentialTypes, BaseCredentialRefresher] = {}

    def register(self, credential_type: AuthCredentialTypes, refresher_instance: BaseCredentialRefresher) -> None:
        """Register a refresher, in place of an earlier one."""
        self._refreshers[credential_type] = refresher_instance

    def get_refresher(self, credential_type: AuthCredentialTypes) -> BaseCredentialRefresher | None:
        """Return the refresher; None if there is none."""
        return self._refreshers.get(credential_type)
