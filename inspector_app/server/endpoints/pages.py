"""Pages for a browser: the description of the endpoints, and google-adk's own page where one is installed."""

from __future__ import annotations

import html
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PAGE = "/dev-ui"
# No page of another site may frame these.
_POLICY = "frame-ancestors 'none'"
_DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "code{font-size:14px}td{padding:.2em 1em .2em 0;vertical-align:top}"
)


class Page(StaticFiles):
    """google-adk's page, which no other site can frame."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file. The page names a style sheet that its package lacks; an empty one is the same to a browser."""
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code == 404 and path.endswith(".css"):
                return Response("", media_type="text/css")
            raise

    def file_response(self, *args: Any, **more: Any) -> Response:
        """Return a file."""
        response = super().file_response(*args, **more)
        response.headers["Content-Security-Policy"] = _POLICY
        return response


class Pages:
    """Pages.

    Args:
        app: the application whose endpoints are described.
        describe: returns the application's OpenAPI document.
        folder: google-adk's page; None if there is none.
    """

    def __init__(self, app: FastAPI, describe: Callable[[FastAPI], dict[str, Any]], folder: Path | None) -> None:
        self._app = app
        self._describe = describe
        self._folder = folder

    def add_to(self, router: APIRouter) -> None:
        """Add the routes; call `mount` after all other routes are there."""
        add = router.add_api_route
        add("/docs", self.docs, methods=["GET"], include_in_schema=False)
        add("/openapi.json", self.openapi, methods=["GET"], include_in_schema=False)
        if self._folder is not None:
            add(PAGE + "/assets/config/runtime-config.json", self.page_config, methods=["GET"], response_model=None)
            add(PAGE + "/config", self.logo, methods=["GET"], response_model=None)
            add("/", self.to_page, methods=["GET"], response_model=None, include_in_schema=False)
            add(PAGE, self.to_page, methods=["GET"], response_model=None, include_in_schema=False)

    def mount(self) -> None:
        """Serve the files of google-adk's page."""
        if self._folder is not None:
            # Some systems register .js as text/plain, which a browser does not run as a module.
            mimetypes.add_type("text/javascript", ".js", True)
            self._app.mount(PAGE + "/", Page(directory=self._folder, html=True), name="page")

    async def openapi(self) -> Response:
        """Return the description of the endpoints."""
        return JSONResponse(self._describe(self._app))

    async def docs(self) -> HTMLResponse:
        """List the endpoints. FastAPI's own page loads its scripts from another site, so it is not used."""
        rows = [
            f"<tr><td><code>{method.upper()}</code></td><td><code>{html.escape(path)}</code></td>"
            f"<td>{html.escape(operation.get('description') or operation.get('summary') or '')}</td></tr>"
            for path, operations in self._describe(self._app)["paths"].items()
            for method, operation in operations.items()
        ]
        title = html.escape(self._app.title)
        page = (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style></head>"
            f"<body><h1>{title}</h1>"
            "<p>The whole description, with the bodies of all requests, is in <a href=openapi.json>openapi.json</a>.</p>"
            f"<table>{''.join(rows)}</table></body></html>"
        )
        return HTMLResponse(page, headers={"Content-Security-Policy": _DOCS_POLICY})

    async def page_config(self) -> Response:
        """Tell google-adk's page where its server is: here."""
        return JSONResponse({"backendUrl": "", "telemetry": False}, headers={"Cache-Control": "no-store"})

    async def logo(self) -> Response:
        """Tell google-adk's page to show its own logo."""
        return JSONResponse({"logo_text": None, "logo_image_url": None})

    async def to_page(self) -> Response:
        """Redirect to google-adk's page."""
        return RedirectResponse(PAGE + "/")
