"""Every route of `adk web`, asked of it and of `agent-inspector api_server` with the same agent: statuses and shapes are the same."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.end2end.api_server import api_server
from tests.interop.google_adk import adk_python
from tests.interop.served_agents import write_desk

SESSION = "/apps/desk/users/u/sessions/s1"
ARTIFACTS = f"{SESSION}/artifacts"
TESTS = "/dev/apps/desk/tests"
HI = {"id": "x1", "author": "user", "invocationId": "e-1", "timestamp": 5.0, "content": {"role": "user", "parts": [{"text": "hi"}]}}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"appName": "desk", "userId": "u", "sessionId": "s1", "newMessage": {"role": "user", "parts": [{"text": text}]}, **more}


# In this order: later requests see what earlier ones did.
REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/health", None),
    ("GET", "/version", None),
    ("GET", "/list-apps", None),
    ("GET", "/list-apps?detailed=true", None),
    ("GET", "/list-apps?detailed=nonsense", None),
    ("GET", "/apps/desk/app-info", None),
    ("GET", "/apps/nobody/app-info", None),
    ("GET", "/apps/nobody/users/u/sessions", None),
    ("POST", SESSION, {"k": 1}),
    ("POST", SESSION, {}),
    ("POST", "/apps/desk/users/u/sessions", {"sessionId": "s2", "state": {"a": 1}, "events": [HI], "unknown": 1}),
    ("POST", "/apps/desk/users/u/sessions", {"sessionId": "s4", "options": {"ttl": "1s"}}),
    ("POST", "/apps/desk/users/u/sessions", None),
    ("GET", SESSION, None),
    ("GET", f"{SESSION}-none", None),
    ("GET", "/apps/desk/users/u/sessions", None),
    ("PATCH", SESSION, {"stateDelta": {"k": 2}}),
    ("PATCH", SESSION, {}),
    ("PATCH", f"{SESSION}-none", {"stateDelta": {"k": 2}}),
    ("POST", "/run", said("hello")),
    ("POST", "/run", said("hello", sessionId="none")),
    ("POST", "/run", said("hello", appName="nobody")),
    ("POST", "/run", {"appName": "desk"}),
    ("POST", "/run", "{"),
    ("POST", "/run_sse", said("hello", streaming=True)),
    ("POST", "/run_sse", said("hello", sessionId="none")),
    ("POST", "/run_sse", said("save")),
    ("GET", ARTIFACTS, None),
    ("GET", "/apps/nobody/users/u/sessions/s1/artifacts", None),
    ("POST", ARTIFACTS, {"filename": "b.bin", "artifact": {"inlineData": {"data": "aGk=", "mimeType": "text/plain"}}}),
    ("POST", ARTIFACTS, {"filename": "user:u.txt", "artifact": {"text": "mine"}, "customMetadata": {"a": 1}}),
    ("POST", ARTIFACTS, {"filename": "../x", "artifact": {"text": "mine"}}),
    ("POST", ARTIFACTS, {"filename": "x"}),
    ("GET", f"{ARTIFACTS}/b.bin", None),
    ("GET", f"{ARTIFACTS}/b.bin?version=0", None),
    ("GET", f"{ARTIFACTS}/b.bin?version=9", None),
    ("GET", f"{ARTIFACTS}/b.bin?version=x", None),
    ("GET", f"{ARTIFACTS}/none.bin", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions/0", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions/latest", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions/x", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions/0/metadata", None),
    ("GET", f"{ARTIFACTS}/note.txt/versions/9/metadata", None),
    ("GET", f"{ARTIFACTS}/user:u.txt/versions/metadata", None),
    ("DELETE", f"{ARTIFACTS}/b.bin", None),
    ("GET", ARTIFACTS, None),
    ("PATCH", "/apps/desk/users/u/memory", {"sessionId": "s1"}),
    ("PATCH", "/apps/desk/users/u/memory", {"sessionId": "none"}),
    ("PATCH", "/apps/desk/users/u/memory", {}),
    ("GET", "/dev-ui/assets/config/runtime-config.json", None),
    ("GET", "/dev-ui/config", None),
    ("GET", "/", None),
    ("GET", "/dev-ui", None),
    ("GET", "/dev-ui/", None),
    ("GET", "/config/telemetry", None),
    ("POST", "/config/telemetry", {"telemetry": False}),
    ("POST", "/config/telemetry", {}),
    ("GET", "/dev/apps/desk/build_graph", None),
    ("GET", "/dev/apps/desk/build_graph_image?dark_mode=true", None),
    ("GET", "/dev/apps/desk/build_graph_image?node=none", None),
    ("GET", "/dev/apps/desk/build_graph_image?node=desk/helper", None),
    ("GET", "/dev/apps/desk/graph", None),
    ("GET", "/dev/apps/desk/users/u/sessions/s1/events/none/graph", None),
    ("GET", TESTS, None),
    ("PUT", f"{TESTS}/one", {"sessionData": {"a": 1}}),
    ("PUT", f"{TESTS}/one", {}),
    ("GET", f"{TESTS}/one", None),
    ("GET", f"{TESTS}/two", None),
    ("GET", TESTS, None),
    ("DELETE", f"{TESTS}/one", None),
    ("DELETE", f"{TESTS}/one", None),
    ("GET", "/dev/apps/desk/deploy/defaults", None),
    ("DELETE", SESSION, None),
    ("GET", SESSION, None),
    ("GET", "/nothing", None),
    ("PUT", "/run", None),
]
# Names that are left out of the comparison of shapes.
DIFFERENT = {
    "parameters",  # of a tool's declaration: google-adk 2.13 sends them as a JSON Schema,
    "parametersJsonSchema",  # google-genai's own form is the same to a model
    "mode",  # of google-adk 2's graphs, which the embedded runtime does not have
    "rerun_on_resume",
    "wait_for_output",
    "telemetry",  # google-adk asks a person; here the answer is always no
    "intermediateData",  # an empty one has two spellings in google-adk itself
}
# Parts of the routes that this server answers with a sentence that names the command to use, and those that need a package.
NOT_ASKED = re.compile(r"/agent-identity/finalize|/builder|/debug/trace|/deploy/(?!defaults)|/eval[-_]|/metrics-info|/tests/(rebuild|run)$")


@dataclass
class Asked:
    """What a server answered.

    Attributes:
        port: the server's port.
        answers: status, content type and body of each answer.
    """

    port: int
    answers: list[tuple[int, str, Any]] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        headers = {"Content-Type": "application/json"} if data is not None else {}
        if path == "/config/telemetry":
            headers["X-ADK-Telemetry-Request"] = "true"
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        kind = (response.getheader("content-type") or "").partition(";")[0]
        return response.status, kind, json.loads(text) if kind == "application/json" else text


@contextmanager
def adk_web(folder: Path) -> Iterator[Asked]:
    """Serve the folder's agents with the real `adk web`."""
    arguments = [adk_python(), "-W", "ignore", "-m", "google.adk.cli", "web", "--host", "127.0.0.1", "--port", "0", str(folder)]
    environment = {"HOME": str(folder.parent), "PATH": str(Path(adk_python()).parent)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            found = next(match for line in process.stdout if (match := re.search(r"Uvicorn running on http://127\.0\.0\.1:(\d+)", line)))
            yield Asked(int(found[1]))
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Asked, Asked]]:
    """Ours and google-adk's server, after all requests."""
    environment = str(Path(adk_python()).parent.parent)
    with (
        api_server(write_desk(tmp_path_factory.mktemp("ours") / "agents"), "--web", environment) as ours,
        adk_web(write_desk(tmp_path_factory.mktemp("theirs") / "agents")) as theirs,
    ):
        asked = Asked(ours.port)
        for server in (asked, theirs):
            server.answers = [server.ask(method, path, body) for method, path, body in REQUESTS]
        yield asked, theirs


