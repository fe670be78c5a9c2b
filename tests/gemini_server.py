"""A local server with Gemini's REST protocol, and with errors on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Chunk = dict[str, Any]


def chunk(*parts: dict[str, Any], finish: str | None = None, tokens: int | None = None, **candidate: Any) -> Chunk:
    """Return a response, or one chunk of a stream, as Gemini's JSON.

    Args:
        parts: parts as Gemini's JSON, such as `{"text": "Hi"}`.
        finish: the finish reason.
        tokens: the total token count in `usageMetadata`.
        candidate: other fields of the candidate.
    """
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        candidate["finishReason"] = finish
    response: Chunk = {"candidates": [candidate], "modelVersion": "gemini-test"}
    if tokens is not None:
        response["usageMetadata"] = {"promptTokenCount": 1, "candidatesTokenCount": tokens - 1, "totalTokenCount": tokens}
    return response


def call(name: str, **args: Any) -> dict[str, Any]:
    """Return a function call part."""
    return {"functionCall": {"name": name, "args": args}}


@dataclass
class Answer:
    """The answer to one request: all chunks for a streaming request, only the first for a plain one.

    Attributes:
        chunks: see `chunk`.
        then: what follows the chunks: a proper end, a cut connection, or silence until the client disconnects.
    """

    chunks: list[Chunk]
    then: str = "end"


@dataclass
class Failure:
    """An answer with an error status, or with a body that is not JSON."""

    status: int
    body: bytes


def refusal(status: int, word: str, message: str) -> Failure:
    """Return an error in the form of Google's servers."""
    return Failure(status, json.dumps({"error": {"code": status, "status": word, "message": message}}).encode())


@dataclass
class Request:
    """A client's request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class GeminiServer:
    """A server that answers from a list and repeats the last entry.

    Attributes:
        url: the server's address.
        answers: answers to the next requests.
        requests: requests received so far.
        request_came: set when the first request arrives.
        client_left: set when a client disconnects from an answer that waits for it.
        connections: number of open connections.
    """

    url: str = ""
    answers: list[Answer | Failure] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    request_came: threading.Event = field(default_factory=threading.Event)
    client_left: threading.Event = field(default_factory=threading.Event)
    connections: int = 0

    def next_answer(self) -> Answer | Failure:
        """Return the next answer of the list."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def gemini_server(*answers: Answer | Failure, handler: type[GeminiHandler] | None = None) -> Iterator[GeminiServer]:
    """Run a server in a thread of this process.

    Args:
        answers: the answers, in order; the last one is repeated.
        handler: a handler for another protocol.
    """
    server = GeminiServer(answers=list(answers))

    class Handler(handler or GeminiHandler):  # type: ignore[misc]
        gemini = server

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def google_api_key(monkeypatch: pytest.MonkeyPatch) -> str:
    """Set an API key, and remove all other variables that google-genai reads."""
    for name in (
        "GEMINI_API_KEY",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_ENTERPRISE",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GEMINI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "secret-key-of-the-test")
    return "secret-key-of-the-test"


class GeminiHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    end_of_stream = b""
    gemini: GeminiServer

    def setup(self) -> None:
        super().setup()
        self.gemini.connections += 1

    def finish(self) -> None:
        super().finish()
        self.gemini.connections -= 1

    def do_POST(self) -> None:
        body = self.read_body(self.rfile.read(int(self.headers["Content-Length"])))
        self.gemini.requests.append(Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.gemini.request_came.set()
        answer = self.gemini.next_answer()
        if isinstance(answer, Failure):
            self._send(answer.status, answer.body)
        elif self.wants_stream(body):
            self._stream(answer)
        elif answer.then == "cut":
            self.close_connection = True
        elif answer.then == "wait":
            self._wait_for_client_to_leave()
        else:
            self._send(200, json.dumps(answer.chunks[0]).encode())

    def read_body(self, content: bytes) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(content)
        return body

    def wants_stream(self, body: dict[str, Any]) -> bool:
        return ":streamGenerateContent" in self.path

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in answer.chunks:
            data = b"data: " + json.dumps(piece).encode() + b"\r\n\r\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if answer.then == "cut":
            self.close_connection = True
        elif answer.then == "wait":
            self._wait_for_client_to_leave()
        else:
            self.wfile.write(self.end_of_stream + b"0\r\n\r\n")

    def _wait_for_client_to_leave(self) -> None:
        self.connection.settimeout(30)
        if self.rfile.read(1) == b"":
            self.gemini.client_left.set()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Suppress the log."""
