"""Writing to our record of a database's commits, the table `table_names.COMMITS`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from runtime.history.steps import UNKNOWN_DELTA
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import State, scope_of
from runtime.sessions.temp_trace import without_values
from runtime.storage.layouts.column_values import dump_state, load_json_object, micros_of, read_state, to_micros
from runtime.storage.layouts.statements import Rows

_RECHECKED = 10_000  # commits that are checked again for values of `temp:` keys at each first write
# Runs a statement of `statements.SQL` in the current transaction: its name, then its parameters as keywords or in one dict.
Execute = Callable[..., Rows]


def record_snapshot(run: Execute, app_name: str, user_id: str, state: dict[str, Any], writer: str) -> None:
    """Record the complete state of an app or a user at this point of the commit order.

    Args:
        run: runs statements in the current transaction.
        app_name, user_id: the state's owner; an empty `user_id` means the app.
        state: keys without prefix.
        writer: this process.
    """
    prefix = State.USER_PREFIX if user_id else State.APP_PREFIX
    shared = shared_json({prefix + key: value for key, value in state.items()}) or "{}"
    values = {"app_name": app_name, "user_id": user_id, "at": to_micros(time.time()), "writer": writer, "shared": shared}
    run("insert_commit", **values, session_id="", event_id=None, baseline=None, temp=None)


def record_all_shared(run: Execute, writer: str) -> None:
    """Record the current state of every app and every user."""
    for app_name, state in run("all_app_states").fetchall():
        record_snapshot(run, app_name, "", read_state(state), writer)
    for app_name, user_id, state in run("all_user_states").fetchall():
        record_snapshot(run, app_name, user_id, read_state(state), writer)


def record_events_of_others(run: Execute, key: SessionKey | None = None) -> None:
    """Record, in order, the events that other programs appended after the last recorded event.

    New rows get the highest number, so the search runs from the end and stops at the first recorded row. If a row's time column is
    earlier than the event's own timestamp, the columns are no longer marked as UTC.

    Args:
        run: runs statements in the current transaction.
        key: restrict the search to this session. Used on a server, where other processes may be writing to the other sessions.
    """
    rows = []
    newest_first = run("newest_of_session", **key._asdict()) if key else run("newest_events")
    for *row, recorded in newest_first:
        if recorded:
            break
        rows.append(row)
    newest_first.close()
    behind = False
    for app_name, user_id, session_id, event_id, column, event_data in reversed(rows):
        names = {"app_name": app_name, "user_id": user_id, "session_id": session_id, "event_id": event_id}
        stored, at = _json_of(event_data), micros_of(column)
        behind = behind or at + 1 < _time_in(stored)
        run("insert_commit", **names, at=at, writer=None, baseline=None, shared=shared_json(_delta_in(stored)), temp=None)
    if behind:
        run("forget_times")


def forget_temp_values(run: Execute) -> bool:
    """Replace the values of `temp:` keys that earlier versions stored by their types; return whether there were any."""
    row = run("temp_checked").fetchone()
    checked = int(row[0]) if row and str(row[0]).isdecimal() else 0
    found = [(seq, temp, without_values(temp)) for seq, temp in run("temp_after", seq=checked).fetchall()]
    replaced = [(seq, trace) for seq, temp, trace in found if trace != temp]
    for seq, trace in replaced:
        run("set_temp", seq=seq, temp=trace)
    newest = run("newest_commit").fetchone()[0] or 0
    if replaced or newest - checked > _RECHECKED:
        run("set_temp_checked", value=str(newest))
    return bool(replaced)


def shared_json(delta: dict[str, Any]) -> str | None:
    """Return the `user:` and `app:` part of a delta as JSON, or None if it is empty."""
    shared = {key: value for key, value in delta.items() if scope_of(key) in ("user", "app")}
    return dump_state(shared, ascii_only=True) if shared else None


def delta_of(event_data: Any) -> Mapping[str, Any]:
    """Return the state delta in an event's stored JSON; empty if it is missing, `UNKNOWN_DELTA` if it cannot be read."""
    try:
        actions = load_json_object(event_data).get("actions")
    except ValueError:
        return UNKNOWN_DELTA
    if not isinstance(actions, dict):
        return {} if actions is None else UNKNOWN_DELTA
    delta = actions.get("state_delta", actions.get("stateDelta"))
    return delta if isinstance(delta, dict) else {} if delta is None else UNKNOWN_DELTA


def _json_of(event_data: Any) -> dict[str, Any]:
    try:
        return load_json_object(event_data)
    except ValueError:
        return {}


def _delta_in(stored: dict[str, Any]) -> dict[str, Any]:
    actions = stored.get("actions")
    delta = actions.get("state_delta", actions.get("stateDelta")) if isinstance(actions, dict) else None
    return delta if isinstance(delta, dict) else {}


def _time_in(stored: dict[str, Any]) -> float:
    """Return an event's own time in microseconds; infinity if it cannot be read."""
    value = stored.get("timestamp")
    return to_micros(value) if isinstance(value, (int, float)) and isfinite(value) else inf
