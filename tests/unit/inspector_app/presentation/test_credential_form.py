from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from inspector_app.presentation.credential_form import answer, consent_page, fields_for
from inspector_app.presentation.event_summary import describe
from runtime.auth.auth_tool import read_answer
from runtime.events import Event
from runtime.events.credentials import HIDDEN, without_credentials

API_KEY = {"authScheme": {"type": "apiKey", "in": "header", "name": "X-Key"}, "credentialKey": "k"}
BASIC = {"authScheme": {"type": "http", "scheme": "basic"}}
BEARER = {"authScheme": {"type": "http", "scheme": "bearer"}}
OAUTH = {
    "authScheme": {"type": "oauth2", "flows": {}},
    "rawAuthCredential": {"authType": "oauth2", "oauth2": {"clientId": "c"}},
    "exchangedAuthCredential": {"authType": "oauth2", "oauth2": {"clientId": "c", "authUri": "https://consent.example/a", "state": "s"}},
}


@pytest.mark.parametrize(
    ("config", "filled_in", "credential"),
    [
        (API_KEY, {"apiKey": "hush"}, {"authType": "apiKey", "apiKey": "hush"}),
        (
            BASIC,
            {"username": "u", "password": "hush"},
            {"authType": "http", "http": {"scheme": "basic", "credentials": {"username": "u", "password": "hush"}}},
        ),
        (BEARER, {"token": "hush"}, {"authType": "http", "http": {"scheme": "bearer", "credentials": {"token": "hush"}}}),
        (
            OAUTH,
            {"authResponseUri": "https://back.example/?code=hush"},
            {
                "authType": "oauth2",
                "oauth2": {
                    "clientId": "c",
                    "authUri": "https://consent.example/a",
                    "state": "s",
                    "authResponseUri": "https://back.example/?code=hush",
                },
            },
        ),
    ],
)
def test_the_response_is_the_request_with_the_credential(config: Any, filled_in: Any, credential: Any) -> None:
    given = answer(config, filled_in)
    assert given["exchangedAuthCredential"] == credential and given["authScheme"] == config["authScheme"]
    read = read_answer(given)
    assert read is not None and read.exchanged_auth_credential is not None
    assert [field.kind for field in fields_for(config) or []].count("secret") >= 1
    event = Event(author="user", content=types.Content(parts=[_response(given)]))
    assert "hush" not in without_credentials(event).model_dump_json() and HIDDEN in without_credentials(event).model_dump_json()
    assert "hush" in event.model_dump_json(), "the event itself is unchanged"
    assert describe(event).summary == "credential given"


def _response(given: dict[str, Any]) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id="1", name="adk_request_credential", response=given))


def test_a_scheme_without_a_form_has_no_fields() -> None:
    assert fields_for({"authScheme": {"type": "mutualTLS"}}) is None
    assert fields_for({}) is None


def test_the_consent_page_is_found() -> None:
    assert consent_page(OAUTH) == "https://consent.example/a"
    assert consent_page(API_KEY) == ""


def test_other_events_are_not_changed() -> None:
    event = Event(author="user", content=types.Content(parts=[types.Part(text="apiKey")]))
    assert without_credentials(event) is event


def test_snake_case_and_lists_are_hidden_too() -> None:
    event = Event(author="user", content=types.Content(parts=[_response({"a": [{"api_key": "hush", "access_token": "hush"}]})]))
    assert "hush" not in without_credentials(event).model_dump_json()
