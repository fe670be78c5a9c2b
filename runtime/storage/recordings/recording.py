"""Reading of a recording that `RecorderPlugin` writes, perhaps at this moment.

The file is untrusted: a request refers to its parts and to an earlier request by number, and any number may be wrong.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors.storage_error import StorageError
from runtime.sessions.recorded_facts import RecordedFacts, RecordedInnerEvent
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.layouts.column_values import as_name
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.recordings.recorded_call import (
    RecordedExchange,
    RecordedModelCall,
    RecordedModelRequest,
    RecordedToolCall,
)
from runtime.support.bounded import MOST_BYTES, Budget, TooMuchError, parse
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.storage.layouts import decode
else:
    decode = lazy_module("runtime.storage.layouts.decode")

FORMATS = (1, 2)  # that this version reads
SUFFIX = ".rec.db"
_LONGEST_FIELD = 10_000_000  # bytes of a call's own field: contents are parts
_ROW, _WIDEST = 800, 4  # bytes of memory that a row takes, and for each byte or character in it

_CALL = (
    "id, app_name, user_id, session_id, invocation_id, branch, agent, model, event_id, started, first, ended, chunks, error, answered"
    " FROM inspector_model_calls"
)
_TOOL = "app_name, user_id, session_id, invocation_id, branch, agent, tool, call_id, started, ended, error FROM inspector_tool_calls"
_INNER = (
    "app_name, user_id, session_id, invocation_id, calls, event_id, json,"
    " (SELECT json FROM inspector_parts WHERE id = content) FROM inspector_inner_events"
)
_INNER_IDS = "SELECT event_id FROM inspector_inner_events"
_UNFINISHED = "unfinished"


def recording_beside(database: Path) -> Path:
    """Return where the recording of a session database is: `sessions.rec.db` for `sessions.db`."""
    return database.with_name(database.stem + SUFFIX)


def facts_beside(recording: Path | None, *keys: SessionKey) -> RecordedFacts:
    """Return what a recording knows of the events of some sessions, or of all; nothing if there is no such file.

    Raises:
        StorageError: the file cannot be read.
    """
    if recording is None or not recording.is_file():
        return RecordedFacts()
    with closing(Recording(recording)) as opened:
        return opened.facts(*keys)


class Recording:
    """A reader of one recording.

    Raises:
        StorageError: the file cannot be read, is no recording, or has a format of a later version.
    """

    def __init__(self, file: Path) -> None:
        self._file = SqliteFile(file)
        self._name = str(file)
        try:
            version = self._file.read(_format)
        except StorageError:
            self.close()
            raise
        self._is_empty = version == _UNFINISHED
        if not self._is_empty and version not in FORMATS:
            self.close()
            reason = (
                "is no recording of model requests."
                if version is None
                else f"is a recording of format {version}; this version reads up to {FORMATS[-1]}."
            )
            raise StorageError(f"{file} {reason}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def model_calls(self, key: SessionKey | None = None, invocations: Sequence[str] = ()) -> list[RecordedModelCall]:
        """Return the model calls of a session, or of all sessions, in the order of their ends.

        Args:
            key: the session; None for all.
            invocations: ids of the session's invocations to read; empty for all.

        Raises:
            StorageError: the file cannot be read.
        """
        budget = Budget()
        return [_model_call(row, budget) for row in self._rows(f"SELECT {_CALL}", key, invocations)]

    def facts(self, *keys: SessionKey) -> RecordedFacts:
        """Return what is known of the events of some sessions, or of all if none is named.

        Raises:
            StorageError: the file cannot be read.
        """
        since = self.inner_since()
        inner: list[RecordedInnerEvent] = []
        rows: list[tuple[Any, ...]] = []
        calls: list[RecordedToolCall] = []
        for key in keys or (None,):
            rows += self._rows("SELECT event_id, model FROM inspector_model_calls", key)
            if since is not None:
                inner += self.inner_events(key)
                calls += [call for call in self.tool_calls(key) if call.started >= since]
            if key is not None and since is not None:
                query = f"SELECT event_id, model FROM inspector_model_calls WHERE event_id IN ({_INNER_IDS} WHERE {OF_SESSION})"
                rows += self._bounded(query, tuple(key))
        models = {str(event_id): str(model) for event_id, model in rows if event_id is not None and model is not None}
        return RecordedFacts(models, inner, ((call.invocation_id, call.call_id) for call in calls))

    def tool_calls(self, key: SessionKey | None = None, invocations: Sequence[str] = ()) -> list[RecordedToolCall]:
        """Return the tool calls of a session, or of all sessions, in the order of their ends; see `model_calls`.

        Raises:
            StorageError: the file cannot be read.
        """
        return [_tool_call(row) for row in self._rows(f"SELECT {_TOOL}", key, invocations)]

    def inner_events(self, key: SessionKey | None = None, invocations: Sequence[str] = ()) -> list[RecordedInnerEvent]:
        """Return the events of agents that ran as tools, in order; see `model_calls`.

        Raises:
            StorageError: the file cannot be read.
        """
        if self._is_empty or self.inner_since() is None:
            return []
        budget = Budget()
        try:
            return [_inner_event(row, budget) for row in self._rows(f"SELECT {_INNER}", key, invocations)]
        except TooMuchError as error:
            raise StorageError(f"{self._name} {error}, so it is not read.") from None

    def inner_since(self) -> float | None:
        """Return the epoch seconds since when agents that ran as tools are recorded; None if an older recorder wrote the file.

        Raises:
            StorageError: the file cannot be read.
        """
        if self._is_empty:
            return None
        rows = self._bounded("SELECT value FROM inspector_recording WHERE key = 'inner_since'", ())
        try:
            return _seconds(float(rows[0][0])) if rows else None
        except (TypeError, ValueError):
            return None

    def call_of_event(self, event_id: str) -> RecordedModelCall | None:
        """Return the model call whose answer became an event, or None.

        Raises:
            StorageError: the file cannot be read.
        """
        if self._is_empty:
            return None
        query = f"SELECT {_CALL} WHERE event_id = ? ORDER BY id DESC LIMIT 1"
        rows = self._bounded(query, (event_id,))
        return _model_call(rows[0], Budget()) if rows else None

    def exchange(self, event_id: str) -> RecordedExchange | None:
        """Return the model call whose answer became an event, its request, and the agent's previous request; None if it is not recorded.

        Raises:
            StorageError: the file cannot be read or is damaged.
        """
        call = self.call_of_event(event_id)
        if call is None:
            return None
        query = f"SELECT max(id) FROM inspector_model_calls WHERE {OF_SESSION} AND agent = ? AND id < ?"
        values = (*call.key, call.agent, call.number)
        (previous,) = self._file.read(lambda connection: connection.execute(query, values).fetchone())
        return RecordedExchange(call, self.request(call.number), None if previous is None else self.request(previous))

    def request(self, number: int) -> RecordedModelRequest:
        """Return the request and the answer of a model call.

        Raises:
            StorageError: there is no such call, or what it refers to is missing or damaged.
        """
        try:
            if self._is_empty:
                raise LookupError("it has no requests")
            return self._file.read(lambda connection: _request(connection, number))
        except (LookupError, ValueError, TypeError) as error:
            raise StorageError(f"Request {number} in {self._name} is damaged: {error}") from error

    def _rows(self, query: str, key: SessionKey | None, invocations: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        if self._is_empty:
            return []
        where, values = (f" WHERE {OF_SESSION}", tuple(key)) if key is not None else ("", ())
        if key is not None and invocations:
            where += f" AND invocation_id IN ({', '.join('?' * len(invocations))})"
            values += tuple(invocations)
        return self._bounded(f"{query}{where} ORDER BY id", values)

    def _bounded(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._file.read(lambda connection: _bounded_rows(connection, query, values))
        except TooMuchError as error:
            raise StorageError(f"{self._name} {error}, so it is not read.") from None


def _bounded_rows(connection: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    budget, rows = Budget(), list[tuple[Any, ...]]()
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_FIELD)
    for row in connection.execute(query, values):
        budget.take(_ROW + sum(_WIDEST * len(value) for value in row if isinstance(value, (str, bytes))))
        rows.append(row)
    return rows


def _format(connection: sqlite3.Connection) -> int | str | None:
    """Return the recording's format; `_UNFINISHED` if the program that created it was killed meanwhile; None if it is something else."""
    names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "inspector_recording" not in names:
        return None if names else _UNFINISHED
    row = connection.execute("SELECT value FROM inspector_recording WHERE key = 'format'").fetchone()
    if row is None:
        return _UNFINISHED
    text = str(row[0])
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _model_call(row: tuple[Any, ...], budget: Budget) -> RecordedModelCall:
    number, app, user, session, invocation, branch, agent, model, event_id, started, first, ended, chunks, error, answered = row
    times = _json(chunks, budget)
    known = _json(answered, budget)
    return RecordedModelCall(
        number,
        SessionKey(as_name(app), as_name(user), as_name(session)),
        str(invocation),
        _text(branch),
        str(agent),
        _text(model),
        _text(event_id),
        _seconds(started) or 0.0,
        _seconds(first),
        _seconds(ended),
        tuple(seconds for value in times if (seconds := _seconds(value)) is not None) if isinstance(times, list) else (),
        _text(error),
        known if isinstance(known, dict) else {},
    )


