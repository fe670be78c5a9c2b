"""Credentials for tools: loaded, requested, exchanged and refreshed."""

from __future__ import annotations

from typing import Any

from runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes
from runtime.auth.auth_handler import AuthHandler
from runtime.auth.auth_schemes import AuthSchemeType, OAuthGrantType
from runtime.auth.auth_tool import AuthConfig
from runtime.auth.oauth2_tokens import exchanged, grant_of, refreshed
from runtime.auth.service_account import bearer_token

_OAUTH2 = (AuthCredentialTypes.OAUTH2, AuthCredentialTypes.OPEN_ID_CONNECT)


class CredentialManager:
    """Gets the credential of one request ready for use.

    Args:
        auth_config: the request; it is not changed.
    """

    def __init__(self, auth_config: AuthConfig) -> None:
        self._auth_config = auth_config

    async def request_credential(self, context: Any) -> None:
        """Ask the user for the credential; see `ToolContext.request_credential`."""
        context.request_credential(AuthHandler(self._auth_config).generate_auth_request())

    async def get_auth_credential(self, context: Any) -> AuthCredential | None:
        """Return the credential, ready for use; None if the user must be asked.

        Raises:
            ValueError: the request is incomplete.
            CredentialExchangeError: a service account got no token.
        """
        self._check()
        raw, service = self._auth_config.raw_auth_credential, context._invocation_context.credential_service
        if raw and raw.auth_type in (AuthCredentialTypes.API_KEY, AuthCredentialTypes.HTTP):
            return raw.model_copy(deep=True)
        credential = await service.load_credential(self._auth_config, context) if service is not None else None
        is_new = credential is None
        if credential is None:
            credential = self._with_client(context.get_auth_response(self._auth_config), context)
        if credential is None and raw and self._needs_no_user(raw):
            credential = raw.model_copy(deep=True)
        if credential is None:
            return None
        changed = await self._usable(credential)
        credential = changed or credential
        if service is not None and (is_new or changed is not None):
            await service.save_credential(self._auth_config.model_copy(update={"exchanged_auth_credential": credential}), context)
        return credential

    async def _usable(self, credential: AuthCredential) -> AuthCredential | None:
        """Return what a credential is exchanged for, or refreshed to; None if it can be used as it is."""
        if credential.auth_type is AuthCredentialTypes.SERVICE_ACCOUNT:
            return await bearer_token(credential)
        if credential.auth_type not in _OAUTH2:
            return None
        scheme = self._auth_config.auth_scheme
        return await exchanged(credential, scheme) or await refreshed(credential, scheme)

    def _needs_no_user(self, raw: AuthCredential) -> bool:
        if raw.auth_type is AuthCredentialTypes.SERVICE_ACCOUNT:
            return True
        return raw.auth_type in _OAUTH2 and grant_of(self._auth_config.auth_scheme) is OAuthGrantType.CLIENT_CREDENTIALS

    def _with_client(self, answer: AuthCredential | None, context: Any) -> AuthCredential | None:
        """Return the user's answer with the client's secret and PKCE's, which are not in it: neither is shown to the user."""
        raw = self._auth_config.raw_auth_credential
        if answer is None or answer.oauth2 is None or raw is None or raw.oauth2 is None:
            return answer
        made = context.committed_auth_request()
        request = made.exchanged_auth_credential.oauth2 if made and made.exchanged_auth_credential else None
        known = {
            **{name: getattr(raw.oauth2, name) for name in ("client_id", "client_secret", "redirect_uri")},
            **({name: getattr(request, name) for name in ("code_verifier", "code_challenge_method")} if request else {}),
        }
        missing = {name: value for name, value in known.items() if value and not getattr(answer.oauth2, name)}
        return answer.model_copy(update={"oauth2": answer.oauth2.model_copy(update=missing)})

    def _check(self) -> None:
        raw, kind = self._auth_config.raw_auth_credential, self._auth_config.auth_scheme.type_
        if raw is None and kind in (AuthSchemeType.oauth2, AuthSchemeType.openIdConnect):
            raise ValueError(f"A credential of the kind {kind} needs raw_auth_credential.")
        if raw is not None and raw.auth_type in _OAUTH2 and raw.oauth2 is None:
            raise ValueError(f"A credential of the kind {raw.auth_type.value} needs oauth2.")
