"""The `export` and `import` subcommands."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from inspector_app.commands import stdout
from inspector_app.commands.options import Options
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.problems import UsageError
from inspector_app.commands.progress import Progress
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import session_key
from inspector_app.exchange.exported_session import ExportedSession, exported_session
from runtime.errors import AlreadyExistsError, StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import named_file
from runtime.storage.connections.new_file import give_name, unfinished_file
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import SessionSummary, StoredDatabase

_SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}


def export(options: Options) -> int:
    """Write sessions into a file for others."""
    out = None if options.out == "-" else Path(options.out)
    kind = options.format or (_SUFFIXES.get(out.suffix.lower()) if out else "jsonl")
    if kind is None:
        raise UsageError(f"{options.out} does not tell the format. Name it .json, .jsonl, .md or .html, or give --format.")
    if out is not None and out.exists():
        raise StorageError(f"{options.out} already exists. Name a file that does not exist.")
    with opened(options.db) as database:
        chosen = _chosen(database, options)
        sessions = [exported_session(database, each.key, each.last_update_time, secrets=options.secrets) for each in chosen]
        total = sum(each.event_count or 0 for each in chosen)
        with Progress("Exporting events", lambda: total) as progress:
            count = _Counter(progress)
            text = _text(kind, count.over(sessions), options.db, single=len(sessions) == 1)
            if out is None:
                for piece in text:
                    stdout.write(piece, flush=False)
                stdout.write("")
            else:
                _write(out, options.out, text)
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
    """A count of the events that pass.

    Args:
        progress: displays it.
    """

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


def _chosen(database: StoredDatabase, options: Options) -> list[SessionSummary]:
    """Return the sessions that the options mean: all that fit, or the named one."""
    listed = database.sessions()
    if options.session is not None:
        key = session_key([summary.key for summary in listed], options.app, options.user, options.session, options.db)
        return [summary for summary in listed if summary.key == key]
    found = [summary for summary in listed if options.app in (None, summary.key.app_name) and options.user in (None, summary.key.user_id)]
    if not found:
        raise StorageError(f"{options.db} has no such sessions." if listed else f"{options.db} has no sessions.")
    return found


def _text(kind: str, sessions: Iterable[ExportedSession], title: str, *, single: bool) -> Iterator[str]:
    # Each format is loaded when it is asked for: two of them need google-genai.
    if kind in ("json", "jsonl"):
        formats = importlib.import_module("inspector_app.exchange.data_formats")
        found: Iterator[str] = formats.session_json(sessions, single=single) if kind == "json" else formats.json_lines(sessions)
    elif kind == "md":
        found = importlib.import_module("inspector_app.exchange.markdown").markdown(sessions)
    else:
        found = importlib.import_module("inspector_app.exchange.page").page(sessions, f"{Path(title).name} · Agent Inspector")
    return found


def _write(out: Path, written: str, text: Iterator[str]) -> None:
    try:
        with unfinished_file(out, 0o600) as unfinished:  # a conversation may be private
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(text)
            give_name(unfinished, out)
    except OSError as error:
        raise StorageError(f"{written} cannot be written: {error.strerror or error}.") from error


def import_sessions(options: Options) -> int:
    """Store the sessions of a file in a database, with their ids and times."""
    reader = importlib.import_module("inspector_app.exchange.imported_sessions")
    sessions = reader.read_sessions(Path(options.file), app=options.app, user=options.user)
    file = named_file(options.db)
    if file is None or file.exists():
        with opened(options.db) as database:
            check_layout_is_written(database, options.db)
            for key in {summary.key for summary in database.listing()} & set(sessions):
                owner = f"{key.app_name!r}, user {key.user_id!r}"
                raise AlreadyExistsError(f"{options.db} already has the session {key.session_id!r} of {owner}. Nothing was imported.")
    events = sum(len(copy.events) for copy in sessions.values())
    asyncio.run(_store(options.db, sessions))
    if options.json:
        keys = [{"app_name": key.app_name, "user_id": key.user_id, "id": key.session_id} for key in sessions]
        print_json({"db": options.db, "sessions": keys, "events": events})
    else:
        print_line(f"{options.db}: {counted(len(sessions), 'session')} with {counted(events, 'event')} from {options.file}")
    return 0


async def _store(target: str, sessions: dict[SessionKey, Any]) -> None:
    stored = 0
    async with open_session_service(target) as service:
        for key, copy in sessions.items():
            try:
                await service.store_copy(key, copy)
            except StorageError as error:
                if stored == 0:
                    raise
                raise StorageError(f"{error} {counted(stored, 'session')} of {len(sessions):,} had been imported before.") from error
            stored += 1
