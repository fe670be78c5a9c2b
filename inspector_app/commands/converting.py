"""The `convert` subcommand."""

from __future__ import annotations

import asyncio

from inspector_app.commands.options.changing import Convert
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.progress import Progress
from inspector_app.commands.reading import count_events
from inspector_app.documents.event_notes import EventNotes
from runtime.storage.writing.convert import convert as convert_database


def convert(options: Convert) -> int:
    """Convert a database into a new file; the old one is not changed."""
    with Progress("Converting events", lambda: count_events(options.old)) as progress:
        done = convert_database(
            options.old,
            options.new,
            drops_unreadable=options.drop_unreadable,
            credentials=options.credentials,
            for_old_adk=options.for_old_adk,
            progress=progress.show,
        )
    asyncio.run(EventNotes(options.old).carry_to(options.new))
    if options.json:
        counts = {"sessions": done.sessions, "events": done.events}
        print_json({"old": options.old, "new": options.new, "layout": done.layout.kind, **counts, "notes": done.notes})
        return 0
    print_line(
        f"{options.new}: {counted(done.sessions, 'session')} with {counted(done.events, 'event')} from {options.old} ({done.layout.title})"
    )
    for note in done.notes:
        print_line(note)
    return 0
