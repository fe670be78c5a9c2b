"""Sessions as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from inspector_app.exchange.event_page import Block, EventPage, event_page, json_block
from inspector_app.exchange.exported_session import ExportedSession, header
from inspector_app.exchange.inert_data import MARKDOWN_BEGIN, MARKDOWN_END, enclosed, inert
from inspector_app.presentation.values import local_time, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_FENCES = re.compile(r"`{3,}")


def markdown(sessions: Iterable[ExportedSession]) -> Iterator[str]:
    """Yield sessions as Markdown. What people, models and tools wrote is in code blocks: it is data and stays as it is.

    A comment at the end has the sessions' data for an import.
    """
    data: list[str] = []
    for session in sessions:
        data.append(inert({"session": header(session)}))
        key = session.key
        yield f"# {escaped(session.title)}\n\n"
        names = f"Session {escaped(key.session_id)}, app {escaped(key.app_name)}, user {escaped(key.user_id)}"
        yield f"{names}, created {local_time(session.created)}.\n\n"
        if session.state:
            yield f"## State\n\n{_fenced(json_block(session.state), 'json')}\n"
        yield "## Events\n\n"
        for number, event in enumerate(session.events, 1):
            data.append(inert(event))
            yield from _event(event_page(number, event))
    yield from enclosed(MARKDOWN_BEGIN, data, MARKDOWN_END)


def escaped(text: str) -> str:
    """Return a name as Markdown text that displays as it is."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _event(page: EventPage) -> Iterator[str]:
    branch = f" · branch {escaped(page.branch)}" if page.branch else ""
    tokens = f" · {page.tokens:,} tokens" if page.tokens else ""
    yield f"### {page.number} · {escaped(page.author)} · {page.kind}\n\n{page.time} · `{page.id.replace('`', '')}`{branch}{tokens}\n\n"
    for block in page.blocks:
        yield _block(block)


def _block(block: Block) -> str:
    title = f"**{escaped(block.title)}**\n\n" if block.title else ""
    if block.kind == "picture":
        return f"![{block.title}]({block.body})\n\n"
    if not block.body:
        return title
    return f"{title}{_fenced(block.body, 'json' if block.kind in ('call', 'result', 'state', 'files') else 'text')}\n"


def _fenced(text: str, language: str) -> str:
    """Return a code block whose fence is longer than any in the text."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"
