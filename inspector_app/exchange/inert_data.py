"""The sessions' data inside a page or a Markdown file, in which no markup can begin, so that the file can be imported again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

PAGE_BEGIN, PAGE_END = '<script type="application/json" id="agent-inspector-sessions">', "</script>"
MARKDOWN_BEGIN, MARKDOWN_END = "<!-- agent-inspector-sessions", "-->"


def inert(value: object) -> str:
    """Return JSON data as one line in which no markup can begin or end."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def enclosed(begin: str, lines: Iterable[str], end: str) -> Iterator[str]:
    """Yield lines between two marks."""
    yield begin + "\n"
    for line in lines:
        yield line + "\n"
    yield end + "\n"


def lines_in(text: bytes) -> bytes | None:
    """Return the JSON lines that a page or a Markdown file has at its end; None if it has none."""
    for begin, end in ((PAGE_BEGIN, PAGE_END), (MARKDOWN_BEGIN, MARKDOWN_END)):
        start = text.rfind(begin.encode() + b"\n")
        if start >= 0:
            stop = text.find(b"\n" + end.encode(), start)
            return text[start + len(begin) : stop if stop >= 0 else len(text)]
    return None
