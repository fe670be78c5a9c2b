"""The rows of streaming texts below the last event. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.stream.stream_row import StreamRow
from inspector_app.stream.streaming_text import StreamingText

if TYPE_CHECKING:
    from runtime.events import Event

StreamKey = tuple[str, str, str | None]


class StreamingRows:
    """One row for each author and branch that streams text."""

    def __init__(self) -> None:
        self._texts: dict[StreamKey, StreamingText] = {}
        self._ends: dict[StreamKey, float] = {}  # when what was streamed was last committed

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._texts)

    @property
    def keys(self) -> list[StreamKey]:
        """The keys of the streaming texts in row order."""
        return list(self._texts)

    def number_of(self, key: StreamKey) -> int | None:
        """Return the number of a text's row, None if that author streams nothing on that branch."""
        return list(self._texts).index(key) if key in self._texts else None

    def end(self, event: Event) -> None:
        """Note that a text was committed. Its pieces may arrive later, since they come by another way."""
        self._ends[stream_key(event)] = event.timestamp

    def is_late(self, event: Event) -> bool:
        """Return whether a partial event belongs to a text that was committed before it arrived."""
        return event.timestamp < self._ends.get(stream_key(event), 0)

    def add(self, event: Event) -> None:
        """Add a partial event to its text, or begin a text with it."""
        self._texts.setdefault(stream_key(event), StreamingText()).add(event)

    def remove(self, key: StreamKey) -> None:
        """Remove a text's row."""
        del self._texts[key]

    def event_at(self, number: int) -> Event | None:
        """Return the text in a row as one partial event, None for another row."""
        return list(self._texts.values())[number].event() if 0 <= number < len(self._texts) else None

    def row_at(self, number: int, colours: AuthorColours) -> StreamRow:
        """Return a row ready to paint."""
        (_, author, _), text = list(self._texts.items())[number]
        return text.row(colours.role(author), colours.sign(author))


def stream_key(event: Event) -> StreamKey:
    """Return the invocation, author and branch that a partial event's text belongs to."""
    return event.invocation_id, event.author, event.branch
