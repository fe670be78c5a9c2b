"""Reading of web pages, from a local server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from runtime.tools.load_web_page import load_web_page

PAGE = (
    "<html><head><style>a b c d e {}</style><title>Too short</title></head><body><p>Tea is a drink <b>made from leaves</b> of a plant."
    "</p><script>var a = 'not a text at all'</script><p>Menu</p>It has caffeine &amp; tannin in it.</body></html>"
)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/moved" else 404 if self.path == "/none" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_text_of_a_page_is_read(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load_web_page.__globals__, "_is_public", lambda host: True)
    assert load_web_page(site + "/") == "Tea is a drink\nIt has caffeine & tannin in it."
    for path in ("/none", "/moved"):
        assert load_web_page(site + path) == f"Failed to fetch url: {site}{path}"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://", "http://[", "http://localhost/", "http://169.254.169.254/x", "http://10.0.0.1/"]
)
def test_only_pages_of_the_internet_are_read(url: str) -> None:
    assert load_web_page(url) == f"Failed to fetch url: {url}"


def test_pages_of_this_machine_are_not_read(site: str) -> None:
    assert load_web_page(site) == f"Failed to fetch url: {site}"
