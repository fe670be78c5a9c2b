"""A Cloud Storage server on this machine, and one in front of it that fails as networks do."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import pytest
import requests

BUCKET = "artifacts"


@contextmanager
def storage_server() -> Iterator[str]:
    """Start an emulator with an empty bucket, and return its address; its clients find it by an environment variable."""
    pytest.importorskip("google.cloud.storage")
    server = pytest.importorskip("gcp_storage_emulator.server")
    emulator = server.create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    emulator.start()
    address = f"http://127.0.0.1:{emulator._api._httpd.server_port}"
    try:
        yield address
    finally:
        emulator.stop()


@contextmanager
def used_by_clients(address: str) -> Iterator[None]:
    """Let the clients of this process use a server."""
    before = dict(os.environ)
    os.environ.update({"STORAGE_EMULATOR_HOST": address, "GOOGLE_CLOUD_PROJECT": "test"})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def failing_in_front_of(address: str, faults: list[str]) -> Iterator[str]:
    """Start a server that forwards requests, but first does what `faults` says, one for each request of objects.

    Args:
        address: the server behind it.
        faults: `429` or `500`: answer with that status; `cut`: close without an answer; `lost`: forward, then close; `slow`: forward, and
            answer when the context ends; `ok`: forward.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_ANY(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            # The client asks for the bucket itself too, on a thread of its own.
            fault = faults.pop(0) if faults and f"/b/{BUCKET}/o" in self.path else "ok"
            if fault.isdecimal():
                self._answer(int(fault))
                return
            if fault == "cut":
                self.close_connection = True
                return
            with lock:
                if b"ifGenerationMatch=0" in self.path.encode() and self._exists(body):
                    self._answer(412)
                    return
                answer = self._forwarded(body)
            self._send(answer, fault)

        def _exists(self, body: bytes) -> bool:
            """Do what the emulator does not: an upload that must be the first finds out whether it is."""
            found = re.search(rb'"name":\s*"([^"]+)"', body)
            assert found is not None, body[:500]
            name = quote(found[1].decode(), safe="")
            return requests.get(f"{address}/storage/v1/b/{BUCKET}/o/{name}", timeout=30).status_code == 200

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def _forwarded(self, body: bytes) -> requests.Response:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "accept-encoding")}
            return requests.request(self.command, address + self.path, data=body, headers=headers, timeout=30)

        def _send(self, answer: requests.Response, fault: str) -> None:
            if fault == "slow":
                ended.wait()
            if fault in ("lost", "slow"):
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() in ("content-type", "location", "x-goog-hash", "x-goog-generation"):
                    self.send_header(name, value.replace(address, own))
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_ANY

        def log_message(self, *_: Any) -> None:
            pass

    lock, ended = threading.Lock(), threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    own = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield own
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
