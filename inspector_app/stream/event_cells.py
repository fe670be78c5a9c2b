"""The cells of the event stream: columns, texts and tooltips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import Qt

from inspector_app.presentation.event_summary import RAN_AHEAD
from inspector_app.presentation.signs import SIGNS
from inspector_app.presentation.values import full_time, plain_tooltip, visible, visible_lines
from inspector_app.stream.stream_row import StreamRow

_LONGEST_NOTE = 600  # characters in a tooltip


class Column(IntEnum):
    """The columns of the stream."""

    GUTTER = 0
    NUMBER = 1
    TIME = 2
    AUTHOR = 3
    EVENT = 4
    DELTA = 5
    TOOK = 6
    TOKENS = 7


HEADINGS = ("", "#", "Time", "Author", "Event", "Δ", "Took", "Tokens")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of plain texts.

    Attributes:
        text: returns a row's text.
        sample: the widest usual text, which sets the column's width.
        role: the colour role; empty: dim, or the text's own colour in a selected or held row.
        is_small: whether it uses the small font.
        at_right: whether texts are aligned to the right, as numbers are.
    """

    text: Callable[[StreamRow], str]
    sample: str
    role: str = ""
    is_small: bool = True
    at_right: bool = False


TEXT_COLUMNS: dict[int, TextColumn] = {
    Column.NUMBER: TextColumn(lambda row: row.number, "100", at_right=True),
    Column.TIME: TextColumn(lambda row: row.time, "00:00:00"),
    Column.DELTA: TextColumn(lambda row: row.delta, "Δ99", role="accent", is_small=False),
    Column.TOOK: TextColumn(lambda row: row.took, "59 min 59 s", at_right=True),
    Column.TOKENS: TextColumn(lambda row: row.tokens, "1,000", role="dim", at_right=True),
}


def alignment(column: int) -> Qt.AlignmentFlag:
    """Return the alignment of a column's cells: numbers to the right."""
    right = column in TEXT_COLUMNS and TEXT_COLUMNS[column].at_right
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter


def cell_text(row: StreamRow, column: int) -> str:
    """Return a cell's text; an invocation's header has one text only, in the widest column."""
    if row.kind == "invocation":
        return "   ".join(filter(None, [row.summary, row.tokens])) if column == Column.EVENT else ""
    if column in TEXT_COLUMNS:
        return TEXT_COLUMNS[column].text(row)
    return {Column.AUTHOR: row.author, Column.EVENT: row.summary}.get(Column(column), "")


def row_text(row: StreamRow) -> str:
    """Return a row for a screen reader."""
    noted = row.note
    marks = {"held here:": row.held, "breakpoint:": row.breakpoint == "on", "edited:": row.edited, "ran ahead:": row.ran_ahead}
    facts = row.tokens if row.kind == "invocation" else ""
    words = [*(text for text, is_marked in marks.items() if is_marked), row.author, row.event_kind, row.summary, facts]
    if noted is not None:
        words += [
            "bookmarked" if noted.is_bookmark else "",
            f"note: {visible(' '.join(noted.text.split())[:_LONGEST_NOTE])}" if noted.text else "",
        ]
    return " ".join(filter(None, words))


def cell_tooltip(row: StreamRow, column: int, invocation_id: str, timestamp: float | None) -> str | None:
    """Return a cell's tooltip.

    Args:
        row: the row.
        column: one of `Column`.
        invocation_id: the invocation of the row.
        timestamp: the event's timestamp; None for a row without an event.
    """
    if row.kind == "invocation":
        meaning = SIGNS[row.event_kind].meaning if row.event_kind in SIGNS else ""
        return plain_tooltip("\n".join(filter(None, (row.summary, meaning, f"invocation {invocation_id}"))))
    if row.kind == "tool agent":
        return plain_tooltip(
            f"{row.author} runs as a tool, in a session of its own that only a recording keeps. Its answer is the tool's result."
        )
    if row.kind not in ("event", "tool agent event"):
        return None
    took = f"{row.took} after the event that it followed" if row.took else ""
    if column == Column.TOOK:
        return plain_tooltip(took) if took else None
    if column == Column.TIME:
        return plain_tooltip("\n".join(filter(None, (full_time(timestamp), took)))) if timestamp is not None else None
    if column == Column.EVENT:
        edited = "\nEdited: see custom metadata under Content." if row.edited else ""
        ahead = f"\n{RAN_AHEAD}" if row.ran_ahead else ""
        noted = f"\nNote: {visible_lines(row.note.text[:_LONGEST_NOTE])}" if row.note is not None and row.note.text else ""
        marked = "\nBookmarked" if row.note is not None and row.note.is_bookmark else ""
        return plain_tooltip(f"{row.event_kind}: {row.summary}{edited}{ahead}{marked}{noted}")
    if column == Column.AUTHOR and row.author_sign:
        sign = "Its name is slanted" if row.author_sign == 1 else "It has a bar"
        return plain_tooltip(f"{row.author}\n{sign}: the app has more agents than colours, and an agent before it has the same one.")
    if column == Column.GUTTER and row.held:
        return plain_tooltip("The agent is held here: this event is committed, and the next step has not begun.")
    if column == Column.GUTTER:
        words = {"on": "A breakpoint stops here.", "off": "A disabled breakpoint would stop here."}
        return plain_tooltip(words.get(row.breakpoint, "Click to stop at events like this one (F9)."))
    return plain_tooltip(row.author) if column == Column.AUTHOR else None
