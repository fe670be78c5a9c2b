"""HTTP answers within limits of time and size: a server may send a byte a second, heads without an end, or a compressed gigabyte."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

from runtime.support.bounded import MOST_BYTES, Content

ACCEPTED = {"Accept-Encoding": "gzip"}  # the only encoding that `content` reads
_TOO_LONG = "the exchange takes too long"
_SLICE = 0.2  # seconds until a read notices that it was stopped

_end: ContextVar[float] = ContextVar("end")  # of the exchange, on the clock `time.monotonic`


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let each exchange in this context fail when the time is over."""
    token = _end.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


class BoundedTransport(httpx.HTTPTransport):
    """A transport whose exchanges end with their `within`, and at once when it is stopped.

    An httpx timeout is for one read, and starts again with each byte.
    """

    def __init__(self) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=context)
        self._network = _Network()
        self._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=self._network)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._network.is_stopped

    def stop(self) -> None:
        """End all exchanges, from any thread."""
        self._network.is_stopped = True


def content(answer: httpx.Response, most: int = MOST_BYTES) -> bytes:
    """Return the body of a streamed answer.

    Args:
        answer: of a request with the headers `ACCEPTED`.
        most: bytes of the longest body.

    Raises:
        TooMuchError: it is longer.
        ValueError: it is compressed in another way, or damaged.
        httpx.HTTPError: it is not complete.
    """
    found = Content(answer.headers.get("content-encoding", ""), most)
    for piece in answer.iter_raw():
        found.add(piece)
        if time.monotonic() > _end.get(math.inf):
            raise httpx.ReadTimeout(_TOO_LONG)
    return found.whole()


class _Network(httpcore.SyncBackend):
    def __init__(self) -> None:
        super().__init__()
        self.is_stopped = False

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any) -> httpcore.NetworkStream:
        """Connect in the time that is left."""
        return _Stream(super().connect_tcp(host, port, self.left(timeout, httpcore.ConnectTimeout), *args, **options), self)

    def left(self, timeout: float | None, error: type[Exception]) -> float | None:
        """Return how long an operation may take.

        Raises:
            Exception: of the given type: the time is over.
        """
        if self.is_stopped:
            raise httpcore.NetworkError("stopped")
        left = min(_end.get(math.inf) - time.monotonic(), math.inf if timeout is None else timeout)
        if left <= 0:
            raise error(_TOO_LONG)
        return None if left == math.inf else left


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, network: _Network) -> None:
        self._stream = stream
        self._network = network
        self.close = stream.close  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = self._network.left(None if end is None else end - time.monotonic(), httpcore.ReadTimeout)
            try:
                return self._stream.read(max_bytes, _SLICE if left is None else min(left, _SLICE))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left(timeout, httpcore.WriteTimeout))

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        left = self._network.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._network)
