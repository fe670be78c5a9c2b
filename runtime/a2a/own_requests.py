"""Programs may send requests to a served agent; web pages may not."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})  # not a host, but all of this machine's


class OwnRequests:
    """Rejects requests that a web page could have sent.

    The user's browser reaches a server on this machine, and so does every page open in it. A page cannot choose its `Host` (a name rebound
    to 127.0.0.1 shows up there) nor hide its `Origin` or `Sec-Fetch-Site`; programs send neither.

    Args:
        app: the guarded application.
        hosts: names under which the server is reached beside this machine's own.
    """

    def __init__(self, app: ASGIApp, *, hosts: AbstractSet[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or reject it."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else ""
        if refusal:
            await JSONResponse({"error": refusal}, 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> str:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_known(_name_of(hosts[0])):
            return "The request's Host header names another host. Give to_a2a() the host under which it is reached."
        if "origin" in headers or "referer" in headers or any(site != "none" for site in headers.getlist("sec-fetch-site")):
            return "A web page may not ask this agent."
        return ""

    def _is_known(self, name: str) -> bool:
        return name in _LOOPBACK_NAMES or name in self._hosts or not _ANY.isdisjoint(self._hosts)


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port."""
    name, bracket, _ = host.removeprefix("[").partition("]")
    return (name if bracket else host.partition(":")[0]).lower()
