"""The rows below the last event: streaming texts, and what the run waits for. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.values import visible
from inspector_app.stream.stream_row import StreamRow
from inspector_app.stream.streaming_text import StreamingText

if TYPE_CHECKING:
    from runtime.events import Event

StreamKey = tuple[str, str, str | None]


class StreamingRows:
    """One row for each author and branch that streams text, and a last row for what the run waits for.

    Attributes:
        waiting: the last row; None if there is none.
    """

    def __init__(self) -> None:
        self._texts: dict[StreamKey, StreamingText] = {}
        self._ends: dict[StreamKey, float] = {}  # when what was streamed was last committed
        self.waiting: StreamRow | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._texts) + (self.waiting is not None)

    @property
    def text_count(self) -> int:
        """Number of streaming texts."""
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
        """Return the text in a row as one partial event, None for the waiting row."""
        return list(self._texts.values())[number].event() if 0 <= number < len(self._texts) else None

    def row_at(self, number: int, colours: AuthorColours) -> StreamRow:
        """Return a row ready to paint."""
        for position, ((_, author, _), text) in enumerate(self._texts.items()):
            if position == number:
                return text.row(colours.role(author), colours.sign(author))
        assert self.waiting is not None
        return self.waiting


def stream_key(event: Event) -> StreamKey:
    """Return the invocation, author and branch that a partial event's text belongs to."""
    return event.invocation_id, event.author, event.branch


def waiting_row(text: str, author: str, author_role: str) -> StreamRow:
    """Return the row that says what the run waits for.

    Args:
        text: one line, such as `waiting: held before pay`.
        author: the agent that waits.
        author_role: the agent's colour role.
    """
    return StreamRow(
        "waiting", visible(text), author=visible(author), icon="ellipsis", role="warn", author_role=author_role, event_kind="waiting"
    )
