"""The rows below the last event: texts that are still growing, and what is waited for."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex

from inspector_app.presentation.values import visible
from inspector_app.stream.event_table_model import EventTable
from inspector_app.stream.stream_row import StreamingText, StreamRow
from runtime.events import Event


class StreamingRows(EventTable):
    """One growing row for each author and branch that streams, and one row that says what is waited for."""

    def show_partial(self, event: Event) -> None:
        """Let the author's growing row grow, or begin one at the end."""
        key = stream_key(event)
        growing = self._growing.get(key)
        if growing is not None:
            growing.add(event)
            row = self._places.rows + list(self._growing).index(key)
            self._changed(row, row)
            return
        row = self._places.rows + len(self._growing)
        self._colours.role(event.author)
        self.beginInsertRows(QModelIndex(), row, row)
        growing = self._growing[key] = StreamingText()
        growing.add(event)
        self.endInsertRows()

    def clear_partials(self) -> None:
        """Take the growing rows away, because their run ended before their text did."""
        for key in list(self._growing):
            self._drop_growing(key)

    def _drop_growing(self, key: tuple[str, str, str | None]) -> None:
        if key in self._growing:
            row = self._places.rows + list(self._growing).index(key)
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._growing[key]
            self.endRemoveRows()

    def set_waiting(self, text: str | None, author: str = "") -> None:
        """Say in a last row what is being waited for.

        Args:
            text: one line, such as `waiting: held before pay`; None takes the row away.
            author: the agent that waits.
        """
        row = self._places.rows + len(self._growing)
        if text is None:
            if self._waiting is not None:
                self.beginRemoveRows(QModelIndex(), row, row)
                self._waiting = None
                self.endRemoveRows()
            return
        role = self._colours.role(author) if author else "dim"
        shown = StreamRow(
            "waiting", visible(text), author=visible(author), icon="ellipsis", role="warn", author_role=role, event_kind="waiting"
        )
        if self._waiting is not None:
            self._waiting = shown
            self._changed(row, row)
            return
        self.beginInsertRows(QModelIndex(), row, row)
        self._waiting = shown
        self.endInsertRows()


def stream_key(event: Event) -> tuple[str, str, str | None]:
    """Return whose text a partial event belongs to: of this invocation, author and branch."""
    return event.invocation_id, event.author, event.branch