def _tool_call(row: tuple[Any, ...]) -> RecordedToolCall:
    app, user, session, invocation, branch, agent, tool, call_id, started, ended, error = row
    key = SessionKey(as_name(app), as_name(user), as_name(session))
    return RecordedToolCall(
        key, str(invocation), _text(branch), str(agent), str(tool), _text(call_id), _seconds(started) or 0.0, _seconds(ended), _text(error)
    )


def _inner_event(row: tuple[Any, ...], budget: Budget) -> RecordedInnerEvent:
    app, user, session, invocation, calls, event_id, rest, content = row
    path = _json(calls, budget)
    call_ids = tuple(_text(call) for call in path) if isinstance(path, list) else ()
    found = RecordedInnerEvent(SessionKey(as_name(app), as_name(user), as_name(session)), str(invocation), call_ids, None)
    if event_id is None:
        return found
    value = _json(rest, budget)
    if isinstance(value, dict) and content is not None:
        value["content"] = _json(content, budget)
    event = decode.parse_event(json.dumps(value))
    event.id = str(event_id)
    return replace(found, event=event)


def _request(connection: sqlite3.Connection, number: int) -> RecordedModelRequest:
    query = "SELECT base, kept, contents, config, answer, model FROM inspector_model_calls WHERE id = ?"
    row = connection.execute(query, (number,)).fetchone()
    if row is None:
        raise LookupError("there is no such request")
    base, kept, contents, config, answer, model = row
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    parts_of = _Parts(connection)
    asked, texts = _config(parts_of, config) if config is not None else ({}, {})
    parts = [*_kept(connection, base, _count(kept), before=number), *_numbers(contents)]
    return RecordedModelRequest(
        _text(model),
        asked,
        tuple(parts_of.read(part) for part in parts),
        parts_of.read(answer) if answer is not None else None,
        texts,
    )


