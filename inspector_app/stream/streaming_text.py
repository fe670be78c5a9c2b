"""The text of a streamed answer so far. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector_app.presentation.values import clock, visible
from inspector_app.stream.stream_row import StreamRow
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events import Event
else:
    types = lazy_module("google.genai.types")

_SHOWN_CHARACTERS = 160  # of a long text, its end
_PIECES_JOINED = 1024  # each small string takes several times the memory of its characters


class StreamingText:
    """The text of a streamed answer so far, joined from its partial events.

    Partial events are increments. One that begins with the whole text so far replaces it.
    """

    def __init__(self) -> None:
        self._said = _Pieces()
        self._thought = _Pieces()
        self._latest: Event | None = None

    def add(self, event: Event) -> None:
        """Add the next partial event."""
        self._latest = event
        for part in (event.content.parts if event.content else None) or []:
            if part.text:
                (self._thought if part.thought else self._said).hold(part.text)
        self._said.flush()
        self._thought.flush()

    def event(self) -> Event:
        """Return one partial event with the whole text so far."""
        assert self._latest is not None
        parts = [types.Part(text=self._thought.text(), thought=True)] if self._thought.length else []
        if self._said.length:
            parts.append(types.Part(text=self._said.text()))
        return self._latest.model_copy(update={"content": types.Content(role="model", parts=parts)})

    def row(self, author_role: str, author_sign: int = 0) -> StreamRow:
        """Return the text's row, which shows the end of a long text.

        Args:
            author_role, author_sign: see `event_row`.
        """
        assert self._latest is not None
        text = self._said if self._said.length else self._thought
        shown = visible(("…" if text.length > _SHOWN_CHARACTERS else "") + text.end(_SHOWN_CHARACTERS))
        return StreamRow(
            "streaming",
            shown or "…",
            time=clock(self._latest.timestamp),
            author=visible(self._latest.author[:80]),
            icon="comment-dots" if self._said.length else "lightbulb",
            role="text" if self._said.length else "dim",
            author_role=author_role,
            author_sign=author_sign,
            event_kind="streaming",
        )


class _Pieces:
    """A text that grows at its end. It is joined only when read, so that adding a piece costs the same for any length."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._joined = 0
        self._held = ""
        self.length = 0

    def hold(self, piece: str) -> None:
        """Hold back a part of the next piece."""
        self._held += piece

    def flush(self) -> None:
        """Add the held piece; if it begins with the whole text so far, replace the text."""
        piece, self._held = self._held, ""
        if not piece:
            return
        if len(piece) >= self.length > 0 and piece.startswith(self.text()):
            self._pieces, self._joined, self.length = [], 0, 0
        self._pieces.append(piece)
        self.length += len(piece)
        if len(self._pieces) - self._joined >= _PIECES_JOINED:
            self._pieces[self._joined :] = ["".join(self._pieces[self._joined :])]
            self._joined += 1

    def text(self) -> str:
        """Return the whole text."""
        return "".join(self._pieces)

    def end(self, count: int) -> str:
        """Return the last characters."""
        last: list[str] = []
        for piece in reversed(self._pieces):
            last.append(piece[-count:])
            count -= len(piece)
            if count <= 0:
                break
        return "".join(reversed(last))
