"""Exchange of Google service accounts for tokens."""

from __future__ import annotations

import asyncio
from typing import Any

from runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    ServiceAccount,
    ServiceAccountCredential,
)

_ALL = "https://www.googleapis.com/auth/cloud-platform"


class CredentialExchangeError(Exception):
    """A credential cannot be exchanged."""


async def bearer_token(credential: AuthCredential) -> AuthCredential:
    """Return the bearer token of a service account.

    Raises:
        CredentialExchangeError: there is no key, or Google refused it.
    """
    account = credential.service_account
    if account is None or not (account.service_account_credential or account.use_default_credential):
        raise CredentialExchangeError("The service account has no key: give one, or set use_default_credential=True on Google Cloud.")
    try:
        token, project = await asyncio.to_thread(_id_token if account.use_id_token else _token, account)
    except Exception as error:
        raise CredentialExchangeError(f"The service account got no token: {error}") from error
    headers = {"x-goog-user-project": project} if project else None
    bearer = HttpAuth(scheme="bearer", credentials=HttpCredentials(token=token), additional_headers=headers)
    return AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=bearer)


def _id_token(account: ServiceAccount) -> tuple[str, str | None]:
    """Return an identity token for the account's audience; it names no project."""
    import google.auth.transport.requests
    from google.oauth2 import id_token, service_account

    request = google.auth.transport.requests.Request()
    if account.use_default_credential or account.service_account_credential is None:
        fetch: Any = id_token.fetch_id_token
        return fetch(request, account.audience), None
    from_key: Any = service_account.IDTokenCredentials.from_service_account_info
    credentials = from_key(_key_file(account.service_account_credential), target_audience=account.audience)
    credentials.refresh(request)
    return credentials.token, None


def _key_file(key: ServiceAccountCredential) -> dict[str, Any]:
    return {**key.model_dump(exclude={"type_"}), "type": key.type_}


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
        from_key: Any = service_account.Credentials.from_service_account_info
        credentials, project = from_key(_key_file(account.service_account_credential), scopes=account.scopes), None
    credentials.refresh(google.auth.transport.requests.Request())
    return credentials.token, project
