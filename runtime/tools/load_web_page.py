"""A tool that reads web pages."""

from __future__ import annotations

import ipaddress
import socket
from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx

MAX_BYTES = 10 * 2**20  # of a page; a longer one is cut
_TIMEOUT = 30.0  # seconds to connect, and between two pieces of the page
_SHORTEST_LINE = 4  # words; shorter ones are menus and buttons
_WITHOUT_TEXT = frozenset({"script", "style", "template"})


def load_web_page(url: str) -> str:
    """Read a web page.

    Args:
        url: The page's address, with http or https.

    Returns:
        The text of the page, without its short lines.
    """
    # The docstring is the tool's description: the model reads it.
    try:
        content = _read(url)
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        return f"Failed to fetch url: {url}"
    reader = _Text()
    reader.feed(content)
    reader.close()
    lines = (line.strip() for text in reader.texts for line in text.splitlines())
    return "\n".join(line for line in lines if len(line.split()) >= _SHORTEST_LINE)


def _read(url: str) -> str:
    """Return a page's HTML.

    Raises:
        ValueError: the address is not public, or the server does not answer with a page.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _is_public(parts.hostname):
        raise ValueError(url)
    content = bytearray()
    # Redirects are not followed: the address that they lead to was not checked.
    with httpx.stream("GET", url, follow_redirects=False, timeout=_TIMEOUT) as response:
        if response.status_code != httpx.codes.OK:
            raise ValueError(response.status_code)
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MAX_BYTES:
                break
        return bytes(content[:MAX_BYTES]).decode(response.encoding or "utf-8", "replace")


def _is_public(host: str) -> bool:
    """Return whether all addresses of a host are on the internet: a model must not read pages of this machine or its network."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return bool(found) and all(ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_global for one in found)


class _Text(HTMLParser):
    """Collects the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in _WITHOUT_TEXT

    def handle_endtag(self, tag: str) -> None:
        self._inside = max(0, self._inside - (tag in _WITHOUT_TEXT))

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.texts.append(data)
