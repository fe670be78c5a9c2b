"""HTTP requests to the sessions of an Agent Engine, by its public REST protocol."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import google.auth
import httpx
from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request

from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.support.bounded import TooMuchError, parse
from runtime.support.bounded_http import ACCEPTED, content, within

VERSION = "v1beta1"
SECONDS_FOR_A_REQUEST = 30
SECONDS_IN_ALL = 60  # for a request and its repetitions, and for an operation to finish
PAGE = 100  # sessions or events in an answer
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between repetitions
_REPEATED = frozenset({408, 429, 500, 502, 503, 504})
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_BASE_URL = "GOOGLE_VERTEX_BASE_URL"  # google-genai's variable for another address
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ConflictError(StorageError):
    """The server answered 409: what was to be created exists."""


class AgentEngineClient:
    """Sends requests and repeats those that failed on the way. Thread-safe; each call blocks.

    The address is the location's, or `GOOGLE_VERTEX_BASE_URL`; an `http:` address must be on this machine, and gets no credentials.

    Args:
        project, location: the Google Cloud project and its location; None: from the environment.
        api_key: an express mode key in place of project, location and credentials.
        credentials: None: the application default credentials, looked up at the first request.

    Attributes:
        place: the beginning of resource names, such as `projects/P/locations/L`; empty in express mode.

    Raises:
        StorageError: a project is missing, or the address would send credentials in clear.
    """

    def __init__(
        self,
        project: str | None = None,
        location: str | None = None,
        *,
        api_key: str | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        project, location = project or os.environ.get("GOOGLE_CLOUD_PROJECT"), location or os.environ.get("GOOGLE_CLOUD_LOCATION")
        if not api_key and not (project and location):
            raise StorageError(
                "Sessions of an Agent Engine need a project and a location: set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION."
            )
        host = "aiplatform.googleapis.com" if api_key or location == "global" else f"{location}-aiplatform.googleapis.com"
        address = os.environ.get(_BASE_URL) or f"https://{host}"
        self._is_open = urlsplit(address).scheme == "http"
        if self._is_open and urlsplit(address).hostname not in _LOOPBACK:
            raise StorageError(f"{address} would be sent credentials without encryption. Use an https: address.")
        self._api_key = api_key
        self._credentials = credentials
        self._signing = threading.Lock()
        self._http = httpx.Client(base_url=f"{address.rstrip('/')}/{VERSION}/", timeout=SECONDS_FOR_A_REQUEST, follow_redirects=False)
        self.place = "" if api_key else f"projects/{project}/locations/{location}"

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        *,
        is_done: Callable[[], bool] | None = None,
    ) -> dict[str, Any]:
        """Send a request; repeat it if it failed on the way.

        Args:
            method: the HTTP method.
            path: a resource name, with a verb such as `:appendEvent` if any.
            body: the JSON body.
            query: parameters.
            is_done: returns whether the request was carried out; asked before it is repeated, if only its answer may have been lost.

        Returns:
            The answer; empty if `is_done` returned True.

        Raises:
            NotFoundError: there is no such resource.
            ConflictError: the resource exists. `args[1]` is whether an earlier attempt may have made it.
            StorageError: the server refused, or could not be reached.
        """
        end, pause, is_uncertain = time.monotonic() + SECONDS_IN_ALL, _FIRST_PAUSE, False
        while True:
            try:
                headers = {**self._headers(), **ACCEPTED}
                with within(SECONDS_IN_ALL), self._http.stream(method, path, json=body, params=query, headers=headers) as answer:
                    data = content(answer)
                reason = f"the server answered {answer.status_code} {answer.reason_phrase}"
                if answer.status_code not in _REPEATED:
                    return self._read(answer, data, reason, is_uncertain)
                is_uncertain = is_uncertain or answer.status_code != 429
            except httpx.TransportError as error:
                reason = f"no answer ({type(error).__name__})"
                is_uncertain = is_uncertain or not isinstance(error, httpx.ConnectError)
            except TooMuchError as error:
                raise StorageError(f"An answer of the Agent Engine {error}, so it is not read.") from None
            except ValueError as error:
                reason = f"the answer {error}"
            if time.monotonic() + pause > end:
                raise StorageError(f"The Agent Engine cannot be used: {reason}, for {SECONDS_IN_ALL} s.")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE)
            if is_uncertain and is_done is not None and is_done():
                return {}

    def all_of(self, path: str, field: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page by page."""
        page: dict[str, Any] = {"nextPageToken": ""}
        while "nextPageToken" in page:
            token = {"pageToken": page["nextPageToken"]} if page["nextPageToken"] else {}
            page = self.ask("GET", path, query={**query, "pageSize": PAGE, **token})
            yield from page.get(field, ())
            if not page.get("nextPageToken"):
                return

    def finished(self, operation: dict[str, Any]) -> dict[str, Any]:
        """Wait for a long-running operation and return it.

        Raises:
            StorageError: it failed, or takes too long.
        """
        end, pause = time.monotonic() + SECONDS_IN_ALL, _FIRST_PAUSE
        while not operation.get("done"):
            if time.monotonic() + pause > end:
                raise StorageError(f"An operation of the Agent Engine is not finished after {SECONDS_IN_ALL} s: {operation.get('name')}.")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            operation = self.ask("GET", str(operation["name"]))
        if "error" in operation:
            raise StorageError(f"The Agent Engine refused: {operation['error'].get('message', 'it gave no reason')}")
        return operation

    def _read(self, answer: httpx.Response, data: bytes, reason: str, is_uncertain: bool) -> dict[str, Any]:
        if answer.status_code == 404:
            raise NotFoundError("The Agent Engine has no such session.")
        if answer.status_code == 409:
            raise ConflictError("The Agent Engine has such a session already.", is_uncertain)
        try:
            found = parse(data) if data else {}
        except TooMuchError:
            raise
        except ValueError:
            found = None
        if answer.is_success and isinstance(found, dict):
            return found
        said = found.get("error", {}).get("message") if isinstance(found, dict) and isinstance(found.get("error"), dict) else None
        raise StorageError(f"The Agent Engine cannot be used: {reason}{f' ({said})' if said else ''}.")

    def _headers(self) -> dict[str, str]:
        if self._is_open:
            return {}
        if self._api_key:
            return {"x-goog-api-key": self._api_key}
        try:
            with self._signing:
                if self._credentials is None:
                    self._credentials, _ = google.auth.default(scopes=[_SCOPE])
                if not self._credentials.valid:
                    self._credentials.refresh(Request())  # type: ignore[no-untyped-call]
                return {"Authorization": f"Bearer {self._credentials.token}"}
        except GoogleAuthError as error:
            text = f"There are no credentials for the Agent Engine: {error}. Run: gcloud auth application-default login"
            raise StorageError(text) from error
