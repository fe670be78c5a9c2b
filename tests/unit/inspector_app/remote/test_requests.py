"""Each fault of a server becomes one sentence that names it; nothing is read without an end."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from inspector_app.remote import requests
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.requests import Requests
from inspector_app.remote.server_address import server_address
from runtime.errors import KnownError

REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def answer(status: str, body: bytes = b"[]", kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@contextmanager
def serving(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Answer every request with the same bytes; yield the address and the Authorization headers received."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Authorization", ""))
            self.wfile.write(data)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", seen
        finally:
            server.shutdown()
            thread.join()


def asked(address: str) -> str:
    """Ask for the list of sessions, and return the sentence that it fails with."""
    server = AdkServer(server_address(address))
    try:
        with pytest.raises(KnownError) as found:
            server.listed()
    finally:
        server.close()
    return str(found.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (answer("401 Unauthorized"), "refuses access (401)"),
        (answer("403 Forbidden"), "refuses access (403)"),
        (answer("404 Not Found", b'{"detail": "Not Found"}'), "no list of apps"),
        (answer("500 Oops", b'{"detail": "the disk is full"}'), "failed (500): the disk is full"),
        (answer("200 OK", b"<html>hello</html>", "text/html"), "its answer is not JSON"),
        (answer("200 OK", b'{"apps": 1}'), "its list of apps is none"),
        (answer("200 OK", b"[" * 200_000), "is nested too deeply, so it is not read"),
        (REDIRECT, "sends its callers to elsewhere.example, which is not followed"),
        (answer("200 OK", b"[1, 2]")[:-3], "ended the connection before its answer was complete"),
        (b"nonsense\r\n\r\n", "ended the connection before its answer was complete"),
    ],
)
def test_each_wrong_answer_is_a_sentence(data: bytes, words: str) -> None:
    with serving(data) as (address, _):
        said = asked(address)
    assert words in said
    assert address in said


def test_a_long_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LARGEST_ANSWER", 1_000)
    with serving(answer("200 OK", b"[" + b" " * 100_000 + b"]")) as (address, _):
        assert "is longer than" in asked(address)


def test_what_unpacks_to_too_much_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LARGEST_ANSWER", 100_000)
    packed = gzip.compress(b"[" + b" " * 10_000_000 + b"]")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with serving(head + packed) as (address, _):
        assert "is longer than 100,000 bytes" in asked(address)
    with serving(head.replace(b"gzip", b"gzip, gzip") + packed) as (address, _):
        assert "is compressed with gzip, gzip" in asked(address)


def test_a_compressed_answer_is_read() -> None:
    packed = gzip.compress(b"[]")
    with (
        serving(f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode() + packed) as (address, _),
        closing(AdkServer(server_address(address))) as server,
    ):
        assert server.listed() == {}


ENDLESS = {
    "a byte now and then": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"[", 0.02),
    "heads of other answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.0),
    "a head now and then": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
    "a line now and then": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.02),
}


@contextmanager
def endless(name: str) -> Iterator[str]:
    """Answer with bytes that never end."""
    first, again, seconds = ENDLESS[name]
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                self.wfile.write(first)
                while not over.wait(seconds):
                    self.wfile.write(again)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            over.set()
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_without_an_end_is_given_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "SECONDS_FOR_AN_EXCHANGE", 0.3)
    with endless(name) as address:
        assert asked(address) == f"{address} has not finished its answer within 0.3 s."


@pytest.mark.parametrize("name", ENDLESS)
def test_closing_ends_a_request_that_waits(name: str) -> None:
    with endless(name) as address:
        client = Requests(server_address(address))
        said: list[str] = []

        def ask() -> None:
            try:
                client.ask("GET", "/list-apps")
            except KnownError as error:
                said.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        client.close()
        thread.join(10)
        assert said == [f"{address} was closed."]


def test_agents_that_name_each_other_are_shown_once() -> None:
    agents = {f"{side}{level}": {"subAgents": [f"a{level + 1}", f"b{level + 1}", "a0"]} for side in "ab" for level in range(40)}
    body = json.dumps({"rootAgentName": "a0", "agents": agents}).encode()
    with serving(answer("200 OK", body)) as (address, _), closing(AdkServer(server_address(address))) as server:
        found = server.described("x")
    names = re.findall(r"'name': '(\w+)'", str(found))
    assert sorted(names) == sorted(agents.keys() - {"b0"})


def test_a_server_that_has_ended_is_named() -> None:
    with serving(b"") as (address, _):
        pass
    assert asked(address) == f"{address} cannot be reached: nothing answers there. Start the server, or correct the address."


def test_a_token_is_sent_and_never_displayed() -> None:
    with serving(answer("403 Forbidden")) as (address, seen):
        said = asked(address.replace("//", "//s3cret@"))
        assert seen == ["Bearer s3cret"]
        assert "s3cret" not in said


def test_a_slow_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "SECONDS_FOR_AN_ANSWER", 0.05)
    asked_for = threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked_for.wait(5)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        client = Requests(server_address(f"http://127.0.0.1:{server.server_address[1]}"))
        try:
            with pytest.raises(KnownError, match=r"has not answered for 0\.05 s"):
                client.ask("GET", "/list-apps")
        finally:
            asked_for.set()
            client.close()
            server.shutdown()
            thread.join()
