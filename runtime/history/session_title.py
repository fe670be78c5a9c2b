"""The name by which a session is called wherever sessions are listed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime.sessions.session_key import SessionKey
from runtime.support.lazy import lazy_module
from runtime.support.visible_text import has_visible, visible

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event
    from runtime.history import rewound
else:
    rewound = lazy_module("runtime.history.rewound")  # few sessions have rewinds, and it loads google-genai

MOST = 80  # characters of a title
_LOOKED_AT = 2 * MOST  # characters of a text that are enough for most titles
METADATA = "__session_metadata__"  # the key of a session's state in which adk web keeps the title that a person gave


def session_title(
    key: SessionKey,
    created: float,
    *,
    name: str = "",
    state: Mapping[str, Any] | None = None,
    message: str = "",
    fork_at: int | None = None,
) -> str:
    """Return a session's title: one line of at most `MOST` characters, without invisible ones.

    It is the first of these that there is: the name that the user gave; adk web's title; its message; the app and when it was created.

    Args:
        key: the session.
        created: epoch seconds.
        name: the name that the user gave; empty if none.
        state: its state.
        message: what `message_of` returns for its events.
        fork_at: for a fork, the number of events that it was made with; None for other sessions.
    """
    if name and (own := one_line(name)):
        return own
    suffix = "" if fork_at is None else f" (fork at {fork_at:,})" if fork_at else " (fork at the start)"
    title = (state and _adk_web_title(state)) or message or _nameless(key, created)
    return f"{one_line(title, MOST - len(suffix))}{suffix}" if suffix else title


def message_of(events: Sequence[Event]) -> str:
    """Return the message by which a session is called, empty if it has none. A rewound one counts until there is another one.

    Args:
        events: the session's events in commit order.
    """
    if not any(event.actions.rewind_before_invocation_id for event in events):
        return first_message(events)
    return first_message(rewound.without_rewound(events)) or first_message(events)


def first_message(events: Iterable[Event]) -> str:
    """Return the first visible text of a user's event, else the first file's name, call or answer of one; empty if there is none.

    Args:
        events: events in commit order. They are read until the first text.
    """
    stand_in = ""
    for event in events:
        if text := text_of_user(event):
            return text
        if not stand_in and event.author == "user" and event.content is not None:
            stand_in = next(filter(None, (one_line(_name_of(part)) for part in event.content.parts or ())), "")
    return stand_in


def text_of_user(event: Event) -> str:
    """Return the first visible text of an event as a title, empty if it has none or is not a user's. Thoughts do not count."""
    if event.author != "user" or event.content is None:
        return ""
    texts = (part.text for part in event.content.parts or () if part.text and not part.thought)
    return next(filter(None, map(one_line, texts)), "")


def one_line(text: str, most: int = MOST) -> str:
    """Return a text on one line, without invisible characters, cut to a number of characters; empty if nothing of it is visible."""
    shown = _folded(text)
    if not (shown.isascii() and shown.isprintable()):
        shown = visible(shown) if has_visible(shown) else ""
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + "…"


def _folded(text: str) -> str:
    """Return the beginning of a text with its white space folded. A text may have megabytes."""
    folded = " ".join(text[:_LOOKED_AT].split())
    if len(folded) <= MOST and len(text) > _LOOKED_AT:
        folded = " ".join(text.split(None, MOST)[:MOST])
    return folded[: MOST + 1]


def _name_of(part: types.Part) -> str:
    data, file, call, answer = part.inline_data, part.file_data, part.function_call, part.function_response
    if data is not None:
        return data.display_name or data.mime_type or ""
    if file is not None:
        return file.display_name or (file.file_uri or "").rstrip("/").rpartition("/")[2] or file.mime_type or ""
    return (call.name if call is not None else answer.name if answer is not None else "") or ""


def _adk_web_title(state: Mapping[str, Any]) -> str:
    metadata = state.get(METADATA)
    title = metadata.get("displayName") if isinstance(metadata, Mapping) else None
    return one_line(title) if isinstance(title, str) else ""


def _nameless(key: SessionKey, created: float) -> str:
    app = one_line(key.app_name) or "session"
    try:
        return f"{one_line(app, MOST - 18)}, {time.strftime('%Y-%m-%d %H:%M', time.localtime(created))}"
    except (ValueError, OverflowError, OSError):
        return app
