"""The `note`, `notes` and `name` subcommands: comments and bookmarks on events, and names of sessions."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector_app.commands.options.changing import Name, NoteOptions
from inspector_app.commands.options.reading import Notes
from inspector_app.commands.output import local_time, print_json, print_line, print_table
from inspector_app.commands.reading import opened
from inspector_app.commands.selection import existing_key, whole_id
from inspector_app.documents.event_notes import EventNotes, changed_note
from inspector_app.exchange.capsule import is_capsule
from inspector_app.presentation.values import visible
from runtime.errors import StorageError
from runtime.sessions.note import NAME, Note, checked_text
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service


def note(options: NoteOptions) -> int:
    """Write, bookmark or delete the note on an event."""
    if is_capsule(options.db):
        raise StorageError(f"{options.db} is a capsule, which is not changed. Open it in the window, and note it there.")
    text = "" if options.delete else options.text
    mark = False if options.delete else options.bookmark
    if text is not None:
        checked_text(text)
    with opened(options.db) as database:
        kept = EventNotes(options.db)
        key = existing_key(database, options)
        event_id = whole_id("event", options.event, database.ids_beginning(key, options.event), key, options.db)
        old = kept.of(database, key).get(event_id)
        is_inside = kept.are_inside(database)
    if options.delete and old is None:
        raise StorageError(f"There is no note on event {event_id!r}.")
    new = changed_note(old, text=text, is_bookmark=mark)
    asyncio.run(_put(kept, options.db if is_inside else None, key, event_id, new))
    if options.json:
        print_json(_json(key, event_id, new))
    else:
        where = "" if is_inside else " in your data folder, as the database is not changed"
        print_line(f"{visible(event_id)}: {_said(new)}{where}")
    return 0


def name(options: Name) -> int:
    """Name a session, or delete its name."""
    if is_capsule(options.db):
        raise StorageError(f"{options.db} is a capsule, which is not changed. Open it in the window, and name the session there.")
    new = changed_note(None, text=options.text)
    with opened(options.db) as database:
        kept = EventNotes(options.db)
        key = existing_key(database, options)
        is_inside = kept.are_inside(database)
        title = database.titles([key], {key: new.text})[key]
    asyncio.run(_put(kept, options.db if is_inside else None, key, NAME, new))
    if options.json:
        print_json({**key._asdict(), "name": new.text, "title": title})
    else:
        where = "" if is_inside else " in your data folder, as the database is not changed"
        told = "named" if new.text else "has no name: it is called"
        print_line(f"{visible(key.session_id)}: {told} {title}{where if new.text else ''}")
    return 0


async def _put(kept: EventNotes, target: str | None, key: SessionKey, event_id: str, new: Note) -> None:
    if target is None:
        await kept.put(None, key, event_id, new)
        return
    async with open_session_service(target) as service:
        await kept.put(service, key, event_id, new)


def notes(options: Notes) -> int:
    """List the notes of a database or of some of its sessions."""
    with opened(options.db) as database:
        found = EventNotes(options.db).read(database)
        keys = [summary.key for summary in database.listing()]
        if options.session is not None:
            keys = [existing_key(database, options)]
    chosen = [key for key in keys if options.app in (None, key.app_name) and options.user in (None, key.user_id)]
    listed = [(key, *each) for key in chosen for each in sorted(found.get(key, {}).items(), key=lambda each: each[1].at) if each[0] != NAME]
    if options.json:
        print_json([_json(*each) for each in listed])
        return 0
    rows = [
        (key.session_id, event_id, local_time(one.at), "bookmark" if one.is_bookmark else "", " ".join(one.text.split()))
        for key, event_id, one in listed
    ]
    print_table(("SESSION", "EVENT", "CHANGED", "", "NOTE"), rows, "There are no notes.", ids=1)
    return 0


def _json(key: SessionKey, event_id: str, one: Note) -> dict[str, Any]:
    return {**key._asdict(), "event_id": event_id, **one.as_json()}


def _said(one: Note) -> str:
    if one.is_empty:
        return "no note"
    return " and ".join(filter(None, ("bookmarked" if one.is_bookmark else "", "note kept" if one.text else "")))
