"""OpenAPI's security schemes: how a service wants to be given credentials."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class AuthSchemeType(StrEnum):
    """The kinds of schemes."""

    apiKey = "apiKey"
    http = "http"
    oauth2 = "oauth2"
    openIdConnect = "openIdConnect"


class APIKeyIn(StrEnum):
    """Where a request has an API key."""

    query = "query"
    header = "header"
    cookie = "cookie"


class _Scheme(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class SecurityBase(_Scheme):
    """A scheme of any kind; unknown kinds keep their fields.

    Attributes:
        type_: the kind; `type` in JSON.
        description: for people.
    """

    type_: AuthSchemeType | str = Field(alias="type")
    description: str | None = None


class APIKey(SecurityBase):
    """A key in each request.

    Attributes:
        in_: where; `in` in JSON.
        name: the name of the parameter, header or cookie.
    """

    type_: Literal[AuthSchemeType.apiKey] = Field(default=AuthSchemeType.apiKey, alias="type")
    in_: APIKeyIn = Field(alias="in")
    name: str


class HTTPBase(SecurityBase):
    """An Authorization header of a scheme such as `basic`."""

    type_: Literal[AuthSchemeType.http] = Field(default=AuthSchemeType.http, alias="type")
    scheme: str


class HTTPBearer(HTTPBase):
    """An Authorization header with a token."""

    scheme: str = "bearer"
    bearerFormat: str | None = None


class OAuthFlow(_Scheme):
    """What the flows of OAuth2 have in common.

    Attributes:
        refreshUrl: where tokens are refreshed.
        scopes: scope → its description.
    """

    refreshUrl: str | None = None
    scopes: dict[str, str] = Field(default_factory=dict)


class OAuthFlowImplicit(OAuthFlow):
    """The user's browser receives the token."""

    authorizationUrl: str


class OAuthFlowPassword(OAuthFlow):
    """The client sends the user's password."""

    tokenUrl: str


class OAuthFlowClientCredentials(OAuthFlow):
    """The client acts for itself."""

    tokenUrl: str


class OAuthFlowAuthorizationCode(OAuthFlow):
    """The user's browser receives a code, which the client exchanges for a token."""

    authorizationUrl: str
    tokenUrl: str


class OAuthFlows(_Scheme):
    """The flows that a service offers."""

    implicit: OAuthFlowImplicit | None = None
    password: OAuthFlowPassword | None = None
    clientCredentials: OAuthFlowClientCredentials | None = None
    authorizationCode: OAuthFlowAuthorizationCode | None = None


class OAuth2(SecurityBase):
    """OAuth2."""

    type_: Literal[AuthSchemeType.oauth2] = Field(default=AuthSchemeType.oauth2, alias="type")
    flows: OAuthFlows


class ExtendedOAuth2(OAuth2):
    """OAuth2 with the issuer's address.

    Attributes:
        issuer_url: where the issuer describes itself; the flows' addresses are not read from there.
    """

    issuer_url: str | None = None


class OpenIdConnect(SecurityBase):
    """OpenID Connect, described at an address."""

    type_: Literal[AuthSchemeType.openIdConnect] = Field(default=AuthSchemeType.openIdConnect, alias="type")
    openIdConnectUrl: str


class OpenIdConnectWithConfig(SecurityBase):
    """OpenID Connect with its addresses."""

    type_: Literal[AuthSchemeType.openIdConnect] = Field(default=AuthSchemeType.openIdConnect, alias="type")
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str | None = None
    revocation_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] | None = None
    grant_types_supported: list[str] | None = None
    scopes: list[str] | None = None


class CustomAuthScheme(SecurityBase):
    """A scheme of one's own; a subclass gives `type_` a default."""


AuthScheme: TypeAlias = SecurityBase
SecurityScheme: TypeAlias = SecurityBase  # FastAPI's names
SecuritySchemeType = AuthSchemeType


class OAuthGrantType(StrEnum):
    """The flows of OAuth2, as requests for tokens name them."""

    CLIENT_CREDENTIALS = "client_credentials"
    AUTHORIZATION_CODE = "authorization_code"
    IMPLICIT = "implicit"
    PASSWORD = "password"

    @staticmethod
    def from_flow(flow: OAuthFlows) -> OAuthGrantType | None:
        """Return the flow that is described; None if there is none."""
        for name, grant in _GRANTS.items():
            if getattr(flow, name):
                return grant
        return None


_GRANTS = {
    "clientCredentials": OAuthGrantType.CLIENT_CREDENTIALS,
    "authorizationCode": OAuthGrantType.AUTHORIZATION_CODE,
    "implicit": OAuthGrantType.IMPLICIT,
    "password": OAuthGrantType.PASSWORD,
}
_KINDS: dict[str, tuple[type[SecurityBase], ...]] = {
    "apiKey": (APIKey,),
    "http": (HTTPBearer, HTTPBase),
    "oauth2": (ExtendedOAuth2, OAuth2),
    "openIdConnect": (OpenIdConnectWithConfig, OpenIdConnect),
}


def as_scheme(value: Any) -> SecurityBase:
    """Return a scheme as an object of this module.

    Args:
        value: one of them, a pydantic model of FastAPI's or google-adk's, or a JSON object. What is incomplete becomes a `SecurityBase`.

    Raises:
        ValidationError: it has no `type`.
    """
    if isinstance(value, SecurityBase):
        return value
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    kind = value.get("type") if isinstance(value, dict) else None
    for scheme in _KINDS.get(str(kind), ()):
        if scheme is HTTPBearer and str(value.get("scheme")).lower() != "bearer":
            continue
        if scheme is ExtendedOAuth2 and "issuer_url" not in value:
            continue
        try:
            return scheme.model_validate(value)
        except ValidationError:
            continue
    return SecurityBase.model_validate(value)
