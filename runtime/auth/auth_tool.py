"""Credential requests of tools."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import ConfigDict, field_serializer, field_validator, model_validator
from pydantic.alias_generators import to_camel

from runtime.auth.auth_credential import AuthCredential, _Json
from runtime.auth.auth_schemes import AuthScheme, SecurityBase, as_scheme


class AuthConfig(_Json):
    """A request for a credential, and its answer.

    Attributes:
        auth_scheme: the service's OpenAPI security scheme; a JSON object or a model of FastAPI's becomes one of `auth_schemes`.
        raw_auth_credential: the credential that the application has, such as an OAuth2 client.
        exchanged_auth_credential: the usable credential; filled in by the answer.
        credential_key: the credential's name; if left out, derived from the scheme and the raw credential.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow", hide_input_in_errors=True)

    auth_scheme: AuthScheme
    raw_auth_credential: AuthCredential | None = None
    exchanged_auth_credential: AuthCredential | None = None
    credential_key: str | None = None

    @field_validator("auth_scheme", mode="plain")
    @classmethod
    def _known_scheme(cls, scheme: Any) -> SecurityBase:
        return as_scheme(scheme)

    @field_serializer("auth_scheme")
    def _as_json(self, scheme: SecurityBase) -> dict[str, Any]:
        return scheme.model_dump(mode="json", by_alias=True, exclude_none=True)

    @model_validator(mode="after")
    def _name_the_credential(self) -> AuthConfig:
        if not self.credential_key:
            raw = self.raw_auth_credential
            client = raw.oauth2.client_id if raw and raw.oauth2 else None
            scheme = self._as_json(self.auth_scheme)
            text = json.dumps([scheme, raw and raw.auth_type, raw and raw.resource_ref, client], sort_keys=True, default=str)
            self.credential_key = f"adk_{scheme['type']}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return self

    def without_secrets(self) -> AuthConfig:
        """Return a copy without client secrets, safe to show and to store."""
        copy = self.model_copy(deep=True)
        for credential in (copy.raw_auth_credential, copy.exchanged_auth_credential):
            if credential and credential.oauth2:
                credential.oauth2.client_secret = None
        return copy

    def is_answered_by(self, answer: AuthConfig) -> bool:
        """Return whether the answer belongs to this request.

        Schemes are compared too, as google-adk derives other credential keys.
        """
        return self.credential_key == answer.credential_key or self._as_json(self.auth_scheme) == self._as_json(answer.auth_scheme)


class AuthToolArguments(_Json):
    """The arguments of the function call that asks for a credential."""

    function_call_id: str
    auth_config: AuthConfig


def as_auth_config(value: Any) -> AuthConfig:
    """Convert a credential request to an `AuthConfig`.

    Args:
        value: an `AuthConfig` of this package or of google-adk, or its JSON object.

    Raises:
        ValueError: it has no `auth_scheme`.
    """
    if isinstance(value, AuthConfig):
        return value
    return AuthConfig.model_validate(
        value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value
    )


def read_answer(answer: dict[str, Any] | None) -> AuthConfig | None:
    """Return the answer to a credential request; None if `answer` is not one."""
    if not answer or not (answer.get("authScheme") or answer.get("auth_scheme")):
        return None
    return AuthConfig.model_validate(answer)
