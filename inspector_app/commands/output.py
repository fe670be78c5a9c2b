"""Output of the subcommands: JSON for programs, aligned text for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from inspector_app.commands import stdout
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.values import visible
from runtime.events import Event
from runtime.history.invocations import PendingItem


def print_line(text: str) -> None:
    """Print a line and flush it."""
    stdout.write(text + "\n")


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print_line(json.dumps(value, ensure_ascii=False))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows in aligned columns, with control characters made visible."""
    lines = [headings, *([visible(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        print_line("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_event(event: Event, as_json: bool) -> None:
    """Print an event as google-adk's event JSON, or as a one-line summary."""
    if as_json:
        print_line(event.model_dump_json(exclude_none=True))
        return
    presentation = describe(event)
    delta = f"  Δ{len(event.actions.state_delta)}" if event.actions.state_delta else ""
    time = datetime.fromtimestamp(event.timestamp).strftime("%H:%M:%S")
    print_line(f"{time}  {visible(event.author)}  {presentation.kind}  {presentation.summary}{delta}")


def pending_json(item: PendingItem) -> dict[str, Any]:
    """Return a pending item in the command line's JSON form."""
    return {"kind": item.kind, "invocation_id": item.invocation_id, "call_id": item.call_id, "name": item.name}


def pending_text(items: Iterable[PendingItem]) -> str:
    """Return pending items as text."""
    return ", ".join(f"{item.kind} {item.name}" if item.name else item.kind for item in items)


def local_time(timestamp: float) -> str:
    """Return epoch seconds as a local date and time."""
    return datetime.fromtimestamp(timestamp).strftime("%Y-%m-%d %H:%M:%S")