class _Parts:
    """The parts of one request. A part may be in it many times: the budget is for all of them.

    Args:
        connection: reads the recording.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._budget = Budget()

    def read(self, number: Any) -> Any:
        """Return a part's value.

        Raises:
            LookupError: there is none.
            ValueError: it is damaged, or the request is too large.
        """
        row = self._connection.execute("SELECT json FROM inspector_parts WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise LookupError(f"part {number} is missing")
        return self._budget.parse(str(row[0]).encode("utf-8", "backslashreplace"))


def _config(parts: _Parts, number: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a call's configuration, and what its agent's author wrote. In format 2, both are made of parts."""
    stored = _dict(parts.read(number))
    if "inspector_format" not in stored:
        return stored, {}
    config = _dict(parts.read(stored["settings"]))
    if stored["instruction"] is not None:
        config["system_instruction"] = "\n\n".join(str(parts.read(part)) for part in stored["instruction"])
    if stored["tools"]:
        config["tools"] = [_tool(parts, tool) for tool in stored["tools"]]
    return config, _dict(parts.read(stored["agent"]))


def _tool(parts: _Parts, tool: Any) -> Any:
    if isinstance(tool, list):
        return {"function_declarations": [parts.read(part) for part in tool]}
    return parts.read(tool)


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("its configuration is no object")
    return value


def _kept(connection: sqlite3.Connection, base: Any, count: int, *, before: int) -> list[int]:
    """Return the first contents of an earlier request, which has kept some of a still earlier one.

    Args:
        connection: reads the recording.
        base: the earlier request's number; None if nothing is kept.
        count: how many of its contents are wanted.
        before: the number of the request that continues it. Later numbers could lead back here.
    """
    pieces: list[list[int]] = []
    while count:
        if not (isinstance(base, int) and 0 < base < before):
            raise ValueError("it continues no earlier request")
        row = connection.execute("SELECT base, kept, contents FROM inspector_model_calls WHERE id = ?", (base,)).fetchone()
        if row is None:
            raise LookupError(f"request {base}, which it continues, is missing")
        before, (base, kept, contents) = base, row
        own, first = _numbers(contents), min(_count(kept), count)
        if len(own) < count - first:
            raise ValueError("it continues more than there is")
        pieces.append(own[: count - first])
        count = first
    return [number for piece in reversed(pieces) for number in piece]


def _numbers(text: Any) -> list[int]:
    found = parse(str(text).encode("utf-8", "backslashreplace"))
    if not isinstance(found, list) or not all(isinstance(number, int) for number in found):
        raise ValueError("its list of contents is no list of numbers")
    return found


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("a number of contents is no number")
    return value


def _json(text: Any, budget: Budget) -> Any:
    try:
        return budget.parse(str(text).encode("utf-8", "backslashreplace")) if text is not None else None
    except ValueError:
        return None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None
