"""Clients without a secret: the consent's challenge, and its secret at the exchange, against a local OAuth2 server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from google.genai import types
from pydantic import ValidationError

from runtime.agents import LlmAgent
from runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes, AuthHandler, OAuth2Auth
from runtime.auth.auth_credential import ServiceAccount
from runtime.auth.auth_schemes import OAuth2, OAuthFlowAuthorizationCode, OAuthFlows
from runtime.auth.oauth2_tokens import refreshed
from runtime.events import Event
from runtime.events.credentials import without_credentials
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.tools.authenticated_function_tool import AuthenticatedFunctionTool
from tests.agent_specs import message
from tests.gemini_server import Answer, GeminiServer, gemini_server
from tests.unit.auth.test_authenticated_tools import TOKENS, FormHandler, greet


@pytest.fixture
def idp() -> Iterator[GeminiServer]:
    with gemini_server(Answer([{**TOKENS, "id_token": "who"}]), handler=FormHandler) as server:
        yield server


def config(idp: GeminiServer, **client: Any) -> AuthConfig:
    flow = OAuthFlowAuthorizationCode(authorizationUrl=f"{idp.url}/auth", tokenUrl=f"{idp.url}/token", scopes={"read": "Read."})
    oauth2 = OAuth2Auth(client_id="me", redirect_uri="http://here/", **client)
    return AuthConfig(
        auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=flow)),
        raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=oauth2),
    )


def consent(asked: AuthConfig) -> tuple[OAuth2Auth, dict[str, list[str]]]:
    oauth2 = asked.exchanged_auth_credential and asked.exchanged_auth_credential.oauth2
    assert oauth2 and oauth2.auth_uri
    return oauth2, parse_qs(urlsplit(oauth2.auth_uri).query)


def challenge(verifier: str | None) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256((verifier or "").encode()).digest()).decode().rstrip("=")


@pytest.mark.parametrize("given", [{}, {"client_secret": "hidden", "code_challenge_method": "S256"}, {"code_verifier": "mine" * 12}])
def test_the_request_for_consent_has_the_challenge(idp: GeminiServer, given: dict[str, Any]) -> None:
    oauth2, query = consent(AuthHandler(config(idp, **given)).generate_auth_request())

    assert query["code_challenge"] == [challenge(oauth2.code_verifier)] and query["code_challenge_method"] == ["S256"]
    assert 43 <= len(oauth2.code_verifier or "") <= 128
    assert given.get("code_verifier") in (None, oauth2.code_verifier)
    assert (oauth2.code_verifier or "") not in (oauth2.auth_uri or "") and (oauth2.code_verifier or "") not in repr(oauth2)


def test_a_client_with_a_secret_sends_no_challenge_unless_it_asks(idp: GeminiServer) -> None:
    oauth2, query = consent(AuthHandler(config(idp, client_secret="hidden", prompt="login", nonce="n")).generate_auth_request())
    assert "code_challenge" not in query and oauth2.code_verifier is None
    assert query["prompt"] == ["login"] and query["nonce"] == ["n"]
    with pytest.raises(ValueError, match="Only 'S256'"):
        AuthHandler(config(idp, code_challenge_method="plain")).generate_auth_request()


async def test_the_exchange_proves_who_asked(idp: GeminiServer) -> None:
    replies = [Reply(calls=[("greet", {"name": "Ada"})]), "Please log in.", "Done."]
    tool = AuthenticatedFunctionTool(func=greet, auth_config=config(idp))
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=[tool])
    runner = Runner(app_name="app", agent=agent, session_service=InMemorySessionService(), auto_create_session=True)

    async def said(content: types.Content) -> list[Event]:
        return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=content)]

    first = await said(message("go"))
    (request,) = [event for event in first if any(call.name == "adk_request_credential" for call in event.get_function_calls())]
    (asked,) = request.get_function_calls()
    verifier = consent(AuthConfig.model_validate((asked.args or {})["authConfig"]))[0].code_verifier
    assert verifier and verifier not in without_credentials(request).model_dump_json()

    shown = (without_credentials(request, shown=None).get_function_calls()[0].args or {})["authConfig"]
    answer: dict[str, Any] = json.loads(json.dumps(shown))
    oauth2 = answer["exchangedAuthCredential"]["oauth2"]
    oauth2["authResponseUri"] = f"http://here/?code=abc&state={oauth2['state']}"
    part = types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response=answer))
    second = await said(types.Content(role="user", parts=[part]))

    results = [response.response for event in second for response in event.get_function_responses()]
    assert str(results[0]["result"]).startswith("Ada tok ")  # type: ignore[index]
    (sent,) = idp.requests
    assert sent.body == {
        "grant_type": "authorization_code",
        "code": "abc",
        "redirect_uri": "http://here/",
        "client_id": "me",
        "code_verifier": verifier,
    }
    assert "authorization" not in sent.headers


async def test_a_client_without_a_secret_refreshes_its_token(idp: GeminiServer) -> None:
    asked = config(idp, access_token="old", refresh_token="r", expires_at=1, code_challenge_method="S256")
    assert asked.raw_auth_credential
    new = await refreshed(asked.raw_auth_credential, asked.auth_scheme)

    assert new and new.oauth2 and (new.oauth2.access_token, new.oauth2.id_token, new.oauth2.code_verifier) == ("tok", "who", None)
    assert idp.requests[0].body == {"grant_type": "refresh_token", "refresh_token": "r", "client_id": "me"}


def test_an_identity_token_needs_an_audience() -> None:
    with pytest.raises(ValidationError, match="needs an audience"):
        ServiceAccount(use_default_credential=True, use_id_token=True)


async def test_an_answers_code_is_kept_as_a_token_for_the_run(idp: GeminiServer) -> None:
    asked = config(idp, client_secret="hidden")
    asked.exchanged_auth_credential = AuthCredential(
        auth_type=AuthCredentialTypes.OAUTH2,
        oauth2=OAuth2Auth(client_id="me", client_secret="hidden", auth_code="code", redirect_uri="http://here/"),
    )
    state: dict[str, Any] = {}
    await AuthHandler(asked).parse_and_store_auth_response(state)
    kept = AuthHandler(asked).get_auth_response(state)
    assert kept is not None and kept.oauth2 is not None and kept.oauth2.access_token
