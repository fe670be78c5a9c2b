"""A real `agent-inspector api_server` process, and plain HTTP requests to it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.end2end.processes import environment

JSON = {"Content-Type": "application/json"}


@dataclass
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The server-sent events."""
        return [json.loads(line.removeprefix("data: ")) for line in self.text.split("\n\n") if line]


@dataclass
class ApiServer:
    """A running server."""

    process: subprocess.Popen[str]
    port: int
    token: str
    apps: list[str]
    folder: Path = field(default_factory=Path)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request; a body other than a string is sent as JSON. `Host` in `headers` replaces the default one."""
        connection = self.connect()
        headers = dict(headers or {})
        connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
        data = b""
        if body is not None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            headers = {**JSON, "Content-Length": str(len(data)), **headers}
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, text)

    def stop(self, number: int = signal.SIGINT) -> int:
        """End the process with Ctrl+C and return its exit status."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def api_server(folder: Path, *arguments: str, delay: float = 0.0) -> Iterator[ApiServer]:
    """Start a server on a free port."""
    command = [sys.executable, "-m", "inspector_app", "api_server", str(folder), "--port", "0", "--json", *arguments]
    process = subprocess.Popen(command, env=environment(delay), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    with process, process.stdout, process.stderr:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        said = json.loads(line)["server"]
        try:
            yield ApiServer(process, int(said["url"].rpartition(":")[2]), said["token"], said["apps"], folder)
        finally:
            process.kill()
