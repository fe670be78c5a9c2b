"""The subcommands that only read: they change no file and leave none behind."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector_app.commands import stdout
from inspector_app.commands.options.base import Options
from inspector_app.commands.options.reading import Events, Invocations, Sessions, State
from inspector_app.commands.output import (
    complain_of_nothing,
    counted,
    event_line,
    local_time,
    pending_json,
    pending_text,
    print_event,
    print_json,
    print_line,
    print_table,
)
from inspector_app.commands.progress import Progress
from inspector_app.commands.selection import existing_key, whole_id
from inspector_app.documents.event_notes import EventNotes
from inspector_app.exchange.capsule import is_capsule
from inspector_app.exchange.otlp_sessions.trace_files import is_trace_file
from inspector_app.presentation.strict_json import event_json
from inspector_app.presentation.values import preview, visible
from inspector_app.support.data_folder import cache_folder
from runtime.errors import NotFoundError, StorageError
from runtime.events.marks import has_unreadable_actions
from runtime.expressions import Expression, ExpressionError, parse
from runtime.history.invocations import PendingItem
from runtime.history.key_writers import Write
from runtime.sessions.note import Note
from runtime.sessions.recorded_facts import RecordedFacts
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.connections.database_url import is_remote, without_written_password
from runtime.storage.reading.prefilter import prefilter
from runtime.storage.reading.reader import SessionSummary, StoredDatabase

if TYPE_CHECKING:
    from runtime.events import Event


_ALL = 2**62  # events


def sessions(options: Sessions) -> int:
    """List the sessions of a database with their pending items."""
    chosen = _Chosen(options) if options.sort is not None or options.where is not None else None
    with opened(options.db) as database:
        listed = database.sessions()
        with Progress("Reading events", lambda: sum(summary.event_count or 0 for summary in listed)) as progress:
            waiting = database.pending(progress=progress.show, cache=cache_folder() / "pending")
            titles = database.titles(names=EventNotes(options.db).names(database))
            rows = [_Row(summary, titles.get(summary.key, ""), waiting.get(summary.key, [])) for summary in listed]
            rows = chosen.of(database, rows, progress) if chosen is not None else rows
    if options.json:
        print_json([_session_json(row) for row in rows])
        return 0
    cells = [(row.title, *row.summary.key, str(row.summary.event_count), *row.cells, *_ends(row)) for row in rows]
    figures = [name.upper() for name in chosen.columns] if chosen is not None else []
    headings = ("TITLE", "APP", "USER", "SESSION", "EVENTS", *figures, "LAST UPDATE", "PENDING")
    print_table(headings, cells, "No session matches." if listed else "The database has no sessions.", ids=3)
    return 0


def _ends(row: _Row) -> tuple[str, str]:
    return local_time(row.summary.last_update_time), pending_text(row.pending)


class _Row(NamedTuple):
    """A listed session; `figures` are those that its order and condition use, and `cells` the same as text."""

    summary: SessionSummary
    title: str
    pending: Sequence[PendingItem]
    figures: Mapping[str, Any] = {}
    cells: Sequence[str] = ()


class _Chosen:
    """The sessions that `--where` chooses, as `--sort` sorts them.

    Args:
        options: has one of them.
    """

    def __init__(self, options: Sessions) -> None:
        # Prices and failures take long to load.
        self._module = importlib.import_module("inspector_app.presentation.session_figures")
        self._target, self._sort = options.db, options.sort
        self._condition = condition_of(options.where, self._module.session_condition) if options.where is not None else None
        used = self._module.figures_used(self._sort or "", self._condition)
        self.columns = [name for name in self._module.OF_EVENTS if name in used]

    def of(self, database: StoredDatabase, rows: Sequence[_Row], progress: Progress) -> list[_Row]:
        """Return the sessions."""
        read = self._reader(database) if self.columns else lambda _: None
        found, done, now = [], 0, time.time()
        for row in rows:
            about = row.summary
            waiting = self._module.waiting_of(row.pending)
            figures = self._module.session_figures(row.title, about.event_count, about.last_update_time, waiting, read(about.key), now)
            if self._condition is None or self._condition.matches(figures):
                known = {name: getattr(figures, name) for name in self.columns}
                found.append((figures, row._replace(figures=known, cells=[figures.told(name) for name in self.columns])))
            progress.show(done := done + (about.event_count or 0))
        if self._sort is not None:
            found.sort(key=lambda each: self._module.ORDERS[self._sort](each[0]))
        return [row for _, row in found]

    def _reader(self, database: StoredDatabase) -> Callable[[SessionKey], Any]:
        pricing = importlib.import_module("inspector_app.commands.pricing")
        prices, recorded = pricing.known_prices(), pricing.recorded_facts(self._target)
        return lambda key: self._module.event_figures(key, list(database.plain_events(key)), prices, recorded)


def _session_json(row: _Row) -> dict[str, Any]:
    return {
        "title": row.title,
        "app_name": row.summary.key.app_name,
        "user_id": row.summary.key.user_id,
        "id": row.summary.key.session_id,
        "event_count": row.summary.event_count,
        **row.figures,
        "last_update_time": row.summary.last_update_time,
        "pending": [pending_json(item) for item in row.pending],
    }


def events(options: Events) -> int:
    """List a session's events."""
    condition = condition_of(options.where) if options.where is not None else None
    with opened(options.db, options) as database, Progress("Reading events", lambda: database.count_up_to(key, _ALL)) as progress:
        key = existing_key(database, options)
        notes = EventNotes(options.db).of(database, key)
        after = options.after and whole_id("event", options.after, database.ids_beginning(key, options.after), key, options.db)
        if condition is not None:
            matching = matching_events(database, key, condition, after, progress, notes)
            found = iter(deque(matching, options.last)) if options.last is not None else islice(matching, options.limit)
        elif options.last is not None:
            found = iter(database.newest_events(key, options.last))
        else:
            found = progress.over(database.plain_events(key, after=after, limit=options.limit))
        inner = importlib.import_module("inspector_app.commands.pricing").recorded_facts(options.db) if options.nested else None
        is_empty = True
        for event in found:
            if sys.stdout.isatty():
                progress.hide()
            print_event(event, options.json, flush=False, note=notes.get(event.id))
            is_empty = False
            if inner is not None:
                _print_nested(event, inner, options.json)
    if is_empty and not options.json:
        complain_of_nothing(_no_events(condition))
    return 0


