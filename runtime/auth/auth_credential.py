"""Credentials in google-adk's format."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel


class _Json(BaseModel):
    """Base class: camelCase in JSON, keeps unknown fields of newer versions, hides secrets in `repr`."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)


class AuthCredentialTypes(StrEnum):
    """The kinds of credentials."""

    API_KEY = "apiKey"
    HTTP = "http"
    OAUTH2 = "oauth2"
    OPEN_ID_CONNECT = "openIdConnect"
    SERVICE_ACCOUNT = "serviceAccount"


class HttpCredentials(_Json):
    """A user name and password, or a token."""

    username: str | None = None
    password: str | None = Field(default=None, repr=False)
    token: str | None = Field(default=None, repr=False)


class HttpAuth(_Json):
    """The content of an Authorization header.

    Attributes:
        scheme: such as `basic` or `bearer`.
        credentials: the credentials for the scheme.
        additional_headers: more headers that the service wants.
    """

    scheme: str
    credentials: HttpCredentials
    additional_headers: dict[str, str] | None = Field(default=None, repr=False)


class OAuth2Auth(_Json):
    """An OAuth2 client and the result of the user's consent.

    Attributes:
        client_id, client_secret, redirect_uri: the client. The secret stays in the process: credential requests leave it out.
        auth_uri, state: the address where the user consents.
        auth_response_uri, auth_code: the answer to the consent.
        access_token, refresh_token, expires_at, expires_in: the tokens; times in seconds.
        audience: the service that the token is for.
        nonce, prompt: sent with the request for consent; `prompt` is `consent` if left out.
        id_token: the user's identity, from OpenID Connect.
        code_verifier, code_challenge_method: PKCE, by the method `S256`; a client without a secret always uses it.
        token_endpoint_auth_method: how the client identifies itself: in a header (`client_secret_basic`) or in the form
            (`client_secret_post`). Others need the google-adk engine.
    """

    client_id: str | None = None
    client_secret: str | None = Field(default=None, repr=False)
    auth_uri: str | None = None
    nonce: str | None = None
    state: str | None = None
    redirect_uri: str | None = None
    auth_response_uri: str | None = Field(default=None, repr=False)
    auth_code: str | None = Field(default=None, repr=False)
    access_token: str | None = Field(default=None, repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    id_token: str | None = Field(default=None, repr=False)
    expires_at: int | None = None
    expires_in: int | None = None
    audience: str | None = None
    prompt: str | None = None
    code_verifier: str | None = Field(default=None, repr=False)
    code_challenge_method: str | None = None
    token_endpoint_auth_method: str | None = "client_secret_basic"


class ServiceAccountCredential(_Json):
    """The key file of a Google service account, with its field names; `type_` is `type` there."""

    type_: str = Field(default="", alias="type")
    project_id: str
    private_key_id: str = Field(repr=False)
    private_key: str = Field(repr=False)
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str
    auth_provider_x509_cert_url: str
    client_x509_cert_url: str
    universe_domain: str


class ServiceAccount(_Json):
    """A Google service account.

    Attributes:
        service_account_credential: its key.
        scopes: what the token is for.
        use_default_credential: use the credentials of the machine instead of a key.
        use_id_token: get an identity token for `audience` instead of an access token.
        audience: the service that the identity token is for, as its address.
    """

    service_account_credential: ServiceAccountCredential | None = None
    scopes: list[str] | None = None
    use_default_credential: bool | None = False
    use_id_token: bool | None = False
    audience: str | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> ServiceAccount:
        if self.use_id_token and not self.audience:
            raise ValueError("An identity token (use_id_token=True) needs an audience: the address of the service that it is for.")
        return self


class AuthCredential(_Json):
    """A credential of one kind.

    Attributes:
        auth_type: the kind, which decides which other field is set.
        resource_ref: the name of a credential kept elsewhere.
        api_key: a key.
        http: for the Authorization header.
        oauth2: OAuth2 and OpenID Connect.
        service_account: a Google service account.
    """

    auth_type: AuthCredentialTypes
    resource_ref: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    http: HttpAuth | None = None
    oauth2: OAuth2Auth | None = None
    service_account: ServiceAccount | None = Field(default=None, repr=False)
