"""The rows of the event stream as text."""

from __future__ import annotations

from inspector_app.stream.event_table_model import EventTableModel


def rows(model: EventTableModel) -> list[str]:
    """Return the kind and summary of each row."""
    return [f"{shown.kind}: {shown.summary}" for shown in map(model.stream_row, range(model.rowCount()))]