def _print_nested(event: Event, recorded: RecordedFacts, as_json: bool) -> None:
    for call in event.get_function_calls():
        for inner in recorded.inside(event.invocation_id, call.id):
            indent = "  " * len(inner.call_ids)
            if inner.event is None:
                text = "" if as_json else f"{indent}(an agent ran as a tool: not recorded)"
            elif as_json:
                row = {"nested": inner.call_ids, **json.loads(event_json(inner.event))}
                text = json.dumps(row, ensure_ascii=not stdout.takes_any_text())
            else:
                text = indent + event_line(inner.event)
            if text:
                print_line(text, flush=False)


def _no_events(condition: Expression | None) -> str:
    if condition is None:
        return "The session has no events here."
    if any(mention.name == "text" for mention in condition.mentions):
        return "No event matches. `text` is what people and models wrote; a tool's result is `response.*`, and `json` is the whole event."
    return "No event matches."


def state(options: State) -> int:
    """Show the present state, the state after an event, or the writes of one key."""
    if options.writers is not None:
        return _writers(options, options.writers)
    with opened(options.db, options) as database:
        key = existing_key(database, options)
        scopes = _state_after(database, key, options.at, options.db) if options.at is not None else _state_now(database, key)
    if options.json:
        print_json(scopes)
        return 0
    for scope in ("session", "user", "app"):
        for name, value in scopes[scope].items():
            print_line(f"{visible(name)} = {visible(json.dumps(value, ensure_ascii=False))}")
    for name in scopes["unknown"]:
        print_line(f"{visible(name)} : not recorded at that time")
    if not any(scopes.values()):
        complain_of_nothing("The state is empty.")
    return 0


def _writers(options: State, name: str) -> int:
    with opened(options.db, options) as database:
        found = database.writes(existing_key(database, options), name)
    if options.json:
        print_json([_write_json(write) for write in found])
        return 0
    rows = [
        (
            local_time(write.timestamp) if write.timestamp else "",
            write.session.session_id,
            _author(write),
            write.tool_text,
            write.branch or "",
            "(new)" if write.is_new else preview(write.before) if write.known else "(not recorded)",
            preview(write.after),
            "written in parallel by another branch" if write.parallel else "",
        )
        for write in found
    ]
    print_table(
        ("TIME", "SESSION", "AUTHOR", "TOOL", "BRANCH", "BEFORE", "AFTER", ""), rows, f"The key {options.writers!r} was never written."
    )
    return 0


def _author(write: Write) -> str:
    if write.author:
        return write.author
    return "(the session's creation)" if write.session.session_id else "(no existing session)"


def _write_json(write: Write) -> dict[str, Any]:
    names = (
        "event_id",
        "author",
        "branch",
        "tools",
        "perhaps",
        "invocation_id",
        "timestamp",
        "before",
        "after",
        "known",
        "is_new",
        "parallel",
    )
    return {"session_id": write.session.session_id, "user_id": write.session.user_id, **{name: getattr(write, name) for name in names}}


