"""The base class of exchangers."""

from __future__ import annotations

import abc
from typing import NamedTuple

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_schemes import AuthScheme


class CredentialExchangeError(Exception):
    """A credential cannot be exchanged."""


class ExchangeResult(NamedTuple):
    """The result of an exchange.

    Attributes:
        credential: the new credential, or the old one.
        was_exchanged: whether it is new.
    """

    credential: AuthCredential
    was_exchanged: bool


class BaseCredentialExchanger(abc.ABC):
    """Exchanges credentials of one kind."""

    @abc.abstractmethod
    async def exchange(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> ExchangeResult:
        """Return a usable credential.

        Raises:
            CredentialExchangeError: there is nothing to exchange it with.
        """
