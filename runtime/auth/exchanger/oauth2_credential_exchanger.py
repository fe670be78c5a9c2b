"""Exchange of OAuth2 clients and codes for tokens."""

from __future__ import annotations

from runtime.auth.auth_credential import AuthCredential
from runtime.auth.auth_schemes import AuthScheme, OAuthGrantType
from runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger, CredentialExchangeError, ExchangeResult
from runtime.auth.oauth2_tokens import code_of, fetch_tokens, grant_of


class OAuth2CredentialExchanger(BaseCredentialExchanger):
    """Exchanges an authorization code, or a client's id and secret, for a token."""

    async def exchange(self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None) -> ExchangeResult:
        """Return a credential with a token, or the given one if it has a token or the server gives none; the reason is logged.

        Raises:
            CredentialExchangeError: there is no scheme.
        """
        if auth_scheme is None:
            raise CredentialExchangeError("auth_scheme is required: an OAuth2 credential is exchanged at an address in it.")
        oauth2 = auth_credential.oauth2
        if oauth2 is None or oauth2.access_token:
            return ExchangeResult(auth_credential, False)
        grant = grant_of(auth_scheme)
        if grant is OAuthGrantType.CLIENT_CREDENTIALS:
            changed = await fetch_tokens(auth_credential, auth_scheme, {"grant_type": grant.value})
        elif grant is OAuthGrantType.AUTHORIZATION_CODE and (code := code_of(oauth2)):
            form = {"grant_type": grant.value, "code": code, "redirect_uri": oauth2.redirect_uri, "code_verifier": oauth2.code_verifier}
            changed = await fetch_tokens(auth_credential, auth_scheme, {name: value for name, value in form.items() if value})
        else:
            changed = None
        return ExchangeResult(changed or auth_credential, changed is not None)
