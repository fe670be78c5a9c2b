"""Half-open and wasteful requests, against a real server with short times."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from inspector_app.server import body_bytes, connection
from inspector_app.server.application import bad_body
from inspector_app.server.bodies import BadBodyError, read_json
from inspector_app.server.connection import Connection

POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def _echo(request: Request) -> Response:
    return JSONResponse({"read": await read_json(request)})


async def _unread(_: Request) -> Response:
    return JSONResponse("unread")


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    """Serve an application that answers a POST with its body, in this process."""
    routes = [Route("/", _echo, methods=["POST"]), Route("/unread", _unread, methods=["POST"])]
    app = Starlette(routes=routes, exception_handlers={BadBodyError: bad_body})
    config = uvicorn.Config(app, http=Connection, ws="none", log_config=None, timeout_keep_alive=1)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        await server.startup([listening])
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await server.shutdown([listening])


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """Send pieces and return everything the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(20):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SECONDS_FOR_HEADERS", 0.3)
    monkeypatch.setattr(body_bytes, "SECONDS_FOR_A_BODY", 0.3)


@pytest.mark.rule("I7")
@pytest.mark.parametrize("begin", [b"", b"POST / HT", POST], ids=["nothing", "half a line", "half the headers"])
async def test_headers_that_do_not_end_close_the_connection(begin: bytes) -> None:
    async with serving() as port:
        assert await answer_to(port, begin) == b""


async def test_headers_that_come_drop_by_drop_close_the_connection() -> None:
    async with serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST)
        async with asyncio.timeout(20):
            with suppress(ConnectionError):  # a reset closes it too; every later read fails at once
                while not reader.at_eof():
                    with suppress(TimeoutError):
                        writer.write(b"X: y\r\n")
                        assert await asyncio.wait_for(reader.read(), 0.05) == b""
        writer.close()


async def test_the_second_request_of_a_connection_has_the_same_time() -> None:
    first = POST + b"Content-Length: 2\r\n\r\n{}"
    async with serving() as port:
        answer = await answer_to(port, first, POST)
    assert answer.count(b"HTTP/1.1 200") == 1


@pytest.mark.rule("I7")
@pytest.mark.parametrize("body", [b"Content-Length: 100\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
async def test_a_body_that_does_not_end_is_a_408(body: bytes) -> None:
    async with serving() as port:
        answer = await answer_to(port, POST + body)
    assert answer.startswith(b"HTTP/1.1 408")


async def test_a_body_that_is_not_read_closes_the_connection() -> None:
    async with serving() as port:
        answer = await answer_to(port, POST.replace(b"/ ", b"/unread ") + b"Content-Length: 100\r\n\r\n{", b"x")
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.rule("I7")
async def test_very_small_chunks_close_the_connection() -> None:
    async with serving() as port:
        assert await answer_to(port, POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 40_000) == b""


async def test_chunks_of_a_usual_size_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_bytes, "SECONDS_FOR_A_BODY", 20)
    text = json.dumps({"text": "x" * 2_000_000}).encode()
    chunks = [text[start : start + 8192] for start in range(0, len(text), 8192)]
    async with serving() as port:
        framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
        answer = await answer_to(port, POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", framed + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"x") >= 2_000_000


async def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_failure() -> None:
    """An exception in the application would be logged, which fails the test."""
    async with serving() as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST + b"Content-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await answer_to(port, POST + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")).startswith(b"HTTP/1.1 200")
