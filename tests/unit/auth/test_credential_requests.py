"""Credential requests: a tool asks for a credential, the user answers, and the call is run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import Context, LlmAgent, ReadonlyContext
from runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
from runtime.events import Event
from runtime.history.invocations import pending_items
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.runners import Runner
from runtime.storage.open_service import open_session_service
from runtime.tools import BaseTool, BaseToolset, FunctionTool, ToolContext
from tests.fixture_paths import copy_of, fixtures_dir
from tests.seeds.running import run, runner_for, stored, texts

SCHEME = {"type": "oauth2", "flows": {"authorizationCode": {"authorizationUrl": "https://idp/auth", "tokenUrl": "https://idp/token"}}}


def config() -> AuthConfig:
    raw = AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me", client_secret="hidden"))
    return AuthConfig(auth_scheme=SCHEME, raw_auth_credential=raw)


def agent(auth_config: Any, used: list[Any]) -> LlmAgent:
    def login(tool_context: ToolContext) -> dict[str, Any]:
        credential = tool_context.get_auth_response(auth_config)
        used.append(credential)
        if credential is None:
            tool_context.request_credential(auth_config)
            return {"status": "login needed"}
        return {"status": "in"}

    rules = [Rule(when="login needed", reply="Please log in."), Rule(when='"in"', reply="Done."), Rule(reply=Reply(calls=[("login", {})]))]
    return LlmAgent(name="agent", model=ScriptedLlm(rules=rules), tools=[login])


async def answer(runner: Runner, call: types.FunctionCall, response: dict[str, Any]) -> list[Event]:
    part = types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))
    content = types.Content(role="user", parts=[part])
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=content)]


def request_in(events: list[Event]) -> types.FunctionCall:
    (call,) = [call for event in events for call in event.get_function_calls() if call.name == "adk_request_credential"]
    return call


def answered(call: types.FunctionCall, token: str = "tok") -> dict[str, Any]:
    given: dict[str, Any] = json.loads(json.dumps((call.args or {})["authConfig"]))
    given["exchangedAuthCredential"] = {"authType": "oauth2", "oauth2": {"clientId": "me", "accessToken": token}}
    return given


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("wrapped", [True, False])
async def test_the_call_is_run_again_with_the_answer(resumable: bool, wrapped: bool) -> None:
    used: list[Any] = []
    runner = runner_for(agent(config(), used), resumable=resumable)
    events = await run(runner)
    assert texts(events) == ([] if resumable else ["Please log in."])
    call = request_in(events)
    assert [(item.kind, item.name) for item in pending_items((await stored(runner)).events)] == [("credential", "login")]
    response = answered(call)
    events = await answer(runner, call, {"response": json.dumps(response)} if wrapped else response)
    assert used[0] is None and used[1].oauth2.access_token == "tok" and len(used) == 2
    assert [one.response for event in events for one in event.get_function_responses()] == [{"status": "in"}]
    assert texts(events) == ["Done."]
    assert pending_items((await stored(runner)).events) == []
    assert not any(key.startswith("temp:") for key in (await stored(runner)).state)


async def test_the_request_has_google_adks_format_and_no_secret() -> None:
    runner = runner_for(agent(config(), []))
    events = await run(runner)
    call = request_in(events)
    database = json.loads((fixtures_dir() / "open/expected/adk2.13.0-v1-auth_pending-before.json").read_text())
    theirs = [
        part["function_call"]
        for session in database["sessions"]
        for event in session["events"]
        for part in event.get("content", {}).get("parts", [])
        if part.get("function_call", {}).get("name") == call.name
    ]
    assert (call.args or {}).keys() == theirs[0]["args"].keys()
    assert (call.args or {})["authConfig"].keys() >= {"authScheme", "rawAuthCredential", "credentialKey"}
    assert "hidden" not in "".join(event.model_dump_json() for event in (await stored(runner)).events)


async def test_an_answer_with_google_adks_credential_key_is_accepted() -> None:
    """google-adk derives another credential key; the scheme identifies the request."""
    used: list[Any] = []
    runner = runner_for(agent(config(), used))
    call = request_in(await run(runner))
    given = answered(call)
    given["credentialKey"] = "adk_oauth2_623e4cf55aa99849_oauth2_a61072916e336a02"
    await answer(runner, call, given)
    assert used[-1].oauth2.access_token == "tok"


async def test_an_answer_for_another_credential_is_ignored() -> None:
    used: list[Any] = []
    runner = runner_for(agent(config(), used))
    call = request_in(await run(runner))
    given = answered(call)
    given.update(authScheme={"type": "apiKey"}, credentialKey="other")
    await answer(runner, call, given)
    assert used == [None, None]


async def test_a_json_object_is_accepted_as_auth_config() -> None:
    used: list[Any] = []
    runner = runner_for(agent({"authScheme": SCHEME}, used))
    call = request_in(await run(runner))
    await answer(runner, call, answered(call))
    assert used[-1].oauth2.access_token == "tok"


def test_equal_requests_have_the_same_credential_key() -> None:
    assert config().credential_key == config().credential_key != AuthConfig(auth_scheme={"type": "apiKey"}).credential_key
    assert "hidden" not in repr(config())


@pytest.mark.parametrize("version", ["1.39.1", "2.13.0"])
async def test_a_credential_request_in_google_adks_database_is_answered(version: str, tmp_path: Path) -> None:
    """A request made by google-adk is answered here, and the call is run again."""
    scheme = {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "scopes": {"calendar": "read the calendar"},
                "authorizationUrl": "https://idp.invalid/auth",
                "tokenUrl": "https://idp.invalid/token",
            }
        },
    }
    used: list[Any] = []

    def need_login(tool_context: ToolContext) -> dict[str, str]:
        used.append(tool_context.get_auth_response({"authScheme": scheme}))
        return {"status": "in"}

    planner = LlmAgent(name="planner", model=ScriptedLlm(replies=["never said", "Nothing today."]), tools=[need_login])
    path = copy_of(f"open/adk{version}-v1-auth_pending-before.db", tmp_path)
    async with open_session_service(str(path)) as service:
        runner = Runner(app_name="cal", agent=planner, session_service=service)
        session = await service.get_session(app_name="cal", user_id="u", session_id="s")
        assert session is not None
        events = await answer(runner, request_in(session.events), answered(request_in(session.events)))
    assert used[0].oauth2.access_token == "tok"
    assert [one.response for event in events for one in event.get_function_responses()] == [{"status": "in"}]
    assert texts(events) == ["Nothing today."]


class Locked(BaseToolset):
    """Lists its tool, which notes the token, only with a credential."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: list[str | None] = []

    def get_auth_config(self) -> AuthConfig:
        return config()

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        assert readonly_context is not None
        credential = Context(readonly_context._invocation_context).get_auth_response(config())
        assert credential is not None and credential.oauth2 is not None
        self.tokens.append(credential.oauth2.access_token)

        def count(tool_context: ToolContext) -> int:
            given = tool_context.get_auth_response(config())
            self.tokens.append(given and given.oauth2 and given.oauth2.access_token)
            return 3

        return [FunctionTool(count)]


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_toolset_asks_before_its_tools_are_listed(resumable: bool) -> None:
    toolset = Locked()
    llm = ScriptedLlm(
        rules=[Rule(when="hello again", reply="Again."), Rule(when='"result": 3', reply="Three."), Rule(reply={"calls": [("count", {})]})]
    )
    runner = runner_for(LlmAgent(name="agent", model=llm, tools=[toolset]), resumable=resumable)

    asked = await run(runner)
    (call,) = [call for event in asked for call in event.get_function_calls()]
    assert (call.name, (call.args or {})["functionCallId"], toolset.tokens) == ("adk_request_credential", "_adk_toolset_auth_Locked", [])
    session = await stored(runner)
    assert [(item.kind, item.name) for item in pending_items(session.events)] == [("credential", "Locked")]
    assert "hidden" not in "".join(event.model_dump_json() for event in session.events)

    events = await answer(runner, call, answered(call))
    assert (texts(events), set(toolset.tokens)) == (["Three."], {"tok"})
    assert pending_items((await stored(runner)).events) == []

    (again,) = [
        call for event in await run(runner, "hello again") for call in event.get_function_calls()
    ]  # credentials last for an invocation
    assert texts(await answer(runner, again, answered(again, "new"))) == ["Again."]
    assert toolset.tokens[-1] == "new"


async def test_an_invocation_that_waits_for_a_toolsets_credential_is_resumed_in_vain() -> None:
    runner = runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=["never"]), tools=[Locked()]), resumable=True)
    asked = await run(runner)
    resumed = [event async for event in runner.run_async(user_id="u", session_id="s", invocation_id=asked[0].invocation_id)]
    assert texts(resumed) == []
    assert [item.kind for item in pending_items((await stored(runner)).events)] == ["credential"]


@pytest.mark.logs("cannot be used")
async def test_a_toolset_without_its_oauth2_client_is_a_clear_error() -> None:
    class Clientless(Locked):
        def get_auth_config(self) -> AuthConfig:
            return AuthConfig(auth_scheme=SCHEME)

    with pytest.raises(ValueError, match="set raw_auth_credential"):
        await run(runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=["never"]), tools=[Clientless()])))
