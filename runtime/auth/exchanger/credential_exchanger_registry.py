"""Exchangers by kind of credential."""

from __future__ import annotations

from runtime.auth.auth_credential import AuthCredentialTypes
from runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger


class CredentialExchangerRegistry:
    """Finds the exchanger of a kind of credential."""

    def __init__(self) -> None:
        self._exchangers: dict[AuthCredentialTypes, BaseCredentialExchanger] = {}

    def register(self, credential_type: AuthCredentialTypes, exchanger_instance: BaseCredentialExchanger) -> None:
        """Register an exchanger, in place of an earlier one."""
        self._exchangers[credential_type] = exchanger_instance

    def get_exchanger(self, credential_type: AuthCredentialTypes) -> BaseCredentialExchanger | None:
        """Return the exchanger; None if there is none."""
        return self._exchangers.get(credential_type)
