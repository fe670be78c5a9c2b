"""Access control: programs on this machine may send requests; web pages may not."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Guard:
    """Rejects requests that a web page in the user's browser could have sent.

    The server listens on this machine only, but so do the user's browser and every page open in it. A page cannot choose its `Host` (a
    name rebound to 127.0.0.1 shows up there) nor hide its `Origin` or `Sec-Fetch-Site`; curl and other programs send neither. There are no
    CORS headers, so a page cannot send a request that needs a preflight, and cannot read a response.

    Args:
        app: the guarded application.
        port: the server's port.
        token: required as `Authorization: Bearer TOKEN` in every request that a page could have sent.
    """

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._origins = {f"http://{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or reject it."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name_of(hosts[0]) not in LOOPBACK_NAMES:
            return _refused(403, "The request's Host header names another host. Use localhost, 127.0.0.1 or [::1].")
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return _refused(403, "Requests from web pages of another origin are rejected.")
        if _may_come_from_a_page(headers) and not self._has_token(headers):
            return _refused(
                401, "A browser sent this request. Add the header Authorization: Bearer TOKEN with the token printed at the start."
            )
        return None

    def _has_token(self, headers: Headers) -> bool:
        return hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self._token}".encode())


def _may_come_from_a_page(headers: Headers) -> bool:
    """Return whether a browser sent the request, and not because a person typed the address."""
    return "origin" in headers or "referer" in headers or headers.get("sec-fetch-site", "none") != "none"


def _name_of(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _refused(status: int, why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)
