"""Credentials in google-adk's format."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
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
    """

    scheme: str
    credentials: HttpCredentials


class OAuth2Auth(_Json):
    """An OAuth2 client and the result of the user's consent.

    Attributes:
        client_id, client_secret, redirect_uri: the client. The secret stays in the process: credential requests leave it out.
        auth_uri, state: the address where the user consents.
        auth_response_uri, auth_code: the answer to the consent.
        access_token, refresh_token, expires_at, expires_in: the tokens; times in seconds.
    """

    client_id: str | None = None
    client_secret: str | None = Field(default=None, repr=False)
    auth_uri: str | None = None
    state: str | None = None
    redirect_uri: str | None = None
    auth_response_uri: str | None = Field(default=None, repr=False)
    auth_code: str | None = Field(default=None, repr=False)
    access_token: str | None = Field(default=None, repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    expires_at: int | None = None
    expires_in: int | None = None


class AuthCredential(_Json):
    """A credential of one kind.

    Attributes:
        auth_type: the kind, which decides which other field is set.
        resource_ref: the name of a credential kept elsewhere.
        api_key: a key.
        http: for the Authorization header.
        oauth2: OAuth2 and OpenID Connect.
        service_account: in the provider's own format.
    """

    auth_type: AuthCredentialTypes
    resource_ref: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    http: HttpAuth | None = None
    oauth2: OAuth2Auth | None = None
    service_account: Any | None = Field(default=None, repr=False)
