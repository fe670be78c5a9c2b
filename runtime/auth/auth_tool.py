"""What a tool asks for when it needs a credential."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import ConfigDict, field_validator, model_validator
from pydantic.alias_generators import to_camel

from runtime.auth.auth_credential import AuthCredential, _Json


class AuthConfig(_Json):
    """A credential that is asked for, and the answer (SEMANTICS.md 7).

    Attributes:
        auth_scheme: how the service wants to be authenticated at, an OpenAPI security scheme: its JSON object, or a pydantic model of it.
        raw_auth_credential: what the application has: a client, for instance.
        exchanged_auth_credential: what can be used; the answer fills it in.
        credential_key: names the credential; the same for the same scheme and raw credential if it is left out.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow", hide_input_in_errors=True)

    auth_scheme: dict[str, Any]
    raw_auth_credential: AuthCredential | None = None
    exchanged_auth_credential: AuthCredential | None = None
    credential_key: str | None = None

    @field_validator("auth_scheme", mode="before")
    @classmethod
    def _as_json(cls, scheme: Any) -> Any:
        return scheme.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(scheme, "model_dump") else scheme

    @model_validator(mode="after")
    def _name_the_credential(self) -> AuthConfig:
        if not self.credential_key:
            raw = self.raw_auth_credential
            client = raw.oauth2.client_id if raw and raw.oauth2 else None
            text = json.dumps([self.auth_scheme, raw and raw.auth_type, raw and raw.resource_ref, client], sort_keys=True, default=str)
            self.credential_key = f"adk_{self.auth_scheme.get('type', 'auth')}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return self

    def without_secrets(self) -> AuthConfig:
        """Return a copy that a person may see and a session may keep."""
        copy = self.model_copy(deep=True)
        for credential in (copy.raw_auth_credential, copy.exchanged_auth_credential):
            if credential and credential.oauth2:
                credential.oauth2.client_secret = None
        return copy

    def is_answered_by(self, answer: AuthConfig) -> bool:
        """Return whether the answer is for this request: by its name, or, as google-adk names credentials otherwise, by its scheme."""
        return self.credential_key == answer.credential_key or self.auth_scheme == answer.auth_scheme


def as_auth_config(value: Any) -> AuthConfig:
    """Return a request for a credential, whoever made it.

    Args:
        value: an AuthConfig, google-adk's, or the JSON object of one.

    Raises:
        ValueError: it has no `auth_scheme`.
    """
    if isinstance(value, AuthConfig):
        return value
    return AuthConfig.model_validate(
        value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value
    )


def read_answer(answer: dict[str, Any] | None) -> AuthConfig | None:
    """Return what a person answered to a request for a credential; None if the answer is to something else."""
    if not answer or not (answer.get("authScheme") or answer.get("auth_scheme")):
        return None
    return AuthConfig.model_validate(answer)
