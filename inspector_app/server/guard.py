"""Access control: programs on this machine may send requests; web pages of others may not."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from inspector_app.server.origins import AllowedOrigins

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_PAGES = ("", "/dev-ui", "/docs")  # a person opens these; what is below them belongs to a page


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use a server.

    Attributes:
        port: the server's port.
        token: what a request needs that a page could have sent: see `Guard`.
        origins: origins of pages that need no token.
    """

    port: int
    token: str
    origins: AllowedOrigins = field(default_factory=AllowedOrigins)


class Guard:
    """Rejects requests that a web page of another site could have sent.

    The server listens on this machine only, but so do the user's browser and every page open in it. A page cannot choose its `Host` (a
    name rebound to 127.0.0.1 shows up there) nor hide its `Origin` or `Sec-Fetch-Site`; curl and other programs send neither. CORS headers
    are sent only for origins that were named, so another page cannot send a request that needs a preflight, and cannot read a response.

    The server's own page proves itself by a cookie. It is given to a person who opens the page, it is only accepted where the browser says
    that the request comes from this very origin, and it is worthless for a program, which needs none.

    Args:
        app: the guarded application.
        access: the server's port, its token and the origins that were named. The token is required as `Authorization: Bearer TOKEN` in
            every request that a page could have sent without a cookie.
    """

    def __init__(self, app: ASGIApp, *, access: Access) -> None:
        self._app = app
        self._named = access.origins
        self._own = {f"http://{name}:{access.port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        self._token = access.token
        self._cookie_name = f"agent_inspector_{access.port}"  # cookies do not know ports
        self._secret = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["method"] == "GET" and scope["path"].removesuffix("/") in _PAGES and _is_opened(headers):
            await self._app(scope, receive, self._with_cookie(send))
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name_of(hosts[0]) not in LOOPBACK_NAMES:
            return _refused(403, "The request's Host header names another host. Use localhost, 127.0.0.1 or [::1].")
        origins = headers.getlist("origin")
        if len(origins) == 1 and origins[0] in self._named:
            return None
        if any(origin not in self._own for origin in origins):
            return _refused(403, "Requests from web pages of another origin are rejected.")
        if _may_come_from_a_page(headers) and not self._has_token(headers) and not self._has_cookie(headers, origins, hosts[0]):
            return _refused(
                401, "A browser sent this request. Add the header Authorization: Bearer TOKEN with the token printed at the start."
            )
        return None

    def _has_token(self, headers: Headers) -> bool:
        return hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self._token}".encode())

    def _has_cookie(self, headers: Headers, origins: list[str], host: str) -> bool:
        """Return whether the server's own page sent the request: it has the cookie, and the browser names this origin."""
        same = f"http://{host}"
        # Pages of other local servers get the cookie too, as ports do not matter to cookies; their requests are same-site, not same-origin.
        if headers.getlist("sec-fetch-site") != ["same-origin"] or any(origin != same for origin in origins):
            return False
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie_name)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._secret.encode())

    def _with_cookie(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                cookie = f"{self._cookie_name}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        return sending


def _may_come_from_a_page(headers: Headers) -> bool:
    """Return whether a browser sent the request, and not because a person typed the address."""
    return "origin" in headers or "referer" in headers or any(site != "none" for site in headers.getlist("sec-fetch-site"))


def _is_opened(headers: Headers) -> bool:
    """Return whether a person opens a page: typed its address, chose a bookmark, or reloads what they opened so."""
    return (
        headers.get("sec-fetch-site") == "none"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _name_of(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _refused(status: int, why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)
