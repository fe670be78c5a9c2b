"""Agents on other servers, against servers in a process of their own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.genai import types

from runtime.agents import LlmAgent
from runtime.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH, RemoteA2aAgent
from runtime.errors import missing_package_error
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.events import Event
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.runners import InMemoryRunner
from tests.agent_specs import message

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.a2a_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            ports = json.loads(process.stdout.readline())
            yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        finally:
            process.kill()


class Session:
    """One session of an agent."""

    def __init__(self, agent: Any) -> None:
        self.runner, self.id = InMemoryRunner(agent, app_name="app"), ""

    async def say(self, content: types.Content | str) -> list[Event]:
        if not self.id:
            self.id = (await self.runner.session_service.create_session(app_name="app", user_id="user")).id
        content = message(content) if isinstance(content, str) else content
        async with aclosing(self.runner.run_async(user_id="user", session_id=self.id, new_message=content)) as events:
            return [event async for event in events]

    async def answer(self, question: Event, response: dict[str, Any]) -> list[Event]:
        (call,) = question.get_function_calls()
        part = types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))
        return await self.say(types.Content(role="user", parts=[part]))


def remote(url: str, **more: Any) -> RemoteA2aAgent:
    return RemoteA2aAgent("far", url + AGENT_CARD_WELL_KNOWN_PATH, **more)


def said(events: list[Event]) -> list[str]:
    """The texts that are no thoughts."""
    return [part.text for event in events for part in (event.content and event.content.parts) or [] if part.text and not part.thought]


def marks(event: Event) -> dict[str, Any]:
    assert event.custom_metadata is not None
    return event.custom_metadata


@pytest.mark.parametrize("server", ["shop", "below"])
async def test_an_answer_is_stored_as_google_adk_stores_it(servers: dict[str, str], server: str) -> None:
    url = servers[server] + ("/agents/shop" if server == "below" else "")
    submitted, working, answer, completed = await Session(remote(url)).say("hello")
    assert {event.author for event in (submitted, working, answer, completed)} == {"far"}
    assert working.content and working.content.parts and working.content.parts[0].thought
    assert answer.content == types.Content(role="model", parts=[types.Part(text="hello")])
    assert answer.partial is False
    assert submitted.content is None and completed.content is None
    assert {event.branch for event in (submitted, answer)} == {None}
    states = [marks(event)["a2a:response"]["status"]["state"] for event in (submitted, working, completed)]
    assert states == ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    assert len({marks(event)["a2a:task_id"] for event in (submitted, answer)}) == 1
    request = marks(answer)["a2a:request"]
    assert request["parts"] == [{"text": "hello", "metadata": {"is_user_input": True}}]
    assert "contextId" not in request


async def test_a_second_message_continues_the_context_and_a_new_session_does_not(servers: dict[str, str]) -> None:
    session = Session(remote(servers["shop"]))
    first, second = await session.say("one"), await session.say("two")
    assert said(second) == ["one | one | two"]  # the server's own session has its answer
    assert marks(second[-1])["a2a:context_id"] == marks(first[-1])["a2a:context_id"] == marks(second[-1])["a2a:request"]["contextId"]
    assert marks(second[-1])["a2a:task_id"] != marks(first[-1])["a2a:task_id"]
    assert [part["text"] for part in marks(second[-1])["a2a:request"]["parts"]] == ["two"]
    assert said(await Session(remote(servers["shop"])).say("three")) == ["three"]


async def test_calls_of_the_remote_agent_are_thoughts_and_its_last_text_is_the_answer(servers: dict[str, str]) -> None:
    events = await Session(remote(servers["shop"])).say("roll")
    assert said(events) == ["It is a 4."]
    calls = [call.name for event in events for call in event.get_function_calls()]
    results = [result.response for event in events for result in event.get_function_responses()]
    assert (calls, results) == (["roll"], [{"rolled": 4}])


async def test_a_long_running_call_there_is_answered_here(servers: dict[str, str]) -> None:
    session = Session(remote(servers["shop"]))
    asked = await session.say("approve 200")
    question = asked[-1]
    assert [call.name for call in question.get_function_calls()] == ["ask_for_approval"]
    assert question.long_running_tool_ids == {question.get_function_calls()[0].id}
    answered = await session.answer(question, {"status": "approved"})
    assert said(answered)[-1] == "The manager agrees."
    assert marks(answered[-1])["a2a:task_id"] == marks(question)["a2a:task_id"]


@pytest.mark.parametrize("in_words", [True, False])
async def test_a_question_in_words_is_a_call_and_is_answered_by_either(servers: dict[str, str], in_words: bool) -> None:
    session = Session(remote(servers["asking"]))
    question = (await session.say("weather"))[-1]
    (call,) = question.get_function_calls()
    assert (call.name, call.args) == ("mock_function_call_for_required_user_input", {"input_required": "Which city?"})
    answered = await (session.say("Oslo") if in_words else session.answer(question, {"result": "Oslo"}))
    assert said(answered) == ["It rains in Oslo."]
    assert marks(answered[-1])["a2a:task_id"] == marks(question)["a2a:task_id"]


@pytest.mark.parametrize(("words", "told"), [("quota", "No quota is left."), ("break", "The shop is broken.")])
async def test_a_failure_there_is_a_failed_task_here(servers: dict[str, str], words: str, told: str) -> None:
    last = (await Session(remote(servers["shop"])).say(words))[-1]
    assert told in said([last])[0]
    assert marks(last)["a2a:response"]["status"]["state"] == "TASK_STATE_FAILED"


async def test_a_parent_transfers_and_what_others_said_is_context(servers: dict[str, str]) -> None:
    rules = [Rule(when="^buy", reply=Reply(text="I ask the shop.", calls=[("transfer_to_agent", {"agent_name": "far"})]))]
    root = LlmAgent(name="root", model=ScriptedLlm(rules=rules), sub_agents=[remote(servers["shop"], description="A shop.")])
    events = await Session(root).say("buy a die")
    sent = [part["text"] for part in marks(events[-1])["a2a:request"]["parts"]]
    assert sent[:3] == ["buy a die", "For context:", "[root] said: I ask the shop."]
    assert "is_user_input" not in marks(events[-1])["a2a:request"]["parts"][1].get("metadata", {})
    assert said(events)[-1].startswith("buy a die | For context:")


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[str]:
    """A server that sends these bytes, one to each connection, and hangs up."""
    left = list(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        await reader.readexactly(length)
        writer.write(left.pop(0).replace(b"PORT", str(port).encode()))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield f"http://127.0.0.1:{port}"


def http(body: object, kind: str = "application/json", status: str = "200 OK") -> bytes:
    text = body if isinstance(body, str) else json.dumps(body)
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n{text}".encode()


CARD = {
    "name": "far",
    "description": "Far.",
    "version": "1",
    "capabilities": {"streaming": True},
    "supportedInterfaces": [{"url": "http://127.0.0.1:PORT", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
}
BEGUN = {"jsonrpc": "2.0", "id": "1", "result": {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}}
REFUSED = {"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "No agent today"}}
ELSEWHERE = [{"url": "http://127.0.0.1:1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([http("no card")], "The card of the remote agent far could not be read from http"),
        ([http("[1]")], "The card of the remote agent far could not be read from http"),
        ([http({"name": ["far"]})], "The card of the remote agent far could not be read from http"),
        ([http("", status="404 Not Found")], "404"),
        ([http({"name": "far"})], "The card of the remote agent far names no URL to send messages to."),
        ([http({**CARD, "supportedInterfaces": ELSEWHERE})], "names another server, http://127.0.0.1:1."),
        ([http(CARD), http(REFUSED)], "The remote agent far could not be asked: No agent today"),
        ([http(CARD), http("", status="500 Broken")], "The remote agent far could not be asked: "),
        ([http(CARD), http("nonsense")], "The remote agent far could not be asked: "),
        ([http(CARD), b""], "The remote agent far could not be asked: "),
        (
            [http(CARD), http(f"data: {json.dumps(BEGUN)}\n\n", "text/event-stream")],
            "The answer of the remote agent far ended before its task was done.",
        ),
        ([http(CARD), http("data: {nonsense\n\n", "text/event-stream")], "The remote agent far could not be asked: "),
    ],
)
async def test_what_goes_wrong_is_an_event_that_says_it(answers: list[bytes], told: str) -> None:
    async with answering(*answers) as url:
        last = (await Session(remote(url)).say("hello"))[-1]
    assert last.error_message is not None and told in last.error_message
    assert (last.author, last.content) == ("far", None)
    assert ("a2a:request" in (last.custom_metadata or {})) == (len(answers) > 1)


async def test_an_absent_server_and_an_unsafe_address_are_reported(unused_tcp_port: int) -> None:
    absent = await Session(remote(f"http://127.0.0.1:{unused_tcp_port}")).say("hello")
    assert "could not be read from" in str(absent[-1].error_message)
    unsafe = await Session(remote("http://agents.example.com")).say("hello")
    assert unsafe[-1].error_message == (
        "The card of the remote agent far must be at an https:// URL, or at http:// on this machine: "
        "http://agents.example.com/.well-known/agent-card.json"
    )


async def test_a_card_can_be_a_file(servers: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_bytes((await _get(servers["shop"] + AGENT_CARD_WELL_KNOWN_PATH)).content)
    assert said(await Session(RemoteA2aAgent("far", str(file))).say("hello")) == ["hello"]
    file.write_text("{", encoding="utf-8")
    assert f"{file} is no card of a remote agent: " in str((await Session(RemoteA2aAgent("far", str(file))).say("hello"))[-1].error_message)
    file.unlink()
    missing = (await Session(RemoteA2aAgent("far", str(file))).say("hello"))[-1].error_message
    assert missing == f"The card of the remote agent far, {file}, cannot be read: No such file or directory."


async def _get(url: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()})


async def test_the_card_names_tools_and_no_instruction(servers: dict[str, str]) -> None:
    card = (await _get(servers["shop"] + AGENT_CARD_WELL_KNOWN_PATH)).json()
    assert [(skill["id"], skill["name"], skill["description"], skill["tags"]) for skill in card["skills"]][:2] == [
        ("shop", "model", "Sells dice.", ["llm"]),
        ("shop-roll", "roll", "Roll a die.", ["llm", "tools"]),
    ]
    assert card["supportedInterfaces"][0]["url"] == servers["shop"]
    assert "secret" not in json.dumps(card)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:8000"},
        {"referer": "http://evil.example/page"},
        {"sec_fetch_site": "cross-site"},
    ],
)
async def test_a_web_page_may_not_ask(servers: dict[str, str], headers: dict[str, str]) -> None:
    refused = await _get(servers["shop"] + AGENT_CARD_WELL_KNOWN_PATH, **headers)
    assert refused.status_code == 403
    assert (await _get(servers["shop"] + AGENT_CARD_WELL_KNOWN_PATH, sec_fetch_site="none")).status_code == 200


async def test_without_the_package_the_agent_loads_and_its_run_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_package_error, "is_installed", lambda package: False)
    (event,) = await Session(remote("http://127.0.0.1:1")).say("hello")
    assert event.error_message == "Remote A2A agents need the package a2a-sdk: pip install 'agent-inspector[a2a]'."


def test_what_needs_the_engine_and_what_is_no_card_is_reported() -> None:
    with pytest.raises(EngineNeededError, match="auth_scheme= of a RemoteA2aAgent needs google-adk"):
        remote("http://localhost", auth_scheme=object())
    with pytest.raises(TypeError, match="not int"):
        RemoteA2aAgent("far", 1)
    with pytest.raises(ValueError, match="agent_card is empty"):
        RemoteA2aAgent("far", " ")


def test_loading_the_agent_does_not_load_the_package() -> None:
    code = (
        "import sys, runtime.agents.remote_a2a_agent as remote, runtime.a2a.utils.agent_to_a2a as served\n"
        "from runtime.agents import LlmAgent\n"
        "served.to_a2a(LlmAgent(name='a', model='m')), remote.RemoteA2aAgent('b', 'http://localhost/card')\n"
        "assert 'a2a' not in sys.modules and 'google.protobuf' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, check=True)
