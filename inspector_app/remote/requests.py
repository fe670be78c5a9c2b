"""HTTP requests to a server of google-adk's: bounded, never redirected, each failure a sentence."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from inspector_app.remote.server_address import TOKEN, ServerAddress
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.support.bounded import MOST_BYTES, Budget, Content, TooMuchError
from runtime.support.bounded_http import ACCEPTED, BoundedTransport, content, within

LARGEST_ANSWER = MOST_BYTES
SECONDS_TO_CONNECT = 5.0
SECONDS_FOR_AN_EXCHANGE = 60.0  # from the request to the last byte of the answer
SECONDS_FOR_AN_ANSWER = 30.0  # without a byte
_SHOWN = 300  # characters of a server's own words


class Requests:
    """Sends requests to one server.

    Args:
        address: the server.
    """

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        timeout = httpx.Timeout(SECONDS_FOR_AN_ANSWER, connect=SECONDS_TO_CONNECT)
        # No proxy and no .netrc: a token must reach this server only.
        self._options: dict[str, Any] = {"base_url": address.base, "timeout": timeout, "trust_env": False, "follow_redirects": False}
        self._transport = BoundedTransport()
        self._http = httpx.Client(**self._options, transport=self._transport)

    def close(self) -> None:
        """Close all connections, and end the requests that are waiting for an answer."""
        self._transport.stop()
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None, budget: Budget | None = None) -> Any:
        """Return the JSON of an answer.

        Args:
            method: the HTTP method.
            path: quoted, from a slash on.
            body: the JSON to send; None for none.
            query: parameters.
            budget: the memory for the answer; None: the usual.

        Raises:
            NotFoundError: the server answered 404.
            StorageError: the server cannot be reached, refuses, or does not answer as google-adk's does.
        """
        began = time.monotonic()
        try:
            with (
                within(SECONDS_FOR_AN_EXCHANGE),
                self._http.stream(method, path, json=body, params=query, headers={**self._headers(), **ACCEPTED}) as answer,
            ):
                data = content(answer, LARGEST_ANSWER)
            return self._read(answer, data, budget or Budget())
        except httpx.HTTPError as error:
            raise StorageError(self._why(error, time.monotonic() - began)) from error
        except ValueError as error:
            raise StorageError(f"An answer of {self._address.shown} {error}, so it is not read.") from error
        except RuntimeError as error:  # closed meanwhile
            raise StorageError(self._closed) from error

    @asynccontextmanager
    async def streamed(self, path: str, body: Any) -> AsyncIterator[AsyncIterator[bytes]]:
        """Post JSON and yield the lines of the answer; leaving the context closes the connection.

        Raises:
            NotFoundError: the server answered 404.
            StorageError: see `ask`; also while lines are read.
        """
        # An agent may think for as long as it likes before its next event.
        options = {**self._options, "timeout": httpx.Timeout(None, connect=SECONDS_TO_CONNECT)}
        try:
            async with (
                httpx.AsyncClient(**options) as http,
                http.stream("POST", path, json=body, headers=self._headers()) as answer,
            ):
                if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                    async with asyncio.timeout(SECONDS_FOR_AN_EXCHANGE):
                        found = Content(answer.headers.get("content-encoding", ""))
                        async for piece in answer.aiter_raw():
                            found.add(piece)
                    self._read(answer, found.whole(), Budget())
                    raise StorageError(self._not_adk("it does not stream events"))
                yield self._lines(answer)
        except httpx.HTTPError as error:
            raise StorageError(self._why(error)) from error
        except TimeoutError as error:
            raise StorageError(self._too_slow) from error
        except ValueError as error:
            raise StorageError(f"An answer of {self._address.shown} {error}, so it is not read.") from error

    async def _lines(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        Content(answer.headers.get("content-encoding", "identity"), 0)
        rest = bytearray()
        async for piece in answer.aiter_raw():
            searched = len(rest)
            rest += piece
            begin = 0
            while (end := rest.find(b"\n", max(begin, searched))) >= 0:
                yield bytes(rest[begin:end]).rstrip(b"\r")
                begin = end + 1
            del rest[:begin]
            if len(rest) > LARGEST_ANSWER:
                raise TooMuchError(f"has a line of more than {LARGEST_ANSWER:,} bytes")

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._address.token}"} if self._address.token else {}

    def _read(self, answer: httpx.Response, data: bytes, budget: Budget) -> Any:
        status = answer.status_code
        if answer.is_redirect:
            place = urlsplit(answer.headers.get("location", "")).netloc or "another address"
            raise StorageError(
                f"{self._address.shown} sends its callers to {place}, which is not followed. Open that address if you trust it."
            )
        if status in (401, 403):
            raise StorageError(
                f"{self._address.shown} refuses access ({status}). If it needs a token, write it before the host, as in"
                f" http://TOKEN@127.0.0.1:8000, or set {TOKEN}."
            )
        try:
            found = budget.parse(data) if data.strip() else None
        except TooMuchError:
            raise
        except ValueError:
            found = data
        if status == 404:
            raise NotFoundError(f"{self._address.shown} has no such thing (404){_said(found)}")
        if not answer.is_success:
            raise StorageError(f"{self._address.shown} failed ({status}){_said(found)}")
        if found is data:
            raise StorageError(self._not_adk("its answer is not JSON"))
        return found

    def _not_adk(self, why: str) -> str:
        return f"{self._address.shown} does not answer as a server of google-adk's does: {why}."

    @property
    def _closed(self) -> str:
        return f"{self._address.shown} was closed."

    @property
    def _too_slow(self) -> str:
        return f"{self._address.shown} has not finished its answer within {SECONDS_FOR_AN_EXCHANGE:g} s."

    def _why(self, error: httpx.HTTPError, seconds: float = 0.0) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"{self._address.shown} cannot be reached: nothing answers there. Start the server, or correct the address."
        if self._transport.is_stopped:
            return self._closed
        if seconds >= SECONDS_FOR_AN_EXCHANGE:
            return self._too_slow
        if isinstance(error, httpx.TimeoutException):
            return f"{self._address.shown} has not answered for {SECONDS_FOR_AN_ANSWER:g} s."
        if isinstance(error, httpx.RemoteProtocolError | httpx.NetworkError):
            return f"{self._address.shown} ended the connection before its answer was complete."
        return f"{self._address.shown} cannot be read ({type(error).__name__}): {error}"


def _said(found: Any) -> str:
    """Return what a server says about its refusal, as the end of a sentence."""
    said = found.get("detail", found.get("error")) if isinstance(found, dict) else None
    text = said if isinstance(said, str) else json.dumps(said) if said else ""
    return f": {text[:_SHOWN]}" if text else "."
