"""Access to every route of the server: what browsers may not send is refused everywhere."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.end2end.api_server import ApiServer, api_server

AGENT = """
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

root_agent = LlmAgent(name="a", model=ScriptedLlm(replies=["x"]))
"""
ALLOWED = "http://localhost:4200"
Headers = list[tuple[str, str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "a").mkdir()
    (folder / "a" / "agent.py").write_text(AGENT)
    page = tmp_path_factory.mktemp("page")
    (page / "index.html").write_text("<title>page</title>")
    with api_server(folder, "--web", str(page), "--allow_origins", ALLOWED) as server:
        yield server


@pytest.fixture(scope="module")
def routes(server: ApiServer) -> list[tuple[str, str]]:
    """Every method and path, with `a` for each name in a path."""
    paths = server.ask("GET", "/openapi.json").json["paths"]
    found = [(method.upper(), re.sub(r"{\w+}", "a", path)) for path, methods in paths.items() for method in methods]
    return [
        *found,
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("GET", "/"),
        ("GET", "/dev-ui/"),
        ("GET", "/dev-ui/index.html"),
        ("GET", "/nothing"),
    ]


def send(server: ApiServer, method: str, path: str, headers: Headers) -> tuple[int, dict[str, str]]:
    """Send a request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    body = b"" if method == "GET" else b"[]"
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    with suppress(ConnectionResetError):  # a refusal does not read the request's body, and its own may be lost with it
        response.read()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}


def refused_requests(server: ApiServer) -> dict[str, tuple[Headers, int]]:
    """Return 40 kinds of request that a page of another site could send, with the status that each must get."""
    host = ("Host", f"127.0.0.1:{server.port}")
    own = f"http://127.0.0.1:{server.port}"
    name = f"agent_inspector_{server.port}"
    cookie = ("Cookie", f"{name}={cookie_of(server)}")
    token = ("Authorization", f"Bearer {server.token}")
    same = ("Sec-Fetch-Site", "same-origin")
    kinds: dict[str, tuple[Headers, int]] = {}
    for number, wrong in enumerate(
        (
            "evil.example",
            f"evil.example:{server.port}",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "0.0.0.0",
            "[::2]",
            "localhost.evil",
            "[bad",
            "",
        )
    ):
        kinds[f"host {number}"] = ([("Host", wrong), token, cookie], 403)
    kinds["no host"] = ([], 400)
    kinds["two hosts"] = ([host, ("Host", "evil.example"), token], 400)
    for number, origin in enumerate(
        (
            "http://evil.example",
            "null",
            "",
            "http://localhost:4201",
            "https://localhost:4200",
            f"https://127.0.0.1:{server.port}",
            "http://127.0.0.1",
            f"{own}.evil",
            f"{own}/",
            own.upper(),
            f"{own}, {own}",
            f"{ALLOWED}, http://evil.example",
        )
    ):
        kinds[f"origin {number}"] = ([host, ("Origin", origin), token, cookie, same], 403)
    kinds["two origins"] = ([host, ("Origin", ALLOWED), ("Origin", "http://evil.example"), token], 403)
    for site in ("cross-site", "same-site", "same-origin", "nonsense"):
        kinds[f"site {site}"] = ([host, ("Sec-Fetch-Site", site)], 401)
    for site in ("cross-site", "same-site", "none-such"):
        kinds[f"site {site} with the cookie"] = ([host, cookie, ("Sec-Fetch-Site", site)], 401)
    kinds["referer"] = ([host, ("Referer", "http://evil.example/")], 401)
    kinds["own referer"] = ([host, ("Referer", f"{own}/")], 401)
    kinds["referer with the cookie and no site"] = ([host, cookie, ("Referer", f"{own}/")], 401)
    kinds["own origin without token"] = ([host, ("Origin", own)], 401)
    kinds["own origin with a cookie and no site"] = ([host, cookie, ("Origin", own)], 401)
    kinds["own origin of another name with the cookie"] = ([host, cookie, same, ("Origin", f"http://localhost:{server.port}")], 401)
    kinds["wrong token"] = ([host, same, ("Authorization", "Bearer wrong")], 401)
    kinds["token without Bearer"] = ([host, same, ("Authorization", server.token)], 401)
    kinds["wrong cookie"] = ([host, same, ("Cookie", f"{name}=wrong")], 401)
    kinds["cookie of another port"] = ([host, same, ("Cookie", f"agent_inspector_1={cookie_of(server)}")], 401)
    kinds["two sites"] = ([host, cookie, same, ("Sec-Fetch-Site", "cross-site")], 401)
    return kinds


