"""Limits of one HTTP connection: requests arrive in time and in pieces of a sensible size."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_FOR_HEADERS = 10  # from the connection, or a request's first byte, to the end of its headers
# Chunks of a body: parsing each costs 10 µs or more, during which other requests wait. Clients send at least 1 KB in a chunk.
FREE_CHUNKS = 1_000
BYTES_OF_A_CHUNK = 1_024

_CHUNK = re.compile(rb"\r\n[0-9A-Fa-f]{1,8}\r\n")


def configuration(app: ASGIApp) -> uvicorn.Config:
    """Return how uvicorn serves an application over such connections."""
    quiet: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Config(app, http=Connection, ws="none", lifespan="on", timeout_graceful_shutdown=1, **quiet)


class Connection(H11Protocol):
    """A connection that is closed when a request's headers do not arrive in time, or its body comes in very small chunks.

    The time for a body is limited where it is read.
    """

    _timer: asyncio.TimerHandle | None = None
    _bytes = _chunks = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process a piece of a request, if it is sensible."""
        if self._is_between_requests():
            self._bytes = self._chunks = 0
            self._wait_for_headers()
        self._bytes += len(data)
        self._chunks += len(_CHUNK.findall(data))
        if self._chunks > FREE_CHUNKS + self._bytes // BYTES_OF_A_CHUNK:
            self.transport.close()
            return
        super().data_received(data)
        if not self._is_between_requests():
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _wait_for_headers(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS_FOR_HEADERS, self._on_late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_late(self) -> None:
        self._timer = None
        if self._is_between_requests():
            self.transport.close()
