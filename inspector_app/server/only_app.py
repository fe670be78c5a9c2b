"""Paths without an app, for a server of a single agent."""

from __future__ import annotations

import re
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

_WITHOUT_APP = re.compile(r"/(users/|app-info$)")


class OnlyApp:
    """Adds the only agent's name to paths that begin with `/users/`, as google-adk does.

    Args:
        app: the application.
        name: the agent's name; None if there are several, and the paths stay as they are.
    """

    def __init__(self, app: ASGIApp, *, name: str | None) -> None:
        self._app = app
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request."""
        if self._name is not None and scope["type"] == "http" and _WITHOUT_APP.match(scope["path"]):
            path = f"/apps/{self._name}{scope['path']}"
            changed: dict[str, Any] = {**scope, "path": path, "raw_path": path.encode()}
            scope = changed
        await self._app(scope, receive, send)