def cookie_of(server: ApiServer) -> str:
    """Return the cookie that a person who opens the page is given."""
    host = ("Host", f"127.0.0.1:{server.port}")
    opened = [host, ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    _, headers = send(server, "GET", "/", opened)
    given = headers["set-cookie"]
    assert given.endswith("; Path=/; HttpOnly; SameSite=Strict")
    return given.partition("=")[2].partition(";")[0]


def test_no_route_answers_a_request_of_another_site(server: ApiServer, routes: list[tuple[str, str]]) -> None:
    kinds = refused_requests(server)
    assert len(kinds) >= 40
    assert len(routes) > 50
    wrong = [
        (kind, method, path, found)
        for kind, (headers, status) in kinds.items()
        for method, path in routes
        if (found := send(server, method, path, headers)[0]) != status
    ]
    assert wrong == []


def test_the_pages_own_requests_are_answered_on_every_route(server: ApiServer, routes: list[tuple[str, str]]) -> None:
    host = ("Host", f"127.0.0.1:{server.port}")
    cookie = ("Cookie", f"agent_inspector_{server.port}={cookie_of(server)}")
    token = ("Authorization", f"Bearer {server.token}")
    for allowed in (
        [host],
        [host, ("Sec-Fetch-Site", "none")],
        [host, cookie, ("Sec-Fetch-Site", "same-origin"), ("Referer", f"http://127.0.0.1:{server.port}/")],
        [host, cookie, ("Sec-Fetch-Site", "same-origin"), ("Origin", f"http://127.0.0.1:{server.port}")],
        [host, token, ("Sec-Fetch-Site", "cross-site")],
        [host, ("Origin", ALLOWED), ("Sec-Fetch-Site", "same-site")],
    ):
        assert [route for route in routes if send(server, *route, allowed)[0] in (401, 403)] == []


@pytest.mark.parametrize(
    "headers",
    [
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
        [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "document")],
        [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
        [],
    ],
)
def test_only_a_person_who_opens_the_page_is_given_the_cookie(server: ApiServer, headers: Headers) -> None:
    host = ("Host", f"127.0.0.1:{server.port}")
    assert "set-cookie" not in send(server, "GET", "/dev-ui/", [host, *headers])[1]


def test_only_named_origins_get_cors_headers(server: ApiServer) -> None:
    host = ("Host", f"127.0.0.1:{server.port}")
    preflight = [host, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")]
    status, headers = send(server, "OPTIONS", "/run_sse", [*preflight, ("Origin", ALLOWED)])
    assert (status, headers["access-control-allow-origin"]) == (200, ALLOWED)
    status, headers = send(server, "OPTIONS", "/run_sse", [*preflight, ("Origin", "http://evil.example")])
    assert (status, "access-control-allow-origin" in headers) == (403, False)


@pytest.mark.parametrize(
    ("origin", "says"),
    [("*", "every page"), ("regex:.*", "every page"), ("localhost", "is not an origin"), ("regex:(", "not a regular expression")],
)
def test_an_origin_that_cannot_be_allowed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], origin: str, says: str) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    assert main(["api_server", str(tmp_path), "--allow_origins", origin]) == 1
    assert says in capsys.readouterr().err


def test_the_pages_load_nothing_from_elsewhere_and_cannot_be_framed(server: ApiServer) -> None:
    docs = server.ask("GET", "/docs")
    assert "<code>/run_sse</code>" in docs.text
    assert re.findall(r"https?://", docs.text) == []
    assert "<script" not in docs.text
    for path in ("/docs", "/dev-ui/"):
        assert "frame-ancestors 'none'" in server.ask("GET", path).headers["content-security-policy"]
    assert json.dumps(server.ask("GET", "/openapi.json").json).count("#/components/schemas/RunBody") == 2
