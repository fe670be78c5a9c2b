"""Tools that need a credential, against a local OAuth2 server: exchange, refresh, requests to the user, headers."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.genai import types
from pydantic import BaseModel, Field

from runtime.agents import LlmAgent
from runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes, AuthHandler, HttpAuth, HttpCredentials, OAuth2Auth
from runtime.auth.auth_credential import ServiceAccount
from runtime.auth.auth_headers import auth_headers
from runtime.auth.auth_schemes import (
    APIKey,
    APIKeyIn,
    AuthSchemeType,
    ExtendedOAuth2,
    HTTPBearer,
    OAuth2,
    OAuthFlowAuthorizationCode,
    OAuthFlowClientCredentials,
    OAuthFlows,
    OAuthGrantType,
    OpenIdConnect,
    OpenIdConnectWithConfig,
    SecurityBase,
    as_scheme,
)
from runtime.auth.credential_manager import CredentialManager
from runtime.auth.credential_service.in_memory_credential_service import InMemoryCredentialService
from runtime.auth.credential_service.session_state_credential_service import SessionStateCredentialService
from runtime.auth.oauth2_tokens import exchanged, refreshed
from runtime.auth.service_account import CredentialExchangeError, bearer_token
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.tools.authenticated_function_tool import AuthenticatedFunctionTool
from runtime.tools.base_authenticated_tool import PENDING, BaseAuthenticatedTool
from runtime.tools.tool_context import ToolContext
from tests.agent_specs import message
from tests.gemini_server import Answer, Failure, GeminiHandler, GeminiServer, gemini_server
from tests.unit.tools.tool_contexts import tool_context

USER = {"username": "u", "password": "p"}
TOKENS = {"access_token": "tok", "refresh_token": "again", "expires_in": 3600, "token_type": "Bearer"}


class FormHandler(GeminiHandler):
    """Reads forms in place of JSON."""

    def read_body(self, content: bytes) -> dict[str, Any]:
        return {name: values[0] for name, values in parse_qs(content.decode()).items()}


@pytest.fixture
def idp() -> Iterator[GeminiServer]:
    with gemini_server(Answer([TOKENS]), handler=FormHandler) as server:
        yield server


def by_code(idp: GeminiServer) -> OAuth2:
    flow = OAuthFlowAuthorizationCode(authorizationUrl=f"{idp.url}/auth", tokenUrl=f"{idp.url}/token", scopes={"read": "Read."})
    return OAuth2(flows=OAuthFlows(authorizationCode=flow))


def for_itself(idp: GeminiServer) -> OAuth2:
    flow = OAuthFlowClientCredentials(tokenUrl=f"{idp.url}/token", scopes={"read": "Read."})
    return OAuth2(flows=OAuthFlows(clientCredentials=flow))


def client(**more: Any) -> AuthCredential:
    return AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me", client_secret="hidden", **more))


def token_of(credential: AuthCredential | None) -> str | None:
    return credential.oauth2.access_token if credential and credential.oauth2 else None


@pytest.mark.parametrize("method", [None, "client_secret_post"])
async def test_a_client_gets_a_token_for_itself(idp: GeminiServer, method: str | None) -> None:
    raw = client(token_endpoint_auth_method=method, audience="shop")
    result = await exchanged(raw, for_itself(idp))

    (sent,) = idp.requests
    assert token_of(result) == "tok" and token_of(raw) is None
    assert result and result.oauth2 and abs((result.oauth2.expires_at or 0) - time.time() - 3600) < 60
    form = {"grant_type": "client_credentials", "scope": "read", "audience": "shop"}
    if method is None:
        assert sent.headers["authorization"] == "Basic " + base64.b64encode(b"me:hidden").decode()
        assert sent.body == form
    else:
        assert sent.body == {**form, "client_id": "me", "client_secret": "hidden"}


async def test_a_code_is_exchanged(idp: GeminiServer) -> None:
    answer = client(state="s", redirect_uri="http://here/", auth_response_uri="http://here/?code=abc&state=s")
    assert token_of(await exchanged(answer, by_code(idp))) == "tok"
    handler = AuthHandler(AuthConfig(auth_scheme=by_code(idp), raw_auth_credential=client(), exchanged_auth_credential=answer))
    assert token_of(await handler.exchange_auth_token()) == "tok"
    assert idp.requests[0].body == {"grant_type": "authorization_code", "code": "abc", "redirect_uri": "http://here/"}


@pytest.mark.logs("another request's state", "gave no token", "There is no OAuth2 token without")
async def test_without_a_token_the_credential_stays(idp: GeminiServer) -> None:
    idp.answers = [Failure(400, b'{"error": "invalid_client"}')]
    for credential, scheme in (
        (client(state="s", auth_response_uri="http://here/?code=abc&state=other"), by_code(idp)),
        (client(auth_code="abc"), by_code(idp)),
        (client(), by_code(idp)),
        (client(access_token="old"), by_code(idp)),
        (client(), HTTPBearer()),
        (AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me")), for_itself(idp)),
        (client(), OAuth2(flows=OAuthFlows(clientCredentials=OAuthFlowClientCredentials(tokenUrl="http://127.0.0.1:9/token")))),
    ):
        assert await exchanged(credential, scheme) is None


async def test_a_token_that_ends_is_refreshed(idp: GeminiServer) -> None:
    old = client(access_token="old", refresh_token="r", expires_at=int(time.time()) - 1)
    lasting = client(access_token="new", refresh_token="r", expires_at=int(time.time()) + 3600)
    for credential in (lasting, client(access_token="endless", refresh_token="r"), client(access_token="old", expires_at=1)):
        assert await refreshed(credential, by_code(idp)) is None

    assert token_of(await refreshed(old, by_code(idp))) == "tok"
    assert idp.requests[0].body == {"grant_type": "refresh_token", "refresh_token": "r"}


def test_the_user_consents_at_the_schemes_address(idp: GeminiServer) -> None:
    config = AuthConfig(auth_scheme=by_code(idp), raw_auth_credential=client(redirect_uri="http://here/"))
    asked = AuthHandler(config).generate_auth_request()

    oauth2 = asked.exchanged_auth_credential and asked.exchanged_auth_credential.oauth2
    assert oauth2 and oauth2.auth_uri
    query = parse_qs(urlsplit(oauth2.auth_uri).query)
    assert oauth2.auth_uri.startswith(f"{idp.url}/auth?")
    assert (query["client_id"], query["scope"], query["redirect_uri"]) == (["me"], ["read"], ["http://here/"])
    assert query["state"] == [oauth2.state] and "hidden" not in oauth2.auth_uri
    assert AuthHandler(asked).generate_auth_request().exchanged_auth_credential == asked.exchanged_auth_credential
    with pytest.raises(ValueError, match="raw_auth_credential"):
        AuthHandler(AuthConfig(auth_scheme=by_code(idp))).generate_auth_request()


def greet(name: str, credential: AuthCredential, tool_context: ToolContext) -> str:
    """Greet with a credential.

    Args:
        name: Who.
    """
    return f"{name} {token_of(credential) or credential.api_key} {tool_context.function_call_id}"


async def test_a_function_gets_the_credential_and_the_model_does_not_see_it() -> None:
    config = AuthConfig(
        auth_scheme=APIKey.model_validate({"in": "header", "name": "X-Key"}),
        raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k"),
    )
    tool = AuthenticatedFunctionTool(func=greet, auth_config=config)
    declaration = tool._get_declaration()

    assert declaration and declaration.parameters and list(declaration.parameters.properties or {}) == ["name"]
    assert await tool.run_async(args={"name": "Ada", "credential": "forged"}, tool_context=tool_context()) == "Ada k call-1"
    assert "name" in (await tool.run_async(args={}, tool_context=tool_context()))["error"]


async def test_a_function_without_the_parameter_or_asynchronous_works() -> None:
    def plain(name: str) -> str:
        """Greet."""
        return name

    async def later(credential: AuthCredential | None) -> str:
        """Wait."""
        return str(credential)

    assert await AuthenticatedFunctionTool(func=plain).run_async(args={"name": "Ada"}, tool_context=tool_context()) == "Ada"
    assert await AuthenticatedFunctionTool(func=later).run_async(args={}, tool_context=tool_context()) == "None"


async def test_the_user_is_asked_and_the_code_becomes_a_token(idp: GeminiServer) -> None:
    config = AuthConfig(auth_scheme=by_code(idp), raw_auth_credential=client(redirect_uri="http://here/"))
    replies = [Reply(calls=[("greet", {"name": "Ada"})]), "Please log in.", "Done."]
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=[AuthenticatedFunctionTool(func=greet, auth_config=config)])
    runner = Runner(app_name="app", agent=agent, session_service=InMemorySessionService(), auto_create_session=True)

    async def said(content: types.Content) -> list[Event]:
        return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=content)]

    first = await said(message("go"))
    (asked,) = [call for event in first for call in event.get_function_calls() if call.name == "adk_request_credential"]
    assert PENDING in json.dumps([event.model_dump(mode="json") for event in first])
    assert "hidden" not in json.dumps([event.model_dump(mode="json") for event in first])
    answer: dict[str, Any] = dict((asked.args or {})["authConfig"])
    state = answer["exchangedAuthCredential"]["oauth2"]["state"]
    answer["exchangedAuthCredential"]["oauth2"]["authResponseUri"] = f"http://here/?code=abc&state={state}"
    part = types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response=answer))
    second = await said(types.Content(role="user", parts=[part]))

    results = [response.response for event in second for response in event.get_function_responses()]
    assert str(results[0]["result"]).startswith("Ada tok ")  # type: ignore[index]
    assert idp.requests[0].body["code"] == "abc"


@pytest.mark.parametrize("service", [InMemoryCredentialService(), SessionStateCredentialService()])
async def test_a_credential_service_keeps_the_token(idp: GeminiServer, service: Any) -> None:
    config = AuthConfig(auth_scheme=for_itself(idp), raw_auth_credential=client())
    context = tool_context()
    context._invocation_context.credential_service = service
    manager = CredentialManager(config)

    assert token_of(await manager.get_auth_credential(context)) == "tok"
    assert token_of(await manager.get_auth_credential(context)) == "tok"
    assert len(idp.requests) == 1


async def test_a_service_account_without_a_key_is_an_error() -> None:
    raw = AuthCredential(auth_type=AuthCredentialTypes.SERVICE_ACCOUNT, service_account=ServiceAccount(scopes=["a"]))
    with pytest.raises(CredentialExchangeError, match="has no key"):
        await CredentialManager(AuthConfig(auth_scheme=HTTPBearer(), raw_auth_credential=raw)).get_auth_credential(tool_context())


async def test_a_service_account_gets_a_token(idp: GeminiServer) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    text = dict.fromkeys(("project_id", "private_key_id", "client_email", "client_id", "auth_uri"), "x")
    urls = {
        "universe_domain": "googleapis.com",
        "auth_provider_x509_cert_url": "x",
        "client_x509_cert_url": "x",
        "token_uri": f"{idp.url}/token",
        "private_key": key.decode(),
    }
    account = ServiceAccount.model_validate({"service_account_credential": {"type": "service_account", **text, **urls}, "scopes": ["read"]})
    raw = AuthCredential(auth_type=AuthCredentialTypes.SERVICE_ACCOUNT, service_account=account)

    credential = await bearer_token(raw)

    assert auth_headers(credential, None) == {"Authorization": "Bearer tok"}
    assert "PRIVATE" not in repr(raw)


@pytest.mark.parametrize(
    ("credential", "headers"),
    [
        (client(access_token="t"), {"Authorization": "Bearer t"}),
        ({"authType": "http", "http": {"scheme": "BEARER", "credentials": {"token": "t"}}}, {"Authorization": "Bearer t"}),
        ({"authType": "http", "http": {"scheme": "Digest", "credentials": {"token": "t"}}}, {"Authorization": "Digest t"}),
        (
            {"authType": "http", "http": {"scheme": "basic", "credentials": {"username": "u", "password": "p"}}},
            {"Authorization": "Basic dTpw"},
        ),
        ({"authType": "apiKey", "apiKey": "k"}, {"X-Key": "k"}),
        (client(), {}),
        (None, {}),
    ],
)
def test_a_credential_is_a_header(credential: Any, headers: dict[str, str]) -> None:
    given = AuthCredential.model_validate(credential) if isinstance(credential, dict) else credential
    assert auth_headers(given, as_scheme({"type": "apiKey", "in": "header", "name": "X-Key"})) == headers


def test_a_key_is_sent_in_a_header_only() -> None:
    key = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k")
    with pytest.raises(ValueError, match="in a header only"):
        auth_headers(key, as_scheme({"type": "apiKey", "in": "query", "name": "key"}))


class Foreign(BaseModel):
    type_: str = Field(default="openIdConnect", alias="type")
    openIdConnectUrl: str = "https://idp"


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"type": "apiKey", "in": "cookie", "name": "k"}, APIKey),
        ({"type": "http", "scheme": "bearer"}, HTTPBearer),
        ({"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://x"}}}, OAuth2),
        ({"type": "oauth2", "flows": {}, "issuer_url": "https://x"}, ExtendedOAuth2),
        ({"type": "openIdConnect", "authorization_endpoint": "a", "token_endpoint": "t"}, OpenIdConnectWithConfig),
        (Foreign(), OpenIdConnect),
        ({"type": "apiKey"}, SecurityBase),
        ({"type": "mutualTLS", "more": 1}, SecurityBase),
    ],
)
def test_schemes_of_all_kinds_are_read(given: Any, kind: type) -> None:
    scheme = as_scheme(given)
    assert type(scheme) is kind
    config = AuthConfig(auth_scheme=given)
    again = AuthConfig.model_validate(config.model_dump(mode="json", by_alias=True))
    assert type(again.auth_scheme) is kind and again.credential_key == config.credential_key
    plain = given if isinstance(given, dict) else {"type": "openIdConnect", "openIdConnectUrl": "https://idp"}
    assert plain.items() <= config.model_dump(mode="json", by_alias=True, exclude_none=True)["authScheme"].items() or "flows" in plain


def test_google_adks_enumerations() -> None:
    assert AuthSchemeType.oauth2.value == "oauth2" and APIKeyIn.header.value == "header"
    grants = [OAuthGrantType.from_flow(OAuthFlows.model_validate(flow)) for flow in ({}, {"password": {"tokenUrl": "t"}})]
    assert grants == [None, OAuthGrantType.PASSWORD]


def test_secrets_are_not_in_representations() -> None:
    secret = HttpAuth(scheme="basic", credentials=HttpCredentials(username="u", password="pass-word", token="to-ken"))
    text = repr(AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=secret, api_key="api-key")) + repr(client(access_token="acc"))
    assert not any(word in text for word in ("pass-word", "to-ken", "api-key", "hidden", "acc'"))


def test_an_authenticated_tool_must_be_able_to_run() -> None:
    with pytest.raises(TypeError, match="_run_async_impl"):
        BaseAuthenticatedTool(name="own", description="")  # type: ignore[abstract]


async def test_an_own_tool_asks_for_its_credential(idp: GeminiServer) -> None:
    class Own(BaseAuthenticatedTool):
        async def _run_async_impl(self, *, args: Any, tool_context: Any, credential: Any) -> Any:
            return token_of(credential)

    config = AuthConfig(auth_scheme=by_code(idp), raw_auth_credential=client())
    context = tool_context()
    assert await Own(name="o", description="").run_async(args={}, tool_context=context) is None
    waiting = Own(name="o", description="", auth_config=config, response_for_auth_required={"status": "login"})
    assert await waiting.run_async(args={}, tool_context=context) == {"status": "login"}
    assert list(context.actions.requested_auth_configs) == ["call-1"]
