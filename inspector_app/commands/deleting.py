"""The `delete`, `prune` and `undelete` subcommands: they list the sessions, ask first, and keep a copy for restoring them."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from inspector_app.commands import stdout
from inspector_app.commands.options.changing import Delete, Prune, Undelete
from inspector_app.commands.output import counted, local_time, print_json, print_line, print_table
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import command_line, session_key
from runtime.errors import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import named_file, without_written_password
from runtime.storage.connections.other_processes import others_with_open
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.writing.deletion import delete_sessions, keep_copy, put_back

DAY = 86_400.0


def delete(options: Delete) -> int:
    """Delete the named sessions."""
    with opened(options.db) as database:
        known = [summary.key for summary in database.listing()]
        keys = {session_key(known, options.app, options.user, name, options.db) for name in options.session}
        chosen = [summary for summary in database.sessions() if summary.key in keys]
        _check_writable(database, options)
    return _delete(chosen, options)


def prune(options: Prune) -> int:
    """Delete the sessions without changes for some days."""
    oldest = time.time() - options.days * DAY
    with opened(options.db) as database:
        chosen = [
            summary
            for summary in database.sessions()
            if summary.last_update_time < oldest
            and options.app in (None, summary.key.app_name)
            and options.user in (None, summary.key.user_id)
        ]
        _check_writable(database, options)
    return _delete(sorted(chosen, key=lambda summary: summary.last_update_time), options)


def undelete(options: Undelete) -> int:
    """Restore sessions from a copy."""
    file = _file(options.db)
    if file is None:
        raise StorageError(f"{without_written_password(options.db)} is not a file. Copies are made only of database files.")
    with opened(options.db) as database:  # restoring into anything else would make an incomplete database
        check_layout_is_written(database, options.db)
        _check_alone(file, options.db)
    copy = named_file(options.copy)
    if copy is None:
        raise StorageError(f"{without_written_password(options.copy)} is not a file. Name the copy that `delete` or `prune` made.")
    given_up = threading.Event()
    with ThreadPoolExecutor(1) as threads:  # SQLite keeps the main thread from noticing Ctrl-C
        restoring = threads.submit(put_back, file, copy, options.db, options.copy, given_up.is_set)
        try:
            count = restoring.result()
        except BaseException:
            given_up.set()
            raise
    if options.json:
        print_json({"put_back": count})
    else:
        print_line(f"{counted(count, 'session')} restored.")
    return 0


def _delete(chosen: Sequence[SessionSummary], options: Delete | Prune) -> int:
    file, events = _file(options.db), sum(summary.event_count or 0 for summary in chosen)
    if not options.json:
        _print_chosen(chosen)
    if chosen and not options.dry_run:
        if file is not None:
            _check_alone(file, options.db)
        what = f"{counted(len(chosen), 'session')} with {counted(events, 'event')}"
        if not (options.yes or _agreed(f"Delete {what} from {options.db}?", file)):
            stdout.complain("agent-inspector: Nothing was deleted.\n")
            return 1
        if file is not None:
            _check_alone(file, options.db)  # the answer may have taken a while
    keys = [summary.key for summary in chosen] if not options.dry_run else []
    copy = keep_copy(file, keys) if file is not None and keys else None
    if copy is not None and not options.json:
        print_line(f"A copy is in {copy}. To restore them: {command_line('undelete', options.db, str(copy))}")
    if keys:
        asyncio.run(_delete_all(options.db, keys))
    if options.json:
        deleted = [{**_named(summary.key), "event_count": summary.event_count} for summary in chosen]
        print_json({"delete": {"sessions": deleted, "done": bool(keys), "copy": str(copy) if copy else None}})
    elif keys:
        print_line(f"{counted(len(keys), 'session')} deleted.")
    return 0


async def _delete_all(target: str, keys: Sequence[SessionKey]) -> None:
    async with open_session_service(target) as service:
        await delete_sessions(service, keys)


def _agreed(question: str, file: Path | None) -> bool:
    """Ask on the terminal; no answer means no."""
    lost = "" if file is not None else " This database is not a file, so they cannot be restored."
    stdout.complain(f"{question}{lost} [y/N] ")
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):  # the input ended
        stdout.complain("\n")
    return answer.strip().casefold() in ("y", "yes")


def _check_writable(database: StoredDatabase, options: Delete | Prune) -> None:
    check_layout_is_written(database, options.db)
    if not (database.layout.ours or options.in_place or options.dry_run):
        raise StorageError(f"{options.db} was written by another program. To write into it after a backup, give --in-place.")


def _check_alone(file: Path, name: str) -> None:
    others = others_with_open(file)
    if others:
        named = ", ".join(f"{other.pid} ({other.command})" for other in others[:3])
        raise StorageError(f"Nothing was changed: process {named} has {name} open. Close it first.")


def _file(target: str) -> Path | None:
    file = named_file(target)
    return file.absolute() if file is not None else None


def _print_chosen(chosen: Sequence[SessionSummary]) -> None:
    rows = [(*summary.key, f"{summary.event_count:,}", local_time(summary.last_update_time)) for summary in chosen]
    if rows:
        print_table(("APP", "USER", "SESSION", "EVENTS", "LAST UPDATE"), rows)
    else:
        stdout.complain("agent-inspector: No session matches, so nothing is deleted.\n")


def _named(key: SessionKey) -> dict[str, Any]:
    return {"app_name": key.app_name, "user_id": key.user_id, "id": key.session_id}
