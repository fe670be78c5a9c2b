"""Exchange of Google service accounts for tokens."""

from __future__ import annotations

import asyncio
from typing import Any

from runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes, HttpAuth, HttpCredentials, ServiceAccount
from runtime.auth.auth_schemes import AuthScheme
from runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger, CredentialExchangeError, ExchangeResult

_ALL = "https://www.googleapis.com/auth/cloud-platform"


class ServiceAccountCredentialExchanger(BaseCredentialExchanger):
    """Exchanges a service account's key, or the machine's credentials, for a token."""

    async def exchange(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> ExchangeResult:
        """Return a bearer token; see `BaseCredentialExchanger.exchange`.

        Raises:
            CredentialExchangeError: there is no key, or Google refused it.
        """
        account = auth_credential.service_account
        if account is None or not (account.service_account_credential or account.use_default_credential):
            raise CredentialExchangeError("The service account has no key: give one, or set use_default_credential=True on Google Cloud.")
        try:
            token, project = await asyncio.to_thread(_token, account)
        except Exception as error:
            raise CredentialExchangeError(f"The service account got no token: {error}") from error
        headers = {"x-goog-user-project": project} if project else None
        bearer = HttpAuth(scheme="bearer", credentials=HttpCredentials(token=token), additional_headers=headers)
        return ExchangeResult(AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=bearer), True)


def _token(account: ServiceAccount) -> tuple[str, str | None]:
    """Return a token and the project that pays."""
    import google.auth
    import google.auth.transport.requests
    from google.oauth2 import service_account

    credentials: Any
    if account.use_default_credential or account.service_account_credential is None:
        credentials, project = google.auth.default(scopes=account.scopes or [_ALL])
        project = getattr(credentials, "quota_project_id", None) or project
    else:
        key = account.service_account_credential
        info = {**key.model_dump(exclude={"type_"}), "type": key.type_}
        from_key: Any = service_account.Credentials.from_service_account_info
        credentials, project = from_key(info, scopes=account.scopes), None
    credentials.refresh(google.auth.transport.requests.Request())
    return credentials.token, project
