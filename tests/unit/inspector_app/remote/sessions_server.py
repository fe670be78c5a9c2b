"""A server that speaks as much of google-adk's protocol as reading sessions takes; a test changes what it has."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def event(name: str, **delta: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": name}]}
    return {"id": name, "author": "desk", "invocationId": "e-1", "timestamp": 5.0, "content": content, "actions": {"stateDelta": delta}}


@dataclass
class SessionsServer:
    """The sessions of the user `user` of the app `desk`, and the paths that were asked for.

    Attributes:
        run: the lines that `/run_sse` sends.
        is_cut: whether it ends without the end of its answer.
        bodies: what it was sent.
    """

    port: int = 0
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    run: list[str] = field(default_factory=list)
    is_cut: bool = False
    bodies: list[Any] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def put(self, name: str, updated: float, *events: dict[str, Any], **state: Any) -> None:
        self.sessions[name] = {"id": name, "lastUpdateTime": updated, "state": state, "events": list(events)}

    def answer(self, path: str) -> Any:
        self.asked.append(path)
        if path == "/list-apps":
            return ["desk"]
        if path.endswith("/sessions"):
            return [{**session, "events": []} for session in self.sessions.values()]
        return self.sessions.get(path.rpartition("/")[2])

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve, on the same port as before."""
        this = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = this.answer(self.path)
                data = json.dumps(found if found is not None else {"detail": "Session not found"}).encode()
                self.send_response(200 if found is not None else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self) -> None:
                this.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                data = "".join(f"data: {line}\n\n" for line in this.run).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(data) + this.is_cut))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            self.port = int(server.server_address[1])
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()
