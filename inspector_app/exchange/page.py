"""Sessions as one HTML page: no scripts, nothing loaded from elsewhere, and the sessions' data at its end for an import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt

from inspector_app.exchange.event_page import Block, EventPage, event_page, json_block
from inspector_app.exchange.exported_session import ExportedSession, header
from inspector_app.exchange.inert_data import PAGE_BEGIN, PAGE_END, enclosed, inert
from inspector_app.presentation.values import counted, local_time, visible

# Even a mistake in the escaping could neither run nor load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_OPEN_BODY = 4_000  # characters; a longer body is folded
_MOST_MARKDOWN = 16_000  # characters, as in the window: hostile Markdown takes time quadratic in its length
# Links and pictures stay text, so that it is seen where they lead.
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable(["link", "image", "autolink", "reference"])
_SUMMARY = 80  # characters of a folded text that are shown


def page(sessions: Iterable[ExportedSession], title: str) -> Iterator[str]:
    """Yield sessions as an HTML page.

    Args:
        sessions: the sessions.
        title: the page's title.
    """
    style = files("inspector_app.exchange").joinpath("page_style.css").read_text("utf-8")
    yield (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{_shown(title)}</title>\n<style>{style}</style></head><body><main>\n'
    )
    data: list[str] = []
    for session in sessions:
        yield from _session(session, data)
    yield "</main>\n"
    yield from enclosed(PAGE_BEGIN, data, PAGE_END)
    yield "</body></html>\n"


def _session(session: ExportedSession, data: list[str]) -> Iterator[str]:
    key = session.key
    names = f"Session <bdi>{_shown(key.session_id)}</bdi>, app <bdi>{_shown(key.app_name)}</bdi>, user <bdi>{_shown(key.user_id)}</bdi>"
    times = f"created {local_time(session.created)}, last update {local_time(session.updated)}"
    yield f'<section><h1>{_shown(session.title)}</h1>\n<p class="about">{names}, {times}</p>\n'
    data.append(inert({"session": header(session)}))
    if session.state:
        keys = counted(len(session.state), "key")
        yield f'<details class="state"><summary>State, {keys}</summary><pre>{escape(json_block(session.state))}</pre></details>\n'
    for number, event in enumerate(session.events, 1):
        data.append(inert(event))
        yield _event(event_page(number, event))
    yield "</section>\n"


def _event(found: EventPage) -> str:
    more = [found.time, *([f"{found.tokens:,} tokens"] if found.tokens else []), *([found.branch] if found.branch else []), found.id]
    return (
        f'<article id="e{found.number}"><header><span class="number">{found.number}</span>'
        f'<span class="author">{escape(found.author)}</span>'
        f'<span class="kind">{found.kind}</span><span class="more">{escape(" · ".join(more))}</span></header>'
        f"{''.join(map(_block, found.blocks))}</article>\n"
    )


def _block(block: Block) -> str:
    title = escape(block.title)
    if block.kind == "picture":
        return f'<div class="block"><img alt="{title}" src="{escape(block.body)}"></div>'
    body = ""
    if block.kind in ("text", "thought", "note") and len(block.body) <= _MOST_MARKDOWN:
        body = f'<div class="prose">{_MARKDOWN.render(block.body)}</div>' if block.body else ""
    elif block.body:
        body = f"<pre>{escape(block.body)}</pre>"
    if block.kind == "state" or len(block.body) > _OPEN_BODY:
        summary = title or escape(f"{block.body[:_SUMMARY].strip()}… ({len(block.body):,} characters)")
        return f'<details class="block {block.kind}"><summary>{summary}</summary>{body}</details>'
    return f'<div class="block {block.kind}">{f"<b>{title}</b>" if title else ""}{body}</div>'


def _shown(text: str) -> str:
    return escape(visible(text))
