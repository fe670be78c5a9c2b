"""What a person reads of an event in an exported page: data for the Markdown and the HTML form."""

from __future__ import annotations

import base64
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.event_details import details, texts
from inspector_app.presentation.event_summary import describe, result_title
from inspector_app.presentation.values import local_time, visible, visible_lines
from runtime.events.kinds import kind_of
from runtime.events.marks import NOTE
from runtime.events.plain_event import plain_event
from runtime.sessions.note import note_in

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_TEXT = 200_000  # characters of one value in a page; the data at the page's end has all of it
_PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]+\Z")


@dataclass(slots=True)
class Block:
    """A titled piece of an event, such as a call with its arguments.

    Attributes:
        kind: `note`, `text`, `thought`, `call`, `result`, `code`, `state`, `detail`, `files`, `error` or `picture`.
        title: one line; empty for a text.
        body: text, JSON with line breaks, or a picture's `data:` address.
    """

    kind: str
    title: str
    body: str


@dataclass(slots=True)
class EventPage:
    """An event as a person reads it.

    Attributes:
        number: its place in the session, from 1.
        id, author, branch, kind: the event's.
        time: local date and time.
        tokens: as reported by the model; 0 if it reported none.
        blocks: its pieces in order.
    """

    number: int
    id: str
    author: str
    branch: str
    kind: str
    time: str
    tokens: int
    blocks: list[Block] = field(default_factory=list)


def event_page(number: int, data: dict[str, Any]) -> EventPage:
    """Return an event's page.

    Args:
        number: its place in the session, from 1.
        data: google-adk's event JSON.
    """
    event: Any = plain_event({**data}) or _event(data)
    usage = data.get("usage_metadata")
    tokens = usage.get("total_token_count") if isinstance(usage, dict) else 0
    return EventPage(
        number,
        visible(event.id),
        visible(event.author),
        visible(event.branch or ""),
        kind_of(event),
        local_time(event.timestamp),
        tokens if isinstance(tokens, int) else 0,
        [*_blocks(data, event)] or [Block("text", describe(event).summary, "")],  # no event is an empty card
    )


def _event(data: dict[str, Any]) -> Any:
    # An event that is no plain one needs google-genai, which takes longer to load than a page takes to make.
    return importlib.import_module("runtime.events.event").Event.model_validate(data)


def json_block(value: Any) -> str:
    """Return JSON data with line breaks, each control character written out."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return visible_lines(text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} more characters")


def _blocks(data: dict[str, Any], event: Event) -> Iterator[Block]:
    note = note_in((data.get("custom_metadata") or {}).get(NOTE))
    if not note.is_empty:
        yield Block("note", "Bookmark" if not note.text else "Note, bookmarked" if note.is_bookmark else "Note", _text(note.text))
    if data.get("error_code") or data.get("error_message"):
        yield Block("error", "Error", _text(": ".join(str(data[name]) for name in ("error_code", "error_message") if data.get(name))))
    responses = iter(event.get_function_responses())
    for part in (data.get("content") or {}).get("parts") or ():
        if response := part.get("function_response"):
            title, failed = result_title(event, next(responses))
            yield Block("error" if failed else "result", visible(title), json_block(response.get("response")))
        else:
            yield from _part(part)
    for title, text in texts(event).items():
        yield Block("text", title, _text(text))
    actions = data.get("actions") or {}
    if actions.get("state_delta"):
        yield Block("state", f"State, {len(actions['state_delta'])} changed", json_block(actions["state_delta"]))
    for title, value, _ in details(event):
        yield Block("detail", title.capitalize(), _text(value) if isinstance(value, str) else json_block(value))


def _part(part: dict[str, Any]) -> Iterator[Block]:
    if part.get("text"):
        yield Block("thought" if part.get("thought") else "text", "Thought" if part.get("thought") else "", _text(part["text"]))
    if call := part.get("function_call"):
        yield Block("call", f"Call {visible(str(call.get('name')))}", json_block(call.get("args") or {}))
    if code := part.get("executable_code"):
        yield Block("code", "Code", _text(code.get("code") or ""))
    if outcome := part.get("code_execution_result"):
        kind = "result" if outcome.get("outcome") == "OUTCOME_OK" else "error"
        yield Block(kind, f"Result of the code, {visible(str(outcome.get('outcome')))}", _text(outcome.get("output") or ""))
    if blob := part.get("inline_data"):
        yield _file(blob)
    if file := part.get("file_data"):
        yield Block("files", "File", _text(str(file.get("file_uri"))))


def _file(blob: dict[str, Any]) -> Block:
    kind, data = str(blob.get("mime_type")), str(blob.get("data") or "")
    if kind in _PICTURES and _BASE64.match(data):
        usual = data.replace("-", "+").replace("_", "/")
        return Block("picture", kind, f"data:{kind};base64,{usual}")
    try:
        size = f"{len(base64.urlsafe_b64decode(data)):,} bytes"
    except ValueError:
        size = "not readable"
    return Block("files", "File", f"{visible(kind)}, {size}")


def _text(text: str) -> str:
    cut = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} more characters"
    return visible_lines(cut)