def invocations(options: Invocations) -> int:
    """List a session's invocations."""
    with opened(options.db, options) as database:
        found = database.invocations(existing_key(database, options))
    if options.json:
        names = ("invocation_id", "status", "reason", "first_event_id", "last_event_id", "checkpoint")
        print_json([{name: getattr(invocation, name) for name in names} for invocation in found])
        return 0
    rows = [
        (invocation.invocation_id, invocation.word, invocation.reason, json.dumps(invocation.checkpoint, ensure_ascii=False))
        for invocation in found
    ]
    print_table(("INVOCATION", "STATUS", "REASON", "CHECKPOINT"), rows, "The session has no invocations.", ids=0)
    return 0


def condition_of(text: str, read: Callable[[str], Expression] = parse) -> Expression:
    """Return the condition of `--where`; exit with a usage error if it has a syntax error.

    Args:
        text: the condition.
        read: reads it.
    """
    try:
        return read(text)
    except ExpressionError as error:
        pointer = " " * len(visible(text[: error.position])) + "^"
        stdout.complain(f"agent-inspector: --where is not a valid expression. {error}\n  {visible(text)}\n  {pointer}\n")
        raise SystemExit(2) from None


def matching_events(
    database: StoredDatabase, key: SessionKey, condition: Expression, after: str | None, progress: Progress, notes: Mapping[str, Note]
) -> Iterator[Event]:
    """Yield the session's events that match a condition, evaluated with the state before each event and the note on it."""
    if not condition.uses_state:

        def matches(event: Event) -> bool:
            return condition.matches(event, None, notes.get(event.id))

        yield from database.matching(key, matches, prefilter(condition.required, notes), after=after, progress=progress.show)
        return
    past = database.history(key)
    first = _index(past.events, after) + 1 if after else 0
    for index in range(first, len(past.events)):
        before = past.state_at(index - 1)
        event = past.events[index]
        if condition.matches(event, {**before.merged(), **before.temp}, notes.get(event.id)):
            yield event


@contextmanager
def opened(target: str, named: Options | None = None) -> Iterator[StoredDatabase]:
    """Open a database for reading; it is closed at the end.

    Args:
        target: file path or SQLAlchemy URL; also a capsule or a file of traces, which is unpacked as long as it is open, and the URL of a
            server or an Agent Engine, whose sessions are copied as long as it is open.
        named: the app, user and session that are needed; None: all.
    """
    with ExitStack() as stack:
        if is_remote(target):
            # HTTP clients take long to load.
            target = stack.enter_context(importlib.import_module("inspector_app.commands.remote").copied(target, named))
        if is_capsule(target):
            # Unpacking needs the runtime, which reading a database does not load.
            unpacked = importlib.import_module("inspector_app.exchange.capsule_session").unpacked
            target = stack.enter_context(unpacked(target))[0]
        elif is_trace_file(target):
            traces = importlib.import_module("inspector_app.exchange.otlp_sessions.trace_database")
            target, left_out = stack.enter_context(traces.unpacked_traces(target))
            if left_out:
                complain_of_nothing(left_out)
        yield stack.enter_context(closing(StoredDatabase.open(target)))


def check_layout_is_written(database: StoredDatabase, name: str) -> None:
    """Refuse a command that writes, if the database's layout can only be read.

    Args:
        database: the database.
        name: its name as the user wrote it.

    Raises:
        StorageError: its layout is read-only.
    """
    if is_remote(name):
        raise StorageError(f"{without_written_password(name)} is no database: this command cannot write there.")
    if database.layout.format.writer is None:
        raise StorageError(database.layout.format.refusal(name))


def count_events(target: str) -> int:
    """Return the number of events in a database."""
    with opened(target) as database:
        return sum(summary.event_count or 0 for summary in database.sessions())


def _state_now(database: StoredDatabase, key: SessionKey) -> dict[str, Any]:
    scopes: dict[str, Any] = {"session": {}, "user": {}, "app": {}, "unknown": []}
    for name, value in database.state(key).items():
        if (scope := scope_of(name)) in scopes:  # old databases hold temp: keys, which are no part of the state
            scopes[scope][name] = value
    return scopes


def _state_after(database: StoredDatabase, key: SessionKey, at: str, target: str) -> dict[str, Any]:
    past = database.history(key, plain=True)
    index = _index(past.events, whole_id("event", at, (event.id for event in past.events), key, target))
    then = past.state_at(index)
    if lost := [event.id for event in past.events[: index + 1] if has_unreadable_actions(event)]:
        more = f", nor those of {counted(len(lost) - 1, 'other')}" if lost[1:] else ""
        stdout.complain(
            f"agent-inspector: The changes of event {visible(lost[0])} cannot be read{more}."
            " There may be other keys, and the values of keys that were set before are unknown.\n"
        )
    return {"session": then.session, "user": then.user, "app": then.app, "unknown": then.unknown}


def _index(events: Sequence[Event], event_id: str) -> int:
    for index, event in enumerate(events):
        if event.id == event_id:
            return index
    raise NotFoundError(f"The session has no event {event_id!r}.")
