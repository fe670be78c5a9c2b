"""A local endpoint that receives OpenTelemetry traces over HTTP, as JSON or protobuf."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from inspector_app.server.body_bytes import LONGEST_BODY, UnreadBodyError, body_bytes
from inspector_app.server.connection import configuration
from inspector_app.server.guard import LOOPBACK_NAMES, Access, Guard
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json, spans_of_protobuf
from runtime.errors.known_error import KnownError
from runtime.support.bounded import Content, TooMuchError
from runtime.support.worker_threads import run_in_thread

SECONDS_TO_STOP = 3

OnSpans = Callable[[list[OtlpSpan]], None]


class OtlpAddressError(KnownError):
    """The endpoint cannot listen; the message says why."""


def parsed_address(text: str) -> tuple[str, int]:
    """Return the host and the port of `HOST:PORT`.

    Raises:
        OtlpAddressError: it is something else, or other machines could reach it.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise OtlpAddressError(f"{text} is no address of this machine. Write --otlp 127.0.0.1:4318, or the name of a file.")
    if host not in LOOPBACK_NAMES:
        raise OtlpAddressError(f"Traces are received from this machine only, not at {host}. Write --otlp 127.0.0.1:{port}.")
    return host, int(port)


class OtlpEndpoint:
    """The endpoint, on a thread of its own once it is started.

    Args:
        host, port: where to listen, on this machine; 0 takes any free port.

    Attributes:
        url: where exporters send traces.

    Raises:
        OtlpAddressError: the port is in use.
    """

    def __init__(self, host: str, port: int) -> None:
        address = "127.0.0.1" if host == "localhost" else host
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            self._listening = socket.create_server((address, port), family=family, backlog=64)
        except OSError as error:
            raise OtlpAddressError(f"Port {port} cannot be used for --otlp: {error.strerror or error}.") from error
        self._port = self._listening.getsockname()[1]
        self.url = f"http://{f'[{address}]' if ':' in address else address}:{self._port}/v1/traces"
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self, on_spans: OnSpans) -> None:
        """Receive traces; those that arrived since the endpoint was made are waiting.

        Args:
            on_spans: called with the spans of each request, on a worker thread.
        """
        self._server = uvicorn.Server(configuration(otlp_application(on_spans, port=self._port)))
        self._thread = threading.Thread(target=self._serve, args=(self._server,), name="otlp", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(SECONDS_TO_STOP)
        self._listening.close()

    def _serve(self, server: uvicorn.Server) -> None:
        asyncio.run(server.serve([self._listening]))


def otlp_application(on_spans: OnSpans, *, port: int) -> ASGIApp:
    """Return the application behind `OtlpEndpoint`. It refuses what a web page could have sent.

    Args:
        on_spans: see `OtlpEndpoint.start`.
        port: the server's port.
    """

    async def traces(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        read = {"application/json": spans_of_json, "application/x-protobuf": spans_of_protobuf}.get(kind)
        if read is None:
            return _refused(415, "Send traces as application/json or application/x-protobuf.")
        try:
            body = await _body(request)
            await run_in_thread(lambda: on_spans(read(body)))
        except UnreadBodyError as error:
            return _refused(error.status, str(error))
        except OtlpError as error:
            return _refused(400, str(error))
        return Response(b"{}" if read is spans_of_json else b"", media_type=kind)

    app = Starlette(routes=[Route("/v1/traces", traces, methods=["POST"])])
    return Guard(app, access=Access(port, secrets.token_urlsafe(24)))


async def _body(request: Request) -> bytes:
    found = await body_bytes(request)
    encoding = request.headers.get("content-encoding", "")
    return await run_in_thread(_unpacked, found, encoding) if encoding else found


def _unpacked(data: bytes, encoding: str) -> bytes:
    try:
        found = Content(encoding, LONGEST_BODY)
    except ValueError as error:
        raise UnreadBodyError(415, f"The body {error}. Use gzip, or none.") from None
    try:
        found.add(data)
        return found.whole()
    except TooMuchError as error:
        raise UnreadBodyError(413, f"The body {error}.") from None
    except ValueError as error:
        raise UnreadBodyError(400, f"The body {error}.") from None


def _refused(status: int, why: str) -> JSONResponse:
    return JSONResponse({"code": 3, "message": why}, status)
