"""`agent-inspector api_server`: google-adk's endpoints, and access to them."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.end2end.api_server import ApiServer, api_server

AGENT = """
import asyncio
from pathlib import Path

from google.genai import types

from runtime.agents import BaseAgent
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event, EventActions

MARKS = Path(__file__).parent / "marks"


class Steps(BaseAgent):
    async def _run_async_impl(self, ctx):
        asked = ctx.user_content.parts[0].text
        try:
            for number in range(3):
                part = types.Part(text=f"step {number}")
                content = types.Content(role="model", parts=[part])
                yield Event(author=self.name, content=content, actions=EventActions(state_delta={"n": number, "none": None}))
                if asked == "wait":
                    await asyncio.sleep(60)
                if asked == "fail once" and number == 1 and not MARKS.exists():
                    MARKS.write_text("failed")
                    raise RuntimeError("broken")
        finally:
            await asyncio.sleep(0)
            print("printed by the agent")
            if asked == "wait":
                await asyncio.sleep(0.05)
                MARKS.write_text("cleaned up")
        yield Event(author=self.name, actions=EventActions(end_of_agent=True))


root_agent = Steps(name="steps")
app = App(name="another_name", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
"""

WAITS = """
from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.models import ScriptedLlm
from runtime.tools import LongRunningFunctionTool


def ask(question: str):
    return {"status": "pending"}


llm = ScriptedLlm(replies=[{"calls": [["ask", {"question": "ok?"}]]}, "Thank you."])
root_agent = LlmAgent(name="waiter", model=llm, tools=[LongRunningFunctionTool(ask)])
app = App(name="waits", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
"""

# Says which variable it sees, at import and in a tool.
SEES = """
import os
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

AT_IMPORT = os.environ.get("SEEN_HERE", "nothing")


def look():
    return {"seen": [AT_IMPORT, os.environ.get("SEEN_HERE", "nothing")]}


root_agent = LlmAgent(name="sees", model=ScriptedLlm(replies=[{"calls": [["look", {}]]}, "done"]), tools=[look])
"""

STREAMS = """
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

root_agent = LlmAgent(name="streams", model=ScriptedLlm(replies=["one two"]))
"""

SAID = {"id": "x1", "author": "user", "invocationId": "e-1", "content": {"role": "user", "parts": [{"text": "hi"}]}, "timestamp": 5.0}
CONFIRM = {"functionCall": {"name": "adk_request_confirmation", "args": {}}}

APPS = ["broken", "my_resumable_agent", "streams", "waits", "with_env", "without_env"]
ORIGIN = "http://evil.example"


def write_agents(folder: Path) -> Path:
    for name, source in {
        "my_resumable_agent": AGENT,
        "broken": "import no_such_module_at_all",
        "waits": WAITS,
        "streams": STREAMS,
        "no_agent": "",
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / ("notes.py" if not source else "agent.py")).write_text(source, "utf-8")
    for name, env in {"with_env": "SEEN_HERE=its own\n", "without_env": None}.items():
        (folder / name).mkdir()
        (folder / name / "agent.py").write_text(SEES, "utf-8")
        if env:
            (folder / name / ".env").write_text(env, "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(write_agents(tmp_path_factory.mktemp("served"))) as server:
        yield server


@pytest.fixture
def sessions(server: ApiServer, request: pytest.FixtureRequest) -> str:
    """Return the path of the sessions of a user of this test's own; `s_abc` is there."""
    path = f"/apps/my_resumable_agent/users/{request.node.name.partition('[')[0]}/sessions"
    server.ask("POST", f"{path}/s_abc", {})
    marks = server.folder / "my_resumable_agent" / "marks"
    marks.unlink(missing_ok=True)
    return path


def body(sessions: str, **more: object) -> dict[str, object]:
    """Return a request body with all documented fields."""
    return {"app_name": "my_resumable_agent", "user_id": sessions.split("/")[4], "session_id": "s_abc", **more}


def message(text: str) -> dict[str, object]:
    return {"role": "user", "parts": [{"text": text}]}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Start the server with options it rejects, and return its error message."""
    assert main(["api_server", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    return err


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)


class TestSessions:
    def test_the_agents_are_listed(self, server: ApiServer) -> None:
        assert server.apps == server.ask("GET", "/list-apps").json == APPS

    def test_a_session_is_created_read_listed_changed_and_deleted(self, server: ApiServer, sessions: str) -> None:
        created = server.ask("POST", f"{sessions}/s1", {"k": 1, "user:u": 2, "nothing": None}).json
        assert created.pop("lastUpdateTime") > 0
        user = sessions.split("/")[4]
        state = {"k": 1, "user:u": 2, "nothing": None}
        assert created == {"id": "s1", "appName": "my_resumable_agent", "userId": user, "state": state, "events": []}
        given = server.ask("POST", sessions, {"sessionId": "s2", "state": {"k": 3}}).json
        assert (given["id"], given["state"]) == ("s2", {"k": 3, "user:u": 2})
        new = server.ask("POST", sessions).json
        listed = server.ask("GET", sessions).json
        assert {session["id"] for session in listed} == {"s_abc", "s1", "s2", new["id"]}
        changed = server.ask("PATCH", f"{sessions}/s1", {"stateDelta": {"k": 5}}).json
        assert changed["state"] == {"k": 5, "user:u": 2, "nothing": None}
        assert [event["actions"]["stateDelta"] for event in changed["events"]] == [{"k": 5}]
        assert server.ask("GET", f"{sessions}/s1").json == changed
        assert server.ask("DELETE", f"{sessions}/s1").json is None
        assert server.ask("GET", f"{sessions}/s1").status == 404

    @pytest.mark.parametrize(
        ("method", "path", "sent", "status", "says"),
        [
            ("POST", "{sessions}/s_abc", {}, 409, "already exists"),
            ("GET", "{sessions}/none", None, 404, "Session not found: none"),
            ("PATCH", "{sessions}/none", {"stateDelta": {"k": 1}}, 404, "Session not found: none"),
            ("PATCH", "{sessions}/s_abc", {"stateDelta": {"temp:k": 1}}, 400, "temp:"),
            ("PATCH", "{sessions}/s_abc", {}, 422, "stateDelta"),
            ("POST", "{sessions}/s3", [1], 422, "JSON object"),
            ("POST", "{sessions}", {"events": [{"author": 5}]}, 422, "author"),
            ("POST", "{sessions}", {"events": [{**SAID, "actions": {"stateDelta": {"a": 1}}}]}, 400, "event actions"),
            ("POST", "{sessions}", {"events": [{**SAID, "longRunningToolIds": ["x"]}]}, 400, "long-running tool ids"),
            ("POST", "{sessions}", {"events": [{**SAID, "content": {"parts": [CONFIRM]}}]}, 400, "calls of the runtime itself"),
            ("POST", "/apps/nobody/users/u/sessions", {}, 404, "The agents are: broken, my_resumable_agent, streams, waits"),
            ("POST", "/apps/../users/u/sessions", {}, 404, "There is no agent"),
            ("GET", "/apps/..%2F..%2Fetc/users/u/sessions", None, 404, "Not Found"),
            ("GET", "/nothing", None, 404, "Not Found"),
            ("GET", "/run", None, 405, "Method Not Allowed"),
        ],
    )
    def test_an_impossible_request_says_why(
        self, server: ApiServer, sessions: str, method: str, path: str, sent: object, status: int, says: str
    ) -> None:
        answer = server.ask(method, path.format(sessions=sessions), sent)
        assert answer.status == status
        assert says in json.dumps(answer.json["detail"])


class TestRunning:
    def test_a_session_is_imported_with_its_events(self, server: ApiServer, sessions: str) -> None:
        answered = {**SAID, "id": "x2", "author": "steps", "nodeInfo": {"path": "steps", "outputFor": ["a"]}, "timestamp": 6.0}
        created = server.ask(
            "POST", sessions, {"sessionId": "imported", "state": None, "events": [SAID, answered], "options": {}, "what": 1}
        )
        assert created.status == 200, created.text
        for found in (created.json, server.ask("GET", f"{sessions}/imported").json):
            assert [event["id"] for event in found["events"]] == ["x1", "x2"]
            assert found["events"][1]["nodeInfo"] == {"path": "steps", "outputFor": ["a"]}
            assert found["events"][0]["content"] == SAID["content"]

    def test_a_session_with_a_refused_event_is_not_created(self, server: ApiServer, sessions: str) -> None:
        refused = {"sessionId": "half", "events": [SAID, {**SAID, "longRunningToolIds": ["x"]}]}
        assert server.ask("POST", sessions, refused).status == 400
        assert server.ask("GET", f"{sessions}/half").status == 404

    def test_names_that_newer_versions_of_google_adk_store_are_sent_in_its_form(self, server: ApiServer, sessions: str) -> None:
        stored = {**SAID, "node_info": {"path": "", "output_for": ["a"]}}
        server.ask("POST", sessions, {"sessionId": "stored", "events": [stored]})
        (event,) = server.ask("GET", f"{sessions}/stored").json["events"]
        assert event["nodeInfo"] == {"path": "", "outputFor": ["a"]}
        assert "node_info" not in event

    @pytest.mark.parametrize(("endpoint", "partials"), [("/run", 0), ("/run_sse", 2)])
    def test_only_the_event_stream_has_the_pieces_of_a_models_answer(self, server: ApiServer, endpoint: str, partials: int) -> None:
        path = "/apps/streams/users/u/sessions"
        session = server.ask("POST", path, {}).json["id"]
        asked = {"app_name": "streams", "user_id": "u", "session_id": session, "new_message": message("x"), "streaming": True, "what": 1}
        answer = server.ask("POST", endpoint, asked)
        events = answer.json if endpoint == "/run" else answer.events
        assert sum(bool(event.get("partial")) for event in events) >= partials
        assert any(event.get("partial") for event in events) == bool(partials)
        assert events[-1]["content"]["parts"][0]["text"] == "one two"

    @pytest.mark.rule("I7")
    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            ({"new_message": {"role": "user", "parts": []}}, 422),
            ({"new_message": {"role": "user"}}, 422),
            ({"new_message": {"parts": [{"text": "x"}] * 2_000}}, 422),
            ({"state_delta": {"a": "\ud800"}}, 422),
            ({"state_delta": {"a" * 10: [[]] * 200_000}}, 413),
            ({"user_id": "\udfff"}, 422),
        ],
    )
    def test_a_body_that_costs_too_much_or_cannot_be_stored_is_refused(
        self, server: ApiServer, sessions: str, sent: dict[str, object], status: int
    ) -> None:
        assert server.ask("POST", "/run", {**body(sessions), **sent}).status == status

    @pytest.mark.rule("I7")
    def test_other_requests_are_answered_while_a_large_body_is_parsed(self, server: ApiServer, sessions: str) -> None:
        large = server.connect()
        text = '{"a": [' + "[]," * 10_000_000 + "[]]}"
        large.request("POST", f"{sessions}/large", text, {"Content-Type": "application/json"})
        began = time.monotonic()
        assert server.ask("GET", "/list-apps").status == 200
        assert time.monotonic() - began < 5, "parsing it takes 16 s"
        assert large.getresponse().status == 413
        large.close()

    @pytest.mark.rule("I7")
    @pytest.mark.parametrize("path", ["%ED%A0%80", "%00", "%FF", "a%0Ab", "x" * 3_000, "..", "%2e%2e", "%F0%9F%98%80"])
    def test_no_text_in_a_path_is_a_failure_of_the_server(self, server: ApiServer, path: str) -> None:
        for request in (
            f"/apps/{path}/users/u/sessions",
            f"/apps/waits/users/{path}/sessions",
            f"/apps/waits/users/u/sessions/{path}",
        ):
            for method in ("GET", "POST", "DELETE"):
                answer = server.ask(method, request, {} if method == "POST" else None)
                assert answer.status < 500, (method, request, answer.text)

    def test_run_responds_with_all_events(self, server: ApiServer, sessions: str) -> None:
        camel = {"appName": "my_resumable_agent", "userId": sessions.split("/")[4], "sessionId": "s_abc"}
        answer = server.ask("POST", "/run", {**camel, "newMessage": message("go"), "stateDelta": {"given": 1}})
        assert answer.status == 200
        events = answer.json
        assert [event["content"]["parts"][0]["text"] for event in events[:3]] == ["step 0", "step 1", "step 2"]
        assert events[0]["actions"]["stateDelta"] == {"n": 0, "none": None}
        assert events[3]["actions"]["endOfAgent"] is True
        session = server.ask("GET", f"{sessions}/s_abc").json
        assert session["state"] == {"given": 1, "n": 2, "none": None}
        assert session["events"][1:] == events

    def test_run_sse_sends_each_event_and_ends(self, server: ApiServer, sessions: str) -> None:
        answer = server.ask("POST", "/run_sse", body(sessions, new_message=message("go"), streaming=True))
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.events == server.ask("GET", f"{sessions}/s_abc").json["events"][1:]

    @pytest.mark.rule("R10")
    def test_the_documented_body_resumes_a_failed_invocation(self, server: ApiServer, sessions: str) -> None:
        """The specification's request to resume: no new_message, only the invocation's id."""
        *before, failed = server.ask("POST", "/run_sse", body(sessions, new_message=message("fail once"))).events
        assert failed["error"] == "RuntimeError: broken"
        assert failed["error_details"]["error_type"] == "RuntimeError"
        invocation_id = before[0]["invocationId"]
        resumed = server.ask("POST", "/run_sse", body(sessions, invocation_id=invocation_id))
        assert resumed.status == 200
        assert {event["invocationId"] for event in resumed.events} == {invocation_id}
        assert resumed.events[-1]["actions"]["endOfAgent"] is True
        again = server.ask("POST", "/run_sse", body(sessions, invocation_id=invocation_id))
        assert (again.status, "is finished" in again.json["detail"]) == (400, True)

    @pytest.mark.parametrize("with_invocation", [True, False])
    def test_a_function_response_resumes_a_paused_invocation(self, server: ApiServer, with_invocation: bool) -> None:
        key = {"appName": "waits", "userId": "u", "sessionId": f"s{with_invocation}"}
        server.ask("POST", f"/apps/waits/users/u/sessions/s{with_invocation}", {})
        call, pending = server.ask("POST", "/run_sse", {**key, "newMessage": message("go")}).events
        (call_id,) = call["longRunningToolIds"]
        assert pending["content"]["parts"][0]["functionResponse"]["response"] == {"status": "pending"}
        response = {"functionResponse": {"id": call_id, "name": "ask", "response": {"status": "yes"}}}
        more = {"invocationId": call["invocationId"]} if with_invocation else {}
        answered = server.ask("POST", "/run_sse", {**key, **more, "newMessage": {"role": "user", "parts": [response]}}).events
        assert answered[0]["content"]["parts"][0]["text"] == "Thank you."
        assert {event["invocationId"] for event in answered} == {call["invocationId"]}

    @pytest.mark.rule("I5")
    def test_each_agent_sees_the_variables_of_its_own_env_file(self, server: ApiServer) -> None:
        for app, seen in (("with_env", "its own"), ("without_env", "nothing")):
            server.ask("POST", f"/apps/{app}/users/u/sessions/s", {})
            events = server.ask("POST", "/run", {"app_name": app, "user_id": "u", "session_id": "s", "new_message": message("look")}).json
            (response,) = [part["functionResponse"]["response"] for part in events[1]["content"]["parts"]]
            assert response == {"seen": [seen, seen]}

    def test_a_failed_run_is_a_500_that_names_the_error(self, server: ApiServer, sessions: str) -> None:
        answer = server.ask("POST", "/run", body(sessions, new_message=message("fail once")))
        assert (answer.status, answer.json) == (500, {"detail": "RuntimeError: broken"})
        assert len(server.ask("GET", f"{sessions}/s_abc").json["events"]) == 3

    @pytest.mark.rule("I4")
    def test_a_trailing_comma_is_reported_with_its_place(self, server: ApiServer) -> None:
        sent = (
            '{\n   "app_name": "my_resumable_agent",\n   "user_id": "u_123",\n   "session_id": "s_abc",\n'
            '   "invocation_id": "invocation-123",\n }'
        )
        answer = server.ask("POST", "/run_sse", sent)
        assert answer.status == 422
        (problem,) = answer.json["detail"]
        assert problem["loc"] == ["body", sent.rindex(",")]
        assert "comma before the closing bracket" in problem["ctx"]["error"]
        assert "line 5" in problem["ctx"]["error"]

    @pytest.mark.parametrize(
        ("sent", "status", "says"),
        [
            ({"session_id": "none", "new_message": {"parts": [{"text": "x"}]}}, 404, "Session not found: none"),
            ({"invocation_id": "e-1"}, 400, "has no events to resume"),
            ({}, 400, "new_message or an invocation_id"),
            ({"new_message": {"parts": [{"function_response": {"id": "c", "name": "f", "response": {}}}]}}, 400, "No function call"),
            ({"app_name": "broken", "new_message": {"parts": [{"text": "x"}]}}, 500, "no_such_module_at_all"),
            ({"user_id": 7}, 422, "user_id"),
            ('{"app_name": NaN}', 422, "NaN"),
            ("[" * 100_000, 422, "JSON decode error"),
            ('{"app_name": "a" "b"}', 422, "line 1, column 18"),
            ("[1]", 422, "body"),
        ],
        ids=str,
    )
    def test_a_bad_request_says_what_is_wrong(self, server: ApiServer, sessions: str, sent: object, status: int, says: str) -> None:
        answer = server.ask("POST", "/run", sent if isinstance(sent, str) else {**body(sessions), **sent})  # type: ignore[dict-item]
        assert answer.status == status
        assert says in json.dumps(answer.json["detail"])

    def test_another_content_type_is_rejected(self, server: ApiServer, sessions: str) -> None:
        answer = server.ask("POST", "/run", body(sessions, new_message=message("go")), {"Content-Type": "text/plain"})
        assert (answer.status, "application/json" in answer.text) == (422, True)

    def test_a_session_has_one_active_run_at_a_time(self, server: ApiServer, sessions: str) -> None:
        first = server.connect()
        first.request("POST", "/run_sse", json.dumps(body(sessions, new_message=message("wait"))), {"Content-Type": "application/json"})
        stream = first.getresponse()
        assert b"step 0" in stream.readline()
        second = server.ask("POST", "/run", body(sessions, new_message=message("go")))
        assert (second.status, "has an active run" in second.json["detail"]) == (409, True)
        assert server.ask("DELETE", f"{sessions}/s_abc").status == 409
        stream.close()
        first.close()
        marks = server.folder / "my_resumable_agent" / "marks"
        wait_until(marks.exists)
        assert marks.read_text("utf-8") == "cleaned up"
        wait_until(lambda: server.ask("POST", "/run", body(sessions, new_message=message("go"))).status == 200)

    def test_a_disconnecting_client_stops_the_agent(self, server: ApiServer, sessions: str) -> None:
        connection = server.connect()
        connection.request("POST", "/run", json.dumps(body(sessions, new_message=message("wait"))), {"Content-Type": "application/json"})
        wait_until(lambda: len(server.ask("GET", f"{sessions}/s_abc").json["events"]) == 2)
        connection.close()
        wait_until((server.folder / "my_resumable_agent" / "marks").exists)


class TestWhoMayAsk:
    """Host and Origin are checked for every method; a request that a page could send needs a token; no CORS."""

    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "[::2]:8000", "", "]["])
    @pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
    def test_another_host_is_rejected(self, server: ApiServer, method: str, host: str) -> None:
        answer = server.ask(method, "/list-apps", headers={"Host": host})
        assert answer.status == 403

    @pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1", "[::1]:{port}", "LOCALHOST:9000"])
    def test_every_loopback_name_is_accepted(self, server: ApiServer, host: str) -> None:
        assert server.ask("GET", "/list-apps", headers={"Host": host.format(port=server.port)}).status == 200

    @pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE", "OPTIONS"])
    @pytest.mark.parametrize("origin", [ORIGIN, "null", "http://localhost:1", "https://localhost:{port}"])
    def test_pages_of_other_origins_are_rejected_with_or_without_a_token(self, server: ApiServer, method: str, origin: str) -> None:
        headers = {"Origin": origin.format(port=server.port), "Authorization": f"Bearer {server.token}"}
        answer = server.ask(method, "/list-apps", headers=headers)
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]

    @pytest.mark.rule("I4")
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://localhost:{port}"},
            {"Referer": "http://x.example/"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
        ids=str,
    )
    def test_a_request_that_a_page_could_send_needs_the_token(self, server: ApiServer, headers: dict[str, str]) -> None:
        headers = {name: value.format(port=server.port) for name, value in headers.items()}
        assert server.ask("GET", "/list-apps", headers=headers).status == 401
        assert server.ask("GET", "/list-apps", headers={**headers, "Authorization": "Bearer wrong"}).status == 401
        assert server.ask("GET", "/list-apps", headers={**headers, "Authorization": f"Bearer {server.token}"}).status == 200

    def test_an_address_typed_by_a_person_needs_no_token(self, server: ApiServer) -> None:
        assert server.ask("GET", "/list-apps", headers={"Sec-Fetch-Site": "none"}).status == 200

    def test_other_addresses_are_rejected(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "cannot listen on 0.0.0.0" in refused(capsys, str(write_agents(tmp_path)), "--host", "0.0.0.0")


class TestStartAndEnd:
    @pytest.mark.rule("I4")
    def test_ctrl_c_stops_the_agents_and_a_new_server_resumes_them(self, tmp_path: Path) -> None:
        folder = write_agents(tmp_path) / "my_resumable_agent"
        sessions = "/apps/my_resumable_agent/users/u_123/sessions"
        with api_server(folder) as first:
            assert first.apps == ["my_resumable_agent"]
            first.ask("POST", f"{sessions}/s_abc", {})
            connection = first.connect()
            connection.request(
                "POST", "/run_sse", json.dumps(body(sessions, new_message=message("wait"))), {"Content-Type": "application/json"}
            )
            stream = connection.getresponse()
            event = json.loads(stream.readline().removeprefix(b"data: "))
            assert first.stop() == 130
            assert b"The run was stopped" in stream.read()
            assert first.process.stderr is not None
            assert first.process.stderr.read() == "printed by the agent\n"
            connection.close()
        assert (folder / "marks").read_text("utf-8") == "cleaned up"
        with api_server(folder, "--host", "localhost") as second:
            stored = second.ask("GET", f"{sessions}/s_abc").json["events"]
            assert stored[-1] == event
            connection = second.connect()
            resumed = json.dumps(body(sessions, invocation_id=event["invocationId"]))
            connection.request("POST", "/run_sse", resumed, {"Content-Type": "application/json"})
            assert b"step 0" in connection.getresponse().readline()
            connection.close()
            assert second.stop(signal.SIGTERM) == 143

    def test_a_port_in_use_is_reported(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            said = refused(capsys, str(write_agents(tmp_path)), "--port", str(taken.getsockname()[1]))
        assert "Choose another with --port" in said

    @pytest.mark.parametrize(("folder", "says"), [("nowhere", "There is no folder"), ("no_agent", "has no agent")])
    def test_a_folder_without_agents_is_reported(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, says: str) -> None:
        write_agents(tmp_path)
        assert says in refused(capsys, str(tmp_path / folder))


class TestOptions:
    def test_a_single_agent_need_not_be_named(self, tmp_path: Path) -> None:
        folder = write_agents(tmp_path) / "streams"
        with api_server(folder) as server:
            assert server.ask("POST", "/users/u/sessions/s1", {}).json["appName"] == "streams"
            asked = {"user_id": "u", "session_id": "s1", "new_message": message("x")}
            assert server.ask("POST", "/run", asked).json[-1]["content"]["parts"][0]["text"] == "one two"
            assert server.ask("GET", "/app-info").json["rootAgentName"] == "streams"

    def test_one_of_several_agents_must_be_named(self, server: ApiServer) -> None:
        answer = server.ask("POST", "/run", {"user_id": "u", "session_id": "s1", "new_message": message("x")})
        assert (answer.status, "names no app" in answer.json["detail"]) == (400, True)

    def test_services_are_chosen_by_their_uris(self, tmp_path: Path) -> None:
        folder = write_agents(tmp_path / "agents")
        files = tmp_path / "files"
        with api_server(folder, "--session_service_uri", f"{tmp_path / 'all.db'}", "--artifact_service_uri", files.as_uri()) as server:
            for app in ("streams", "waits"):
                sessions = f"/apps/{app}/users/u/sessions"
                assert server.ask("POST", f"{sessions}/s1", {"k": app}).status == 200
                assert server.ask("GET", f"{sessions}/s1").json["state"] == {"k": app}
                saved = server.ask("POST", f"{sessions}/s1/artifacts", {"filename": "a.txt", "artifact": {"text": app}})
                assert saved.json["canonicalUri"].startswith(files.as_uri())
            assert not (folder / "streams" / ".adk").exists()
            assert (tmp_path / "all.db").exists()

    def test_sessions_in_memory_leave_nothing(self, tmp_path: Path) -> None:
        folder = write_agents(tmp_path)
        with api_server(folder, "--session_service_uri", "memory://", "--artifact_service_uri", "memory://") as server:
            assert server.ask("POST", "/apps/streams/users/u/sessions/s1", {}).status == 200
            assert server.ask("GET", "/apps/streams/users/u/sessions/s1").status == 200
        assert not (folder / "streams" / ".adk").exists()

    def test_an_agent_whose_code_has_changed_is_loaded_again(self, tmp_path: Path) -> None:
        folder = write_agents(tmp_path)
        asked = {"app_name": "streams", "user_id": "u", "session_id": "s1", "new_message": message("x")}
        with api_server(folder, "--reload_agents") as server:
            server.ask("POST", "/apps/streams/users/u/sessions/s1", {})
            assert server.ask("POST", "/run", asked).json[-1]["content"]["parts"][0]["text"] == "one two"
            code = folder / "streams" / "agent.py"
            code.write_text(code.read_text("utf-8").replace("one two", "three"), "utf-8")
            assert server.ask("POST", "/run", asked).json[-1]["content"]["parts"][0]["text"] == "three"

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--artifact_service_uri", "ftp://x"], "names no artifact service"),
            (["--artifact_service_uri", "file://other/x"], "a folder of this machine"),
            (["--web", "."], "has no page of google-adk"),
        ],
    )
    def test_an_option_that_names_nothing_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
    ) -> None:
        assert says in refused(capsys, str(write_agents(tmp_path)), *arguments)
