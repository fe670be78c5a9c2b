"""The `export` and `import` subcommands."""

from __future__ import annotations

import asyncio
import importlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.commands import stdout
from inspector_app.commands.options.changing import Import
from inspector_app.commands.options.reading import Export
from inspector_app.commands.output import complain_of_nothing, counted, print_json, print_line
from inspector_app.commands.problems import UsageError
from inspector_app.commands.progress import Progress
from inspector_app.commands.reading import check_layout_is_written, condition_of, matching_events, opened
from inspector_app.commands.selection import session_key
from inspector_app.documents.event_notes import EventNotes
from inspector_app.exchange.exported_session import ExportedSession, exported_session
from inspector_app.exchange.formats import export_text, format_of, write_export
from runtime.errors import EmptyDatabaseError, StorageError
from runtime.storage.connections.database_url import named_file
from runtime.storage.reading.reader import SessionSummary, StoredDatabase

if TYPE_CHECKING:
    from runtime.events import Event


def export(options: Export) -> int:
    """Write sessions into a file for others."""
    out = None if options.out == "-" else Path(options.out)
    kind = options.format or (format_of(out.name) if out else "jsonl")
    if kind is None:
        raise UsageError(f"{options.out} does not tell the format. Name it .json, .jsonl, .md, .html or .evalset.json, or give --format.")
    if out is None and options.json and kind in ("md", "html"):
        raise UsageError("--json reports on a file that was written: give its name in place of -, or --format json.")
    if out is not None and out.exists():
        raise StorageError(f"{options.out} already exists. Name a file that does not exist.")
    condition = condition_of(options.where) if options.where is not None else None
    with opened(options.db, options) as database:
        chosen = _chosen(database, options)
        notes = EventNotes(options.db).read(database)
        total = sum(each.event_count or 0 for each in chosen)
        with Progress("Exporting events", lambda: total) as progress:

            def selected(summary: SessionSummary) -> Iterable[Event] | None:
                if condition is not None:
                    found: Iterable[Event] = matching_events(database, summary.key, condition, None, progress, notes.get(summary.key, {}))
                    return found if options.last is None else deque(found, options.last)
                return None if options.last is None else database.newest_events(summary.key, options.last)

            sessions = [
                exported_session(
                    database,
                    each.key,
                    each.last_update_time,
                    secrets=options.secrets,
                    selection=selected(each),
                    notes=notes.get(each.key, {}),
                )
                for each in chosen
            ]
            count = _Counter(progress)
            text = export_text(kind, count.over(sessions), options.db, single=len(sessions) == 1)
            if out is None:
                for piece in text:
                    stdout.write(piece, flush=False)
                stdout.write("")
            else:
                write_export(out, options.out, text)
    redactions = sum(session.redactions for session in sessions)
    if redactions:
        stdout.complain(
            f"agent-inspector: in {counted(redactions, 'event or state') if redactions == 1 else f'{redactions:,} events and states'},"
            " what looks like a password, key or token was replaced by (redacted). --secrets keeps it.\n"
        )
    if out is None:
        return 0
    if options.json:
        print_json({"file": options.out, "format": kind, "sessions": len(sessions), "events": count.events, "redactions": redactions})
    else:
        print_line(f"{options.out}: {counted(len(sessions), 'session')} with {counted(count.events, 'event')} from {options.db}")
    return 0


class _Counter:
    """A count of the events that pass."""

    def __init__(self, progress: Progress) -> None:
        self.events = 0
        self._progress = progress

    def over(self, sessions: Iterable[ExportedSession]) -> Iterator[ExportedSession]:
        for session in sessions:
            session.events = self._counted(session.events)
            yield session

    def _counted(self, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for event in events:
            self.events += 1
            self._progress.show(self.events)
            yield event


def _chosen(database: StoredDatabase, options: Export) -> list[SessionSummary]:
    """Return the sessions that the options mean: all that fit, or the named one."""
    listed = database.sessions()
    if options.session is not None:
        key = session_key([summary.key for summary in listed], options.app, options.user, options.session, options.db)
        return [summary for summary in listed if summary.key == key]
    found = [summary for summary in listed if options.app in (None, summary.key.app_name) and options.user in (None, summary.key.user_id)]
    if not found:
        raise StorageError(f"{options.db} has no such sessions." if listed else f"{options.db} has no sessions.")
    return found


def import_sessions(options: Import) -> int:
    """Store the sessions of a file in a database, with their ids and times."""
    reader = importlib.import_module("inspector_app.exchange.imported_sessions")
    storing = importlib.import_module("inspector_app.exchange.storing")
    names = {"app": options.app, "user": options.user, "session": options.session}
    imported = reader.read_sessions(options.file, **names, notes=lambda database: EventNotes(options.file).read(database))
    file = named_file(options.db)
    if file is None or file.exists():
        with suppress(EmptyDatabaseError), opened(options.db) as database:
            check_layout_is_written(database, options.db)
            storing.check_new(imported, {summary.key for summary in database.listing()}, options.db)
    asyncio.run(_store(options.db, imported, storing))
    if imported.left_out:
        complain_of_nothing(imported.left_out)
    if options.json:
        keys = [{"app_name": key.app_name, "user_id": key.user_id, "id": key.session_id} for key in imported.sessions]
        print_json({"db": options.db, "sessions": keys, "events": imported.events})
    else:
        what = f"{counted(len(imported.sessions), 'session')} with {counted(imported.events, 'event')}"
        print_line(f"{options.db}: {what} from {'the input' if options.file == '-' else options.file}")
    return 0


async def _store(target: str, imported: Any, storing: Any) -> None:
    async with importlib.import_module("runtime.storage.open_service").open_session_service(target) as service:
        with Progress("Importing sessions", lambda: len(imported.sessions)) as progress:
            await storing.store(service, imported, progress.show)
