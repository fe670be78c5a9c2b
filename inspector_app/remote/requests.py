"""HTTP requests to a server of google-adk's: bounded, never redirected, each failure a sentence."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from inspector_app.remote.server_address import TOKEN, ServerAddress
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError

LARGEST_ANSWER = 256 * 2**20  # bytes
SECONDS_TO_CONNECT = 5.0
SECONDS_FOR_AN_ANSWER = 30.0  # without a byte
_SHOWN = 300  # characters of a server's own words
_JSON = "application/json"


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
        self._http = httpx.Client(**self._options)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON of an answer.

        Args:
            method: the HTTP method.
            path: quoted, from a slash on.
            body: the JSON to send; None for none.
            query: parameters.

        Raises:
            NotFoundError: the server answered 404.
            StorageError: the server cannot be reached, refuses, or does not answer as google-adk's does.
        """
        try:
            with self._http.stream(method, path, json=body, params=query, headers=self._headers()) as answer:
                data = bytearray()
                for piece in answer.iter_bytes():
                    data += piece
                    self._check_size(len(data))
                return self._read(answer, bytes(data))
        except httpx.HTTPError as error:
            raise StorageError(self._why(error)) from error
        except RuntimeError as error:  # closed meanwhile
            raise StorageError(f"{self._address.shown} was closed.") from error

    @asynccontextmanager
    async def streamed(self, path: str, body: Any) -> AsyncIterator[AsyncIterator[str]]:
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
                    data = bytearray()
                    async for piece in answer.aiter_bytes():
                        data += piece
                        self._check_size(len(data))
                    self._read(answer, bytes(data))
                    raise StorageError(self._not_adk("it does not stream events"))
                yield self._lines(answer)
        except httpx.HTTPError as error:
            raise StorageError(self._why(error)) from error

    async def _lines(self, answer: httpx.Response) -> AsyncIterator[str]:
        rest = b""
        async for piece in answer.aiter_bytes():
            *lines, rest = (rest + piece).split(b"\n")
            self._check_size(len(rest))
            for line in lines:
                yield line.decode(errors="replace").rstrip("\r")

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._address.token}"} if self._address.token else {}

    def _check_size(self, size: int) -> None:
        if size > LARGEST_ANSWER:
            raise StorageError(f"An answer of {self._address.shown} is longer than {LARGEST_ANSWER // 2**20} MB, so it is not read.")

    def _read(self, answer: httpx.Response, data: bytes) -> Any:
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
            found = json.loads(data) if data.strip() else None
        except (ValueError, RecursionError):
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

    def _why(self, error: httpx.HTTPError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"{self._address.shown} cannot be reached: nothing answers there. Start the server, or correct the address."
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
