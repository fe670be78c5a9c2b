"""A server that speaks the Agent Engine sessions protocol, written from its public reference, with faults on demand.

It keeps everything in memory. `user:` and `app:` keys are shared by the sessions of an engine.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PLACE = "projects/test/locations/us-central1"


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


@dataclass
class StoredSession:
    user_id: str
    state: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    created: str = field(default_factory=now)
    updated: str = field(default_factory=now)


@dataclass
class AgentEngine:
    """The server's data and what it shall do wrong.

    Attributes:
        address: of the server.
        faults: one for each request: `429`, `500`: that status; `cut`: no answer, nothing done; `lost`: done, no answer; `slow`: done, a
            moment later; `ok`.
        pending: how often an operation says that it is not done.
        asked: method and path of each request.
    """

    address: str = ""
    faults: list[str] = field(default_factory=list)
    pending: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    sessions: dict[str, StoredSession] = field(default_factory=dict)
    shared: dict[str, dict[str, Any]] = field(default_factory=dict)
    operations: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Carry out a request and return status and body."""
        if method == "GET" and "/operations/" in path:
            return self._operation(path)
        if match := re.fullmatch(r"((?:.+/)?reasoningEngines/\d+)/sessions", path):
            return self._created(match[1], query, body) if method == "POST" else self._listed(match[1], query)
        name = path.removesuffix(":appendEvent").removesuffix("/events")
        stored = self.sessions.get(name)
        if stored is None:
            return 404, {"error": {"code": 404, "message": f"Session not found: {name}", "status": "NOT_FOUND"}}
        if path.endswith(":appendEvent"):
            return self._appended(name, stored, body)
        if path.endswith("/events"):
            since = re.fullmatch(r'timestamp>="([^"]+)"', query.get("filter", ""))
            limit = datetime.fromisoformat(since[1]) if since else None
            events = [
                event
                for event in stored.events
                if limit is None or datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00")) >= limit
            ]
            return self._page(events, "sessionEvents", query)
        if method == "DELETE":
            del self.sessions[name]
            return 200, self._begun(name, {})
        return 200, self._shown(name, stored)

    def _created(self, engine: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        name = f"{engine}/sessions/{query.get('sessionId') or uuid.uuid4().int % 10**18}"
        if name in self.sessions:
            return 409, {"error": {"code": 409, "message": "exists", "status": "ALREADY_EXISTS"}}
        self.sessions[name] = StoredSession(body["userId"], {})
        self._merge(name, self.sessions[name], body.get("sessionState") or {})
        return 200, self._begun(name, {"name": name})

    def _listed(self, engine: str, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        wanted = re.fullmatch(r'user_id="(.*)"', query.get("filter", ""), re.DOTALL)
        user = re.sub(r"\\(.)", r"\1", wanted[1]) if wanted else None
        found = [
            self._shown(name, stored)
            for name, stored in self.sessions.items()
            if name.startswith(f"{engine}/sessions/") and user in (None, stored.user_id)
        ]
        return self._page(found, "sessions", query)

    def _appended(self, name: str, stored: StoredSession, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if not body.get("author") or "timestamp" not in body or "invocationId" not in body:
            return 400, {"error": {"code": 400, "message": "author, invocationId and timestamp are required", "status": "INVALID_ARGUMENT"}}
        if any("partMetadata" in part or "part_metadata" in part for part in (body.get("content") or {}).get("parts", ())):
            return 400, {"error": {"code": 400, "message": "Unknown name part_metadata", "status": "INVALID_ARGUMENT"}}
        stored.events.append({"name": f"{name}/events/{uuid.uuid4().int % 10**18}", **body})
        stored.updated = now()
        self._merge(name, stored, (body.get("actions") or {}).get("stateDelta") or (body.get("actions") or {}).get("state_delta") or {})
        return 200, {}

    def _merge(self, name: str, stored: StoredSession, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            scopes = {"app:": self._engine(name), "user:": f"{self._engine(name)}/{stored.user_id}"}
            place = next((scopes[prefix] for prefix in scopes if key.startswith(prefix)), None)
            (stored.state if place is None else self.shared.setdefault(place, {}))[key] = value

    def _shown(self, name: str, stored: StoredSession) -> dict[str, Any]:
        engine = self._engine(name)
        state = {**stored.state, **self.shared.get(f"{engine}/{stored.user_id}", {}), **self.shared.get(engine, {})}
        return {"name": name, "userId": stored.user_id, "sessionState": state, "createTime": stored.created, "updateTime": stored.updated}

    @staticmethod
    def _engine(name: str) -> str:
        return name.partition("/sessions/")[0]

    def _begun(self, name: str, response: dict[str, Any]) -> dict[str, Any]:
        operation = f"{name}/operations/{uuid.uuid4().int % 10**12}"
        self.operations[operation] = (self.pending, response)
        return {"name": operation, "done": True, "response": response} if not self.pending else {"name": operation}

    def _operation(self, path: str) -> tuple[int, dict[str, Any]]:
        left, response = self.operations[path]
        self.operations[path] = (left - 1, response)
        return 200, {"name": path, "done": True, "response": response} if left <= 1 else {"name": path}

    def _page(self, items: list[dict[str, Any]], name: str, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        first, size = int(query.get("pageToken") or 0), min(int(query.get("pageSize") or 100), 100)
        more = {"nextPageToken": str(first + size)} if first + size < len(items) else {}
        return 200, {name: items[first : first + size], **more}


@contextmanager
def agent_engine() -> Iterator[AgentEngine]:
    """Start a server on this machine."""
    engine = AgentEngine()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_ANY(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            parts = urlsplit(self.path)
            path = unquote(parts.path).removeprefix("/v1beta1/")
            engine.asked.append((self.command, path))
            fault = engine.faults.pop(0) if engine.faults else "ok"
            if fault == "slow":
                time.sleep(0.1)
            if fault.isdecimal():
                status, found = int(fault), {"error": {"code": int(fault), "message": "a fault", "status": "UNAVAILABLE"}}
            elif fault == "cut":
                self.close_connection = True
                return
            else:
                with engine.lock:
                    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                    status, found = engine.answer(self.command, path, query, body)
            if fault == "lost":
                self.close_connection = True
                return
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = do_PATCH = do_ANY

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    engine.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield engine
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
