"""Notes: a person's comment on an event, or a bookmark, kept beside the events and never in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from runtime.errors.known_error import KnownError

MOST_CHARACTERS = 10_000  # of a note's text
NAME = ""  # in place of an event's id: the note is the name that the user gave to the session
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in range(32) if code not in (9, 10)} | {127: "\N{REPLACEMENT CHARACTER}"}


class NoteError(KnownError, ValueError):
    """A text that cannot be a note; the message says why."""


class Note(NamedTuple):
    """What a person noted at an event. A note without text and bookmark means that there is none.

    Attributes:
        text: plain text, which nothing interprets; empty for a bookmark alone.
        is_bookmark: whether the event is bookmarked.
        at: when it was changed last, epoch seconds.
    """

    text: str = ""
    is_bookmark: bool = False
    at: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a text nor a bookmark."""
        return not (self.text or self.is_bookmark)

    def as_json(self) -> dict[str, Any]:
        """Return the note as JSON data, see `note_in`."""
        return {"text": self.text, "bookmark": self.is_bookmark, "at": self.at}


def checked_text(text: str) -> str:
    """Return a text as it is stored: line ends are `\\n`, control characters are replaced, and space around it is removed.

    Raises:
        NoteError: it is too long.
    """
    kept = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS).strip()
    kept = kept.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be stored
    if len(kept) > MOST_CHARACTERS:
        raise NoteError(f"A note has at most {MOST_CHARACTERS:,} characters; this one has {len(kept):,}. Shorten it.")
    return kept


def note_in(data: Any) -> Note:
    """Return the note that JSON data describes, as `Note.as_json` wrote it.

    Args:
        data: from a file, so it may be anything; what is no note is an empty one.

    Raises:
        NoteError: its text is too long.
    """
    if not isinstance(data, Mapping):
        return Note()
    text, at = data.get("text"), data.get("at")
    when = float(at) if isinstance(at, (int, float)) and not isinstance(at, bool) and 0 <= at < 1e11 else 0.0
    return Note(checked_text(text) if isinstance(text, str) else "", data.get("bookmark") is True, when)


def merged(one: Mapping[str, Note], other: Mapping[str, Note]) -> dict[str, Note]:
    """Return notes from two places by event id: of two notes on an event the later one. Empty ones are left out."""
    both = dict(one)
    for event_id, note in other.items():
        if event_id not in both or note.at >= both[event_id].at:
            both[event_id] = note
    return {event_id: note for event_id, note in both.items() if not note.is_empty}