def shape(value: Any, name: str = "") -> Any:
    """Return a JSON value's names and types, without what differs from run to run."""
    if isinstance(value, dict):
        if name in ("state", "stateDelta", "artifactDelta", "args", "response"):
            return dict(sorted(value.items()))
        return {key: shape(item, key) for key, item in sorted(value.items()) if key not in DIFFERENT}
    if isinstance(value, list):
        return sorted((shape(item) for item in value), key=json.dumps) if name == "sessions" else [shape(item) for item in value]
    return type(value).__name__ if not isinstance(value, bool) else value


def described(method: str, path: str, body: Any) -> str:
    return f"{method} {path} {json.dumps(body)[:80]}"


def test_every_route_of_google_adk_exists_and_is_asked(both: tuple[Asked, Asked]) -> None:
    ours_asked, _ = both
    ours, theirs = (
        {f"{method.upper()} {path}" for path, methods in server.ask("GET", "/openapi.json")[2]["paths"].items() for method in methods}
        for server in both
    )
    hidden = {"GET /", "GET /dev-ui"}  # redirects, which our document leaves out
    assert theirs - ours == hidden
    patterns = {route: re.compile(re.sub(r"\\{\w+\\}", ".+?", re.escape(route))) for route in theirs}
    requests = [f"{method} {path.partition('?')[0]}" for method, path, _ in REQUESTS]
    unasked = {route for route, pattern in patterns.items() if not any(map(pattern.fullmatch, requests))}
    assert unasked == {route for route in theirs if NOT_ASKED.search(route)}
    for route in sorted(unasked):
        method, path = re.sub(r"\{\w+\}", "x", route).split()
        status, _, answer = ours_asked.ask(method, path, None if method == "GET" else {})
        assert status == 501 and re.search(r"`(adk|agent-inspector) |pip install", answer["detail"]), route


def test_every_answer_has_the_same_status_and_type(both: tuple[Asked, Asked]) -> None:
    ours, theirs = both
    differing = [
        (described(*request), mine[:2], other[:2], mine[2])
        for request, mine, other in zip(REQUESTS, ours.answers, theirs.answers, strict=True)
        if mine[0] != other[0] or (other[0] < 300 and mine[1] != other[1])
    ]
    assert differing == []


def test_every_answer_has_the_same_shape(both: tuple[Asked, Asked]) -> None:
    ours, theirs = both
    differing = []
    for request, mine, other in zip(REQUESTS, ours.answers, theirs.answers, strict=True):
        kind = request[1].rpartition("/")[2]
        if other[0] < 300 and other[1] == "application/json" and shape(mine[2], kind) != shape(other[2], kind):
            differing.append((described(*request), shape(mine[2], kind), shape(other[2], kind)))
    assert differing == []
