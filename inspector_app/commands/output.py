"""Output of the commands: JSON for programs, aligned text for people."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.commands import stdout
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.strict_json import event_json, strict_json
from inspector_app.presentation.values import clock, visible
from inspector_app.presentation.values import counted as counted
from inspector_app.presentation.values import local_time as local_time
from runtime.history.invocations import earlier_unanswered, present

if TYPE_CHECKING:
    from runtime.events import Event
    from runtime.history.invocations import PendingItem
    from runtime.sessions.note import Note

_GAP = "  "
_NARROWEST = 8  # cells to which a column is cut before the line itself is
_BOLD, _RED, _DIM, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[2m", "\x1b[0m"
_NOTE_LENGTH = 60  # characters of a note in an event's line
_ID_LENGTH = 8  # characters of an event's id in a line; enough to name it in most sessions


def print_line(text: str, *, flush: bool = True) -> None:
    """Print a line, and flush it unless more lines follow at once."""
    stdout.write(text + "\n", flush=flush)


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print_line(strict_json(value, ascii_only=not stdout.takes_any_text()))


def complain_of_nothing(sentence: str) -> None:
    """Report an empty result on stderr; stdout stays empty."""
    stdout.complain(f"agent-inspector: {sentence}\n")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], empty: str | None = None, ids: int | None = None) -> None:
    """Print rows in aligned columns, cut to the terminal's width, with control characters made visible.

    Args:
        headings: the columns' headings.
        rows: the cells.
        empty: reported on stderr instead of the table if there are no rows.
        ids: the column with ids, which is cut last: other commands want them.
    """
    lines = [[visible(cell) for cell in row] for row in rows]
    if not lines and empty is not None:
        complain_of_nothing(empty)
        return
    widths = [max(map(_cells, column)) for column in zip(headings, *lines, strict=True)]
    limit = _line_width()
    _narrow(widths, limit, ids)
    print_line(coloured(_row(headings, widths, limit), _BOLD))
    for line in lines:
        print_line(_row(line, widths, limit), flush=False)
    stdout.write("")


def print_event(event: Event, as_json: bool, *, flush: bool = True, note: Note | None = None) -> None:
    """Print an event as google-adk's event JSON, or as a one-line summary, with the note on it."""
    if as_json:
        print_line(event_json(event, ascii_only=not stdout.takes_any_text(), note=note), flush=flush)
    else:
        print_line(event_line(event, note), flush=flush)


def note_mark(note: Note | None) -> str:
    """Return how a line tells that there is a note on its event; empty if there is none."""
    if note is None or note.is_empty:
        return ""
    words = " ".join(note.text.split())
    text = f"note: {words if len(words) <= _NOTE_LENGTH else words[: _NOTE_LENGTH - 1] + '…'}" if words else ""
    return f"[{', '.join(filter(None, ('bookmark' if note.is_bookmark else '', visible(text))))}]"


def event_line(event: Event, note: Note | None = None) -> str:
    """Return an event's summary in one line, cut to the terminal's width."""
    presentation = describe(event)
    delta = f"  Δ{len(event.actions.state_delta)}" if event.actions.state_delta else ""
    head = f"{clock(event.timestamp)}  {visible(event.id[:_ID_LENGTH])}  {visible(event.author)}  {presentation.kind}"
    colour = _RED if presentation.kind == "error" else _DIM if presentation.role == "dim" else ""
    limit = _line_width()
    text = "  ".join(filter(None, (head, note_mark(note), f"{presentation.summary}{delta}")))
    return coloured(text if limit is None else _cut(text, limit), colour)


def coloured(text: str, colour: str) -> str:
    """Return text in a colour, on a terminal whose user has not set NO_COLOR."""
    return f"{colour}{text}{_PLAIN}" if colour and text and _has_colours() else text


def pending_json(item: PendingItem) -> dict[str, Any]:
    """Return a pending item in the command line's JSON form."""
    names = ("kind", "invocation_id", "call_id", "name", "is_past")
    return {name: getattr(item, name) for name in names}


def pending_text(items: Iterable[PendingItem]) -> str:
    """Return pending items as text, with the number of earlier messages that have none."""
    items = [*items]
    now = (f"{item.kind} {item.name}" if item.name else item.kind for item in present(items))
    return ", ".join(filter(None, (*now, earlier_unanswered(items))))


def _row(cells: Sequence[str], widths: Sequence[int], limit: int | None) -> str:
    text = _GAP.join(_padded(_cut(cell, width), width) for cell, width in zip(cells, widths, strict=True)).rstrip()
    return text if limit is None else _cut(text, limit)


def _narrow(widths: list[int], limit: int | None, ids: int | None) -> None:
    """Cut the widest columns until a line fits."""
    over = 0 if limit is None else sum(widths) + len(_GAP) * (len(widths) - 1) - limit
    for columns in ([column for column in range(len(widths)) if column != ids], range(len(widths))):
        while over > 0 and columns and max(widths[column] for column in columns) > _NARROWEST:
            widths[max(columns, key=widths.__getitem__)] -= 1
            over -= 1


def _line_width() -> int | None:
    """Return the width of a line; None if the output is no terminal, unless COLUMNS is set."""
    if os.environ.get("COLUMNS", "").isdecimal() or _is_terminal():
        return max(shutil.get_terminal_size().columns, 20)
    return None


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _has_colours() -> bool:
    return _is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _cells(text: str) -> int:
    """Return the number of cells that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut(text: str, width: int) -> str:
    if len(text) * 2 <= width or _cells(text) <= width:
        return text
    kept = text[:width]
    while _cells(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _cells(text))
