"""Credentials, in google-adk's form."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _Json(BaseModel):
    """Fields are camelCase in JSON; unknown ones of newer versions are kept, secrets are not shown by `repr`."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)


class AuthCredentialTypes(StrEnum):
    """What kind of credential it is."""

    API_KEY = "apiKey"
    HTTP = "http"
    OAUTH2 = "oauth2"
    OPEN_ID_CONNECT = "openIdConnect"
    SERVICE_ACCOUNT = "serviceAccount"


class HttpCredentials(_Json):
    """A name and password, or a token."""

    username: str | None = None
    password: str | None = Field(default=None, repr=False)
    token: str | None = Field(default=None, repr=False)


class HttpAuth(_Json):
    """What goes into the Authorization header.

    Attributes:
        scheme: such as `basic` or `bearer`.
        credentials: what follows it.
    """

    scheme: str
    credentials: HttpCredentials


class OAuth2Auth(_Json):
    """A client, and what the person's consent gave it.

    Attributes:
        client_id, client_secret, redirect_uri: the client's. The secret never leaves the process: requests are made without it.
        auth_uri, state: where the person consents.
        auth_response_uri, auth_code: what came back.
        access_token, refresh_token, expires_at, expires_in: what it was exchanged for; times in seconds.
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
        auth_type: which of the others is filled in.
        resource_ref: names a credential that is kept elsewhere.
        api_key: a key.
        http: for the Authorization header.
        oauth2: OAuth2 and OpenID Connect.
        service_account: as the provider wrote it.
    """

    auth_type: AuthCredentialTypes
    resource_ref: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    http: HttpAuth | None = None
    oauth2: OAuth2Auth | None = None
    service_account: Any | None = Field(default=None, repr=False)
